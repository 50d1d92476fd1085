// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/entry/signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <systemc>

#include "kernbench/platform/elaborate/plugins.h"
#include "kernbench/platform/entry/source_line.h"
#include "kernbench/systemc_models/core/timeline.h"
#include "kernbench/systemc_models/pe/running_kernel.h"

namespace kernbench {

namespace {

constexpr unsigned kPatienceSeconds = 1;  ///< time for a simulation to stop

alignas(16) char handler_stack[256 * 1024];
pthread_t first_thread;
Timeline* watched = nullptr;
volatile sig_atomic_t asked = 0;   ///< the signal that stopped the timeline
volatile sig_atomic_t faults = 0;  ///< entries of the fault handler; a second one is its own fault

// All functions here are safe in a signal handler.

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(1);
}

void say(size_t v) {
  char digits[24];
  char* begin = digits + sizeof digits;
  *--begin = '\0';
  do {
    *--begin = static_cast<char>('0' + v % 10);
    v /= 10;
  } while (v > 0);
  say(begin);
}

void say_place(const char* file, int line) {
  const char* slash = std::strrchr(file, '/');
  say(slash ? slash + 1 : file);
  say(":");
  say(static_cast<size_t>(line));
}

void say_name(const RunningKernel& k) {
  say(k.who());
  if (!k.kernel()) return;
  say(": ");
  say(*k.kernel() ? "kernel " : "the kernel");
  say(k.kernel());
}

/// ", at saxpy.cpp:12" by debug information, else the last call: ", behind saxpy.cpp:10".
void say_line(const RunningKernel& k, bool by_debug_information) {
  const auto found = [](const char* file, int line) {
    say(", at ");
    say_place(file, line);
  };
  if (by_debug_information && find_source_line(found)) return;
  if (k.last_call().line == 0) return;
  say(", behind ");
  say_place(k.last_call().file, k.last_call().line);
}

void say_plugin() {
  say("--plugin ");
  say(plugin_at_work);
  say(", while it is loaded or unloaded,");
}

const void* stack_pointer(const void* context) {
  const mcontext_t& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(registers.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(registers.sp);
#else
  return nullptr;  // not a kernel: faults are left to the system
#endif
}

void on_fault(int number, siginfo_t* info, void* context) {
  if (faults++ > 0) {  // the search for the line crashed
    say("\n");
    _exit(1);
  }
  if (number == SIGSEGV) {
    if (const RunningKernel* k = RunningKernel::overflowed_at(info->si_addr)) {
      say("kernbench: ");
      say_name(*k);
      say(" needs more than its stack of ");
      say(k->stack_bytes() / 1024);
      say(" KiB: deep recursion, or large arrays that belong on the heap");
      say_line(*k, true);
      say("\n");
      _exit(1);
    }
  }
  const RunningKernel* k = RunningKernel::on_stack(stack_pointer(context));
  const char* thread = thread_of_a_kernel ? thread_of_a_kernel() : nullptr;
  if (k || thread || plugin_at_work) {
    say("kernbench: ");
    k ? say_name(*k) : thread ? say(thread) : say_plugin();
    say(" ends by SIG");
    say(sigabbrev_np(number));
    if (k) say_line(*k, true);
    say("\n");
    plugin_at_work = nullptr;
    _exit(1);
  }
  faults = 0;
  signal(number, SIG_DFL);  // the faulting instruction runs again with the system's handler
  if (number == SIGABRT) raise(number);
}

[[noreturn]] void end_now(int number, const void* context) {
  say("kernbench: ");
  if (number == SIGALRM) {
    say("--max-wall: not done");
  } else {
    say("stopped by SIG");
    say(sigabbrev_np(number));
  }
  if (watched && sc_core::sc_is_running()) {
    say(" at ");
    say(static_cast<size_t>(watched->now_ns()));
    say(" ns of simulated time");
  }
  if (const RunningKernel* k = RunningKernel::on_stack(stack_pointer(context))) {
    say("\n  ");
    say_name(*k);
    say(" runs and does not return");
    say_line(*k, true);
  }
  say("\n");
  plugin_at_work = nullptr;  // the exit is not the plug-in's fault
  _exit(number == SIGALRM ? 1 : 128 + number);
}

void on_stop(int number, siginfo_t*, void* context) {
  if (!pthread_equal(pthread_self(), first_thread)) {
    pthread_kill(first_thread, number);
    return;
  }
  if (asked || !watched || !sc_core::sc_is_running()) end_now(asked ? asked : number, context);
  asked = number;
  watched->stop(number);
  alarm(kPatienceSeconds);
}

void handle(int number, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

std::string (*thread_left_by_a_kernel)() = nullptr;
const char* (*thread_of_a_kernel)() = nullptr;

void say_end_of_kernel(const RunningKernel* k, const char* does, int argument) {
  say("kernbench: ");
  if (k) {
    say_name(*k);
  } else if (plugin_at_work) {
    say_plugin();
  } else {
    say("a plug-in or one of its threads");
  }
  say(" ");
  say(does);
  say("(");
  say(argument < 0 ? "-" : "");
  say(static_cast<size_t>(argument < 0 ? -static_cast<long>(argument) : argument));
  say(")");
  if (k) say_line(*k, true);
  say("\n");
}

void install_signal_handlers() {
  first_thread = pthread_self();
  prepare_source_lines();
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  if (sigaltstack(&stack, nullptr) != 0) return;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) handle(number, &on_fault, SA_NODEFER);
  signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit becomes a reported write error
  handle(SIGALRM, &on_stop, SA_RESTART);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) handle(number, &on_stop, SA_RESTART);
  }
}

StopsOnSignals::StopsOnSignals(Timeline& timeline) {
  watched = &timeline;
}

StopsOnSignals::~StopsOnSignals() {
  watched = nullptr;
}

void limit_wall_time(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace kernbench
