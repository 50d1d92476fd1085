// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/io/whole_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "kernbench/phase2/log/real_name.h"
#include "kernbench/phase2/op/errors.h"

namespace kernbench::phase2 {

namespace {

constexpr mode_t kMode = 0666;
constexpr mode_t kPermissions = 07777;

}  // namespace

WholeFile::WholeFile(std::string name) : name_(std::move(name)) {
  struct stat found {};
  const bool there = ::stat(name_.c_str(), &found) == 0;
  if (there ? S_ISREG(found.st_mode) : errno == ENOENT) {
    target_ = real_name(name_);
    part_ = target_ + ".part";
  }
  if (there && ::access(name_.c_str(), W_OK) != 0) {
    // Permissions of its folder alone would allow its replacement.
  } else if (has_part()) {
    fd_ = open_alone(part_);
    if (fd_ >= 0 && there) ::fchmod(fd_, found.st_mode & kPermissions);
  } else {
    fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  }
  if (fd_ >= 0) return;
  if (errno == EWOULDBLOCK) throw InputError(name_ + ": is being written by another run");
  throw InputError(name_ + ": cannot be written: " + std::strerror(errno));
}

WholeFile::~WholeFile() {
  drop();
}

/// Opens it empty and locked, so that no other process has it. Returns -1, with errno, if that fails.
int WholeFile::open_alone(const std::string& file) {
  while (true) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode);
    if (fd < 0) return -1;
    struct stat ours {
    }, named{};
    const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    // Between the two calls its writer may have renamed it to the final name.
    const bool moved =
        locked && ::fstat(fd, &ours) == 0 &&
        (::stat(file.c_str(), &named) != 0 || ours.st_ino != named.st_ino || ours.st_dev != named.st_dev);
    if (locked && !moved && ::ftruncate(fd, 0) == 0) return fd;
    const int error = errno;
    if (locked && !moved) ::unlink(file.c_str());
    ::close(fd);
    errno = error;
    if (!moved) return -1;
  }
}

void WholeFile::write_all(int fd, std::string_view bytes) {
  while (!failed() && !bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) error_ = errno;
  }
}

void WholeFile::write(std::string_view bytes) {
  write_all(fd_, bytes);
}

void WholeFile::replace_start(std::string_view start, uint64_t from) {
  if (failed()) return;
  const std::string beside = part_ + ".new";
  const int fd = open_alone(beside);
  if (fd < 0) {
    error_ = errno;
    return;
  }
  write_all(fd, start);
  std::array<char, 1 << 16> block;
  auto at = static_cast<off_t>(from);
  for (ssize_t n = 1; !failed() && n != 0;) {
    n = ::pread(fd_, block.data(), block.size(), at);
    if (n < 0) error_ = errno;
    if (n <= 0) break;
    write_all(fd, {block.data(), static_cast<size_t>(n)});
    at += n;
  }
  struct stat old {};
  if (::fstat(fd_, &old) == 0) ::fchmod(fd, old.st_mode & kPermissions);
  if (!failed() && std::rename(beside.c_str(), part_.c_str()) == 0) {
    ::close(fd_);
    fd_ = fd;
    return;
  }
  if (!failed()) error_ = errno;
  ::unlink(beside.c_str());
  ::close(fd);
}

void WholeFile::keep() {
  // Some systems report a lack of space only at close(). Closing a copy keeps the lock.
  const int copy = failed() ? -1 : ::dup(fd_);
  if (!failed() && (copy < 0 || ::close(copy) != 0)) error_ = errno;
  if (!failed() && has_part() && std::rename(part_.c_str(), target_.c_str()) != 0) error_ = errno;
  if (!failed()) part_.clear();
  drop();
  if (failed()) throw RunError(name_ + ": cannot be written to its end: " + std::strerror(error_));
}

void WholeFile::drop() {
  if (fd_ < 0) return;
  if (has_part()) ::unlink(part_.c_str());
  ::close(fd_);
  fd_ = -1;
}

}  // namespace kernbench::phase2
