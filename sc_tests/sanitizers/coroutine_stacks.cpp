// SPDX-License-Identifier: Apache-2.0
// SystemC 2.3.4 tells AddressSanitizer when it switches between the stacks of threads. It omits three facts: sc_main's
// stack has bounds too, a stack may be resumed, and a thread may end. This file is linked into a program and adds them,
// so that ASan knows the stack that an exception unwinds and the frames that a function has left. Objects that only the
// stack of a waiting thread refers to are not leaks.
#include <dlfcn.h>
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

constexpr uintptr_t kPage = 4096;

uintptr_t number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

struct Stack {
  const void* bottom = nullptr;
  size_t bytes = 0;
  void* frames = nullptr;  ///< ASan's own memory for the stack's frames, while the stack is inactive
};

using Start = void (*)(void**, const void*, size_t);
using Finish = void (*)(void*, const void**, size_t*);

template <class Function>
Function of_asan(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

Stack first_stack() {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* bottom = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  return {bottom, bytes, nullptr};
}

uintptr_t begin_of_mapping(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  uintptr_t begin = 0, end = 0;
  char dash = 0;
  for (std::string line; end <= address && std::getline(maps, line);)
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
  return begin;
}

/// Like FakeStack::RequiredSize of GCC 12's ASan: frames of 11 sizes, and a flag for each.
size_t bytes_of_frames(size_t stack_bytes) {
  size_t log = 16;
  while (log < 20 && size_t{1} << log < stack_bytes) ++log;
  return 4096 + (size_t{1} << (log - 5)) + 11 * (size_t{1} << log);
}

struct Stacks {
  Stack first = first_stack();
  std::map<uintptr_t, Stack> others;  ///< by their upper ends
  Stack* current = &first;
  Stack* next = nullptr;
  Start start = of_asan<Start>("__sanitizer_start_switch_fiber");
  Finish finish = of_asan<Finish>("__sanitizer_finish_switch_fiber");

  /// The stack that contains the address. A thread on the former stack of an ended one was not announced.
  Stack& at(uintptr_t address) {
    const auto it = others.upper_bound(address);
    if (it != others.end() && address >= number(it->second.bottom)) return it->second;
    if (address - number(first.bottom) < first.bytes) return first;
    const uintptr_t top = (address + kPage - 1) / kPage * kPage, bottom = begin_of_mapping(address);
    return thread(reinterpret_cast<const void*>(bottom), top - bottom);
  }

  /// The stack of a thread, which SystemC may have placed on that of an ended one.
  Stack& thread(const void* bottom, size_t bytes) {
    Stack& s = others[number(bottom) + bytes];
    if (s.bytes == bytes) return s;
    if (s.bytes > 0) {
      __lsan_unregister_root_region(s.bottom, s.bytes);
    } else {
      __asan_unpoison_memory_region(bottom, bytes);  // poisoned by the earlier contents
    }
    s.bottom = bottom;
    s.bytes = bytes;
    __lsan_register_root_region(bottom, bytes);
    return s;
  }

  /// LeakSanitizer itself scans the frames of an active stack.
  void leave(Stack& s) {
    start(&s.frames, next->bottom, next->bytes);
    if (s.frames) __lsan_register_root_region(s.frames, bytes_of_frames(s.bytes));
  }
  void enter(Stack& s) {
    if (s.frames) __lsan_unregister_root_region(s.frames, bytes_of_frames(s.bytes));
    current = &s;
    finish(s.frames, nullptr, nullptr);
    s.frames = nullptr;
  }
};

Stacks& stacks() {
  static Stacks all;
  return all;
}

}  // namespace

extern "C" {

// Size 0: sc_main's stack.
void __sanitizer_start_switch_fiber(void**, const void* bottom, size_t bytes) {
  Stacks& s = stacks();
  s.next = bytes == 0 ? &s.first : &s.thread(bottom, bytes);
  s.leave(*s.current);
}

void __sanitizer_finish_switch_fiber(void*, const void**, size_t*) {
  Stacks& s = stacks();
  s.enter(*s.next);
}

// SystemC's own call, which is made on the resumed stack, has no effect.
void* sc_cor_qt_aborthelp(void*, void*, void*) {
  Stacks& s = stacks();
  const Stack ended = *s.current;
  s.next = &s.at(number(__builtin_frame_address(0)));
  s.start(nullptr, s.next->bottom, s.next->bytes);
  s.enter(*s.next);
  __lsan_unregister_root_region(ended.bottom, ended.bytes);
  s.others.erase(number(ended.bottom) + ended.bytes);
  return nullptr;
}

}  // extern "C"
