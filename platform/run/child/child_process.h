// SPDX-License-Identifier: Apache-2.0
// Child processes of this one. Each ends when this process ends, and is waited for by its own id.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>

namespace kernbench {

/// fork(), with a child that the system kills when this process ends in any way. Call it in the first thread, which
/// ends last. RunError.
pid_t fork_child();

/// Waits for that child only; returns waitpid()'s status.
int wait_for_child(pid_t);

/// In a child: empty stdin, stdout and stderr to these files. False on an error.
bool redirect_standard_files(int out, int err);

/// Readable when that child has ended. RunError if the system refuses; then the child is killed.
int open_pidfd(pid_t);

/// Exit status, or 128 + signal, from wait_for_child()'s result.
int exit_status(int wait_status);

/// A program's output kept in memory; a pipe would block its writer until it is read.
class MemoryFile {
 public:
  /// RunError if there is no memory.
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  std::string text() const;

 private:
  int fd_;
};

/// While it exists, the ends of children are reported even if the process was started with SIGCHLD ignored; the system
/// would otherwise discard their statuses.
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
