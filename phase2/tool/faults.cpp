// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/tool/faults.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::cli {

void tell(const std::string& line) {
  std::cerr << escaped(line) + "\n";
}

namespace {

std::terminate_handler other_terminate = nullptr;

/// Handles a lack of memory where it cannot be caught: before main(), in destructors, in threads of libraries.
[[noreturn]] void terminate() {
  try {
    if (const auto e = std::current_exception()) std::rethrow_exception(e);
  } catch (const std::bad_alloc&) {
    say_out_of_memory(program_invocation_short_name);
    syscall(SYS_exit_group, 1);  // _exit() in a kernel's thread would be reported as the kernel's fault
  } catch (...) {
  }
  other_terminate();
  std::abort();
}

/// Installed before all other objects of the program, because these need memory too.
struct TellsOfTerminate {
  TellsOfTerminate() { other_terminate = std::set_terminate(terminate); }
};
__attribute__((init_priority(101))) const TellsOfTerminate tells_of_terminate;

}  // namespace

void say_out_of_memory(const char* program) {
  char line[256];
  const int n = std::snprintf(line, sizeof line, "%s: %s\n", program, kOutOfMemory);
  if (::write(STDERR_FILENO, line, static_cast<size_t>(n)) < 0) return;  // there is no reader
}

namespace {

void tell_lines(const std::string& program, const RunError& e) {
  std::string before = program + ": ";
  for (const std::string& line : e.lines()) {
    tell(before + line);
    before.clear();
  }
}

/// If the caller closed a descriptor, the next opened file would get it.
void open_standard_files() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return;  // takes the lowest free descriptor
  }
}

/// Reports an exception of a command.
int told(const std::string& program, const std::function<int()>& command) {
  try {
    return command();
  } catch (const InputError& e) {
    for (const std::string& fault : e.faults()) tell(fault);
    return 2;
  } catch (const Stopped& e) {
    tell_lines(program, e);
    return e.status();
  } catch (const RunError& e) {
    tell_lines(program, e);
  } catch (const OutOfMemory& e) {
    tell(program + ": " + e.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    tell(program + ": " + e.what());
  }
  return 1;
}

}  // namespace

int run_command(const std::string& program, const std::function<int()>& command) {
  open_standard_files();
  try {
    return told(program, command);
  } catch (const std::bad_alloc&) {  // also if reporting another error failed
    say_out_of_memory(program.c_str());
    return 1;
  }
}

}  // namespace kernbench::cli
