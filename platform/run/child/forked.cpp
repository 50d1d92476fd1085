// SPDX-License-Identifier: Apache-2.0
// Runs work in children and returns its result or exception.
#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <vector>

#include "kernbench/kernel_api/params.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/run/child/child_pool.h"

namespace kernbench {
namespace {

constexpr int kStandardStreams = 3;

enum ForkedStatus : int { kResult = 0, kFailed = 1, kBadInput = 2, kNoMemory = 3 };

/// Joins lines by newlines; newlines within quoted inputs are escaped.
std::string escaped_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& l : lines) text += (text.empty() ? "" : "\n") + escaped(l);
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  TextInput in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Runs in the child: the message goes to stdout, its kind is the exit status.
int answer(const std::function<std::string(size_t)>& work, size_t index) {
  const auto told = [](ForkedStatus s, const std::string& text) {
    std::cout << text;
    return s;
  };
  try {
    try {
      return told(kResult, work(index));
    } catch (const InputError& e) {
      return told(kBadInput, escaped_lines(e.faults()));
    } catch (const RunError& e) {
      return told(kFailed, escaped_lines(e.lines()));
    } catch (const BadParam& e) {
      return told(kBadInput, e.what());
    } catch (const NpyError& e) {
      return told(kBadInput, e.what());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      return told(kFailed, e.what());
    }
  } catch (const std::bad_alloc&) {  // also while formatting another error
    return kNoMemory;
  }
}

}  // namespace

void run_forked(size_t count, size_t jobs, const std::function<std::string(size_t)>& work,
                const std::function<void(size_t, const std::string&)>& done) {
  run_in_order(
      count, jobs, [&](size_t i) { return answer(work, i); },
      [&](const ChildPool::Ended& e) {
        std::cerr << e.err << std::flush;
        if (e.status > 128) throw RunError("a run was ended by signal " + std::to_string(e.status - 128));
        if (e.status == kNoMemory) throw std::bad_alloc();
        if (e.status == kBadInput) throw InputError(split(e.out));
        if (e.status == kFailed && !e.out.empty()) throw RunError(split(e.out));
        if (e.status != kResult || e.out.empty()) throw RunError("a run ended without a result");
        done(e.id, e.out);
      });
}

void silence_open_files() {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(entry.path().filename().c_str());
    struct stat what {};
    if (fd < kStandardStreams || fd == nowhere || fstat(fd, &what) != 0 || !S_ISREG(what.st_mode)) continue;
    dup2(nowhere, fd);
  }
}

}  // namespace kernbench
