// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/child/line_input.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kernbench/phase2/op/errors.h"

namespace kernbench {

void LineInput::read() {
  char bytes[65536];
  const ssize_t n = ::read(fd_, bytes, sizeof bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n < 0) throw RunError(std::string("stdin cannot be read: ") + std::strerror(errno));
  if (n == 0) ended_ = true;
  buffer_.append(bytes, static_cast<size_t>(n));
}

std::optional<LineInput::Line> LineInput::next() {
  const size_t end = buffer_.find('\n', searched_);
  const bool whole = end != std::string::npos;
  if (skipping_) {
    buffer_.erase(0, whole ? end + 1 : std::string::npos);
    searched_ = 0;
    skipping_ = !whole;
    return whole ? next() : std::nullopt;
  }
  const size_t size = whole ? end : buffer_.size();
  if (size > longest_) {
    Line line{buffer_.substr(0, longest_), true};
    skipping_ = !whole;
    buffer_.erase(0, whole ? end + 1 : std::string::npos);
    searched_ = 0;
    return line;
  }
  if (!whole && (!ended_ || buffer_.empty())) {
    searched_ = size;
    return std::nullopt;
  }
  Line line{buffer_.substr(0, size)};
  buffer_.erase(0, whole ? end + 1 : std::string::npos);
  searched_ = 0;
  return line;
}

}  // namespace kernbench
