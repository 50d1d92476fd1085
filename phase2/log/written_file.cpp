// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/log/written_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kernbench/phase2/log/oplog_json.h"

namespace kernbench::phase2 {

WrittenFile::WrittenFile(std::string name) : name_(std::move(name)) {
  constexpr mode_t kMode = 0666;
  int fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  made_ = fd >= 0;
  if (fd < 0) fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  if (fd < 0) refuse(errno);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(fd);
    if (error == EWOULDBLOCK) throw OpLogError(name_ + ": is being written by another run");
    refuse(error);
  }
  stream_ = ::fdopen(fd, "wb");
  if (stream_) return;
  const int error = errno;
  if (made_) ::unlink(name_.c_str());
  ::close(fd);
  refuse(error);
}

WrittenFile::~WrittenFile() {
  if (!stream_) return;
  if (made_) ::unlink(name_.c_str());
  std::fclose(stream_);
}

void WrittenFile::refuse(int error) const {
  throw OpLogError(name_ + ": cannot be written: " + std::strerror(error));
}

void WrittenFile::fail() const {
  throw OpLogError(name_ + ": cannot be written to: " + std::strerror(errno));
}

void WrittenFile::empty() {
  made_ = false;
  struct stat what {};
  const int fd = ::fileno(stream_);
  // A pipe or device has no contents.
  if (::fstat(fd, &what) != 0 || (S_ISREG(what.st_mode) && ::ftruncate(fd, 0) != 0)) refuse(errno);
}

void WrittenFile::close() {
  std::FILE* f = stream_;
  stream_ = nullptr;
  if (std::fclose(f) != 0) fail();
}

}  // namespace kernbench::phase2
