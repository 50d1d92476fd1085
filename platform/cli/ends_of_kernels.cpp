// SPDX-License-Identifier: Apache-2.0
// Kernels run inside this process. A kernel that ends it, or leaves a thread in it, must not look like a finished run.
// Only the command line checks this; a user's program is not restricted. Direct system calls are not detected. A
// plug-in's own threads, started when it is loaded, are legal.
//
// If a kernel calls exit, quick_exit, _exit, _Exit, fork, vfork or exec…, or raise or kill for this process, the
// program ends with exit status 1 and a line with the PE, the kernel and the source line (abort:
// platform/entry/signals.h). The same holds for _exit in a plug-in during loading or unloading, and for any other exit
// or quick_exit, because this program returns from sc_main.
#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <memory>
#include <mutex>
#include <vector>

#include "kernbench/platform/elaborate/plugins.h"
#include "kernbench/platform/entry/signals.h"
#include "kernbench/systemc_models/pe/running_kernel.h"

namespace kernbench::cli {
namespace {

struct KernelThread {
  std::string begun_by;  ///< "pe0: a thread that kernel k began"
  std::string behind;    ///< ", behind k.cpp:3", or nothing
  void* (*function)(void*);
  void* argument;
  std::atomic<bool> runs{true};
};

std::mutex guard;
std::vector<std::shared_ptr<KernelThread>> begun;
thread_local const char* mine = nullptr;  ///< of a thread that a kernel began: its begun_by

struct EndsThread {
  KernelThread& thread;
  ~EndsThread() { thread.runs = false; }  // pthread_exit unwinds the stack too
};

void* run_thread(void* p) {
  const std::unique_ptr<std::shared_ptr<KernelThread>> thread(static_cast<std::shared_ptr<KernelThread>*>(p));
  const EndsThread ends{**thread};
  mine = (*thread)->begun_by.c_str();
  return (*thread)->function((*thread)->argument);
}

[[noreturn]] void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

[[noreturn]] void ended_by(const char* does, int argument) {
  say_end_of_kernel(RunningKernel::on_stack(__builtin_frame_address(0)), does, argument);
  leave(1);
}

bool in_kernel() {
  return RunningKernel::on_stack(__builtin_frame_address(0)) != nullptr;
}

/// Calls of libraries and of this program itself in a finished child.
[[noreturn]] void ends_at_once(const char* does, int status) {
  if (plugin_at_work || in_kernel()) ended_by(does, status);
  leave(status);
}

/// As one line; empty: none.
std::string left_thread() {
  const std::lock_guard<std::mutex> lock(guard);
  for (const auto& t : begun) {
    if (t->runs) return t->begun_by + " still runs" + t->behind;
  }
  return "";
}

const char* this_thread() {
  return mine;
}

[[maybe_unused]] const bool looks = (thread_left_by_a_kernel = left_thread, thread_of_a_kernel = this_thread, true);

/// The arguments of execl and execlp.
std::vector<char*> words_of(const char* first, va_list rest) {
  std::vector<char*> words{const_cast<char*>(first)};
  while (words.back()) words.push_back(va_arg(rest, char*));
  return words;
}

}  // namespace
}  // namespace kernbench::cli

// Symbols of the program precede those of the C library, also for its shared objects. (The C library declares them
// noreturn; Clang only considers the first declaration.)
extern "C" {

void exit(int status) noexcept {
  kernbench::cli::ended_by("ends the program by exit", status);
}
void quick_exit(int status) noexcept {
  kernbench::cli::ended_by("ends the program by quick_exit", status);
}
void _exit(int status) {
  kernbench::cli::ends_at_once("ends the program by _exit", status);
}
void _Exit(int status) noexcept {
  kernbench::cli::ends_at_once("ends the program by _Exit", status);
}

int raise(int number) noexcept {
  using namespace kernbench::cli;
  if (number != 0 && in_kernel()) ended_by("ends the program by raise", number);
  return static_cast<int>(syscall(SYS_tgkill, getpid(), gettid(), number));
}
int kill(pid_t process, int number) noexcept {
  using namespace kernbench::cli;
  const bool own = process == getpid() || process == 0 || process == -1;
  if (own && number != 0 && in_kernel()) ended_by("ends the program by kill", number);
  return static_cast<int>(syscall(SYS_kill, process, number));
}
/// The child would continue the run.
pid_t fork() noexcept {
  static const auto copy = reinterpret_cast<decltype(&fork)>(dlsym(RTLD_NEXT, "fork"));
  if (kernbench::cli::in_kernel()) kernbench::cli::ended_by("copies the program by fork", 0);
  return copy();
}
pid_t vfork() noexcept {
  if (kernbench::cli::in_kernel()) kernbench::cli::ended_by("copies the program by vfork", 0);
  return fork();  // no function of this name can return twice
}

#define KB_EXEC(name, parameters, arguments)                                                        \
  int name parameters noexcept {                                                                    \
    static const auto replace = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name));         \
    if (kernbench::cli::in_kernel()) kernbench::cli::ended_by("replaces the program by " #name, 0); \
    return replace arguments;                                                                       \
  }
KB_EXEC(execve, (const char* file, char* const words[], char* const environment[]), (file, words, environment))
KB_EXEC(execv, (const char* file, char* const words[]), (file, words))
KB_EXEC(execvp, (const char* file, char* const words[]), (file, words))
#undef KB_EXEC
#define KB_EXEC(name, of_list)                                              \
  int name(const char* file, const char* first, ...) noexcept {             \
    va_list rest;                                                           \
    va_start(rest, first);                                                  \
    const std::vector<char*> words = kernbench::cli::words_of(first, rest); \
    va_end(rest);                                                           \
    return of_list(file, words.data());                                     \
  }
KB_EXEC(execl, execv)
KB_EXEC(execlp, execvp)
#undef KB_EXEC

int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) noexcept {
  using namespace kernbench;
  using cli::KernelThread;
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  const RunningKernel* kernel = RunningKernel::on_stack(__builtin_frame_address(0));
  if (!kernel) return create(id, attributes, function, argument);
  auto thread = std::make_shared<KernelThread>();
  thread->function = function;
  thread->argument = argument;
  thread->begun_by =
      fmt::format("{}: a thread that kernel {} began", kernel->who(), kernel->kernel() ? kernel->kernel() : "");
  if (const SourceLine& at = kernel->last_call(); at.line > 0)
    thread->behind = fmt::format(", behind {}:{}", at.file, at.line);
  auto handed_on = std::make_unique<std::shared_ptr<KernelThread>>(thread);
  const int status = create(id, attributes, cli::run_thread, handed_on.get());
  if (status != 0) return status;
  handed_on.release();
  const std::lock_guard<std::mutex> lock(cli::guard);
  cli::begun.push_back(std::move(thread));
  return 0;
}

}  // extern "C"
