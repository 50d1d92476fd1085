// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/entry/source_line.h"

#ifdef KERNBENCH_HAS_LIBBACKTRACE

#include <backtrace.h>

#include <cstring>
#include <initializer_list>

namespace kernbench {
namespace {

backtrace_state* backtraces = nullptr;
using Found = void (*)(const char* file, int line);

void ignore(void*, const char*, int) {}

/// Sources of the tree have relative names, such as "build/debug/kernel_api/core.cpp" (CMakeLists.txt); headers are in
/// …/kernbench/. This project's kernels count as user code.
bool is_kernels_source(const char* file) {
  if (std::strstr(file, "/kernels/") || std::strstr(file, "/programs/")) return true;
  for (const char* own : {"/phase2/", "/kernel_api/", "/systemc_models/", "/platform/"}) {
    const char* at = std::strstr(file, own);
    constexpr const char* kFolder = "kernbench";
    const size_t length = std::strlen(kFolder);
    if (std::strncmp(file, own + 1, std::strlen(own + 1)) == 0) return false;
    if (at && file[0] != '/') return false;
    if (at && static_cast<size_t>(at - file) >= length && std::strncmp(at - length, kFolder, length) == 0) return false;
  }
  return std::strncmp(file, "/usr/", 5) != 0 && file[0] != '.';  // "./nptl/pthread_kill.c" belongs to the C library
}

int take(void* found, uintptr_t, const char* file, int line, const char*) {
  if (!file || line == 0 || !is_kernels_source(file)) return 0;
  reinterpret_cast<Found>(found)(file, line);
  return 1;
}

}  // namespace

void prepare_source_lines() {
  backtraces = backtrace_create_state(nullptr, 0, &ignore, nullptr);
}

bool find_source_line(Found found) {
  return backtraces && backtrace_full(backtraces, 1, &take, &ignore, reinterpret_cast<void*>(found)) == 1;
}

}  // namespace kernbench

#else

namespace kernbench {

void prepare_source_lines() {}

bool find_source_line(void (*)(const char*, int)) {
  return false;
}

}  // namespace kernbench

#endif
