// Processes that this one starts: each ends when this one does, and is waited for by its own number.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace kernbench {

/// fork(), and the system kills the child when this process ends, however it ends: to be called by the first thread,
/// which ends last. RunError.
pid_t fork_child();

/// Waits for that child and for no other; what waitpid() says of it.
int wait_for_child(pid_t);

/// While it lives the ends of children are told, also where the process was started with SIGCHLD ignored: the system
/// would then throw their statuses away.
class ChildStatuses {
 public:
  ChildStatuses();
  ~ChildStatuses();
  ChildStatuses(const ChildStatuses&) = delete;
  ChildStatuses& operator=(const ChildStatuses&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace kernbench
