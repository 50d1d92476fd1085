#include "kernbench/platform/tools/child_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "kernbench/phase2/op/errors.h"

namespace kernbench {

pid_t fork_child() {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw RunError(std::string("a process cannot be started: ") + std::strerror(errno));
  if (pid == 0) {
    // Where the parent has ended before the call, nobody is left to tell.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    // What ends it needs no word of its own.
    for (const int number : {SIGINT, SIGTERM}) {
      struct sigaction inherited {};
      sigaction(number, nullptr, &inherited);
      if (inherited.sa_handler != SIG_IGN) signal(number, SIG_DFL);
    }
  }
  return pid;
}

int wait_for_child(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw RunError(std::string("waiting for a process: ") + std::strerror(errno));
  }
  return status;
}

ChildStatuses::ChildStatuses() {
  struct sigaction told {};
  told.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &told, &before_);
}

ChildStatuses::~ChildStatuses() {
  sigaction(SIGCHLD, &before_, nullptr);
}

}  // namespace kernbench
