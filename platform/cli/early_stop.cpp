// SPDX-License-Identifier: Apache-2.0
// Handles SIGINT and SIGTERM until sc_main has installed its handlers (platform/entry/signals.h).
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

namespace {

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(1);
}

void on_early_stop(int number) {
  say("kernbench: stopped by SIG");
  say(sigabbrev_np(number));
  say("\n");
  _exit(128 + number);
}

void stop_early_too(int, char**, char**) {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action.sa_handler = &on_early_stop;
    sigaction(number, &action, nullptr);
  }
}

/// The dynamic linker runs it before all static constructors.
[[gnu::section(".preinit_array"), gnu::used]] void (*const at_start)(int, char**, char**) = &stop_early_too;

}  // namespace
