// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/child/child_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 omits extern "C"
}

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
    // If the parent ended before the call, no signal will come.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    // Signals need no message here.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
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

bool redirect_standard_files(int out, int err) {
  // If this process has closed a standard stream, a pipe may have its number.
  out = fcntl(out, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  err = fcntl(err, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int in = open("/dev/null", O_RDONLY);
  return in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0;
}

int open_pidfd(pid_t pid) {
  const int fd = pidfd_open(pid, 0);
  if (fd >= 0) return fd;
  const int error = errno;
  kill(pid, SIGKILL);
  wait_for_child(pid);
  throw RunError(std::string("a process cannot be waited for: ") + std::strerror(error));
}

int exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

MemoryFile::MemoryFile(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)) {
  if (fd_ < 0) throw RunError(std::string("no memory for a process's output: ") + std::strerror(errno));
}

MemoryFile::~MemoryFile() {
  close(fd_);
}

std::string MemoryFile::text() const {
  std::string all(static_cast<size_t>(lseek(fd_, 0, SEEK_END)), '\0');
  size_t got = 0;
  while (got < all.size()) {
    const ssize_t n = pread(fd_, all.data() + got, all.size() - got, static_cast<off_t>(got));
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  all.resize(got);
  return all;
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
