#include "kernbench/platform/cli/stack_overflow.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "kernbench/systemc_models/pe/kernel_stack.h"

namespace kernbench::cli {

namespace {

alignas(16) char handler_stack[64 * 1024];

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

void on_fault(int number, siginfo_t* info, void*) {
  if (const KernelStack* stack = KernelStack::overflowed_at(info->si_addr)) {
    say("kernbench: ");
    say(stack->pe());
    say(": the kernel needs more than its stack of ");
    say(stack->bytes() / 1024);
    say(" KiB: deep recursion, or large arrays that belong on the heap\n");
    _exit(1);
  }
  signal(number, SIG_DFL);  // the faulting instruction is tried again, and the system has its say
}

}  // namespace

void report_stack_overflows() {
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  struct sigaction action {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaltstack(&stack, nullptr) == 0) sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace kernbench::cli
