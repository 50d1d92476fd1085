#include "kernbench/platform/tools/forked.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <iostream>
#include <new>
#include <string_view>
#include <vector>

#include "kernbench/kernel_api/params.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/tools/child_process.h"

namespace kernbench {
namespace {

enum class Kind : char { result = 'r', bad_input = 'i', failed = 'f', no_memory = 'm' };

/// One after the other; what they quote of inputs has no end of line.
std::string joined(const std::vector<std::string>& lines) {
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

std::string answer(const std::function<std::string(size_t)>& work, size_t index) {
  const auto told = [](Kind k, const std::string& text) { return static_cast<char>(k) + text; };
  try {
    return told(Kind::result, work(index));
  } catch (const InputError& e) {
    return told(Kind::bad_input, joined(e.faults()));
  } catch (const RunError& e) {
    return told(Kind::failed, joined(e.lines()));
  } catch (const BadParam& e) {
    return told(Kind::bad_input, e.what());
  } catch (const NpyError& e) {
    return told(Kind::bad_input, e.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return told(Kind::failed, e.what());
  }
}

/// A copy at work, and the pipe that its answer comes by.
struct Copy {
  pid_t pid = 0;
  int pipe = -1;
};

[[noreturn]] void answer_and_end(int pipe, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = write(pipe, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) break;
    if (n > 0) at += static_cast<size_t>(n);
  }
  _exit(0);  // nothing of the original's is to be taken apart
}

Copy start(const std::function<std::string(size_t)>& work, size_t index) {
  int ends[2];
  if (pipe(ends) != 0) throw RunError(std::string("pipe: ") + std::strerror(errno));
  std::cout.flush();
  std::cerr.flush();
  pid_t pid = 0;
  try {
    pid = fork_child();
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  if (pid == 0) {
    close(ends[0]);
    try {
      answer_and_end(ends[1], answer(work, index));
    } catch (const std::bad_alloc&) {  // also of putting another fault into words
      constexpr char kNoMemory = static_cast<char>(Kind::no_memory);
      answer_and_end(ends[1], {&kNoMemory, 1});
    }
  }
  close(ends[1]);
  return {pid, ends[0]};
}

std::string read_to_end(int pipe) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t n = read(pipe, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  close(pipe);
  return text;
}

std::string result_of(const Copy& copy) {
  const std::string text = read_to_end(copy.pipe);
  const int status = wait_for_child(copy.pid);
  if (WIFSIGNALED(status)) throw RunError("a run was ended by signal " + std::to_string(WTERMSIG(status)));
  if (text.empty()) throw RunError("a run ended without a result");
  if (text[0] == static_cast<char>(Kind::no_memory)) throw std::bad_alloc();
  if (text[0] == static_cast<char>(Kind::bad_input)) throw InputError(split(text.substr(1)));
  if (text[0] == static_cast<char>(Kind::failed)) throw RunError(split(text.substr(1)));
  return text.substr(1);
}

}  // namespace

void run_forked(size_t count, size_t jobs, const std::function<std::string(size_t)>& work,
                const std::function<void(size_t, const std::string&)>& done) {
  const ChildStatuses told;
  std::deque<Copy> copies;
  size_t next = 0;
  try {
    for (size_t index = 0; index < count; ++index) {
      for (; next < count && copies.size() < jobs; ++next) copies.push_back(start(work, next));
      const Copy oldest = copies.front();
      copies.pop_front();
      done(index, result_of(oldest));
    }
  } catch (...) {
    for (const Copy& c : copies) {
      close(c.pipe);
      kill(c.pid, SIGKILL);
      wait_for_child(c.pid);
    }
    throw;
  }
}

}  // namespace kernbench
