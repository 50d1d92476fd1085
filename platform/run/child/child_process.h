// SPDX-License-Identifier: Apache-2.0
// Processes that this one starts: each ends when this one does, and is waited for by its own number.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>

namespace kernbench {

/// fork(), and the system kills the child when this process ends, however it ends: to be called by the first thread,
/// which ends last. RunError.
pid_t fork_child();

/// Waits for that child and for no other; what waitpid() says of it.
int wait_for_child(pid_t);

/// In a child: stdin empty, stdout and stderr to these files. False where the system refuses.
bool redirect_standard_files(int out, int err);

/// Readable once that child has ended. RunError where the system gives none; the child is killed then.
int open_pidfd(pid_t);

/// Its exit status, or 128 + the signal that ended it, of what wait_for_child() says.
int exit_status(int wait_status);

/// What a program writes, kept in memory: a pipe would hold up its writer until somebody reads.
class MemoryFile {
 public:
  /// RunError without memory for it.
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  std::string text() const;

 private:
  int fd_;
};

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
