// SPDX-License-Identifier: Apache-2.0
// Reads lines of a descriptor such as stdin that is polled with others. It buffers little more than one line.
#pragma once

#include <optional>
#include <string>

namespace kernbench {

class LineInput {
 public:
  LineInput(int fd, size_t longest) : fd_(fd), longest_(longest) {}
  int fd() const { return fd_; }
  /// Whether the input has ended.
  bool ended() const { return ended_; }

  /// Reads available data. Call it if poll() reports data and next() has no line left. RunError.
  void read();

  struct Line {
    std::string text;       ///< without newline
    bool too_long = false;  ///< the text is only its start
  };
  /// The next complete line; at the end of the input also one without newline.
  std::optional<Line> next();

 private:
  int fd_;
  size_t longest_;
  std::string buffer_;     // from the start of a line
  size_t searched_ = 0;    // scanned without a newline
  bool skipping_ = false;  // in the rest of a line that was too long
  bool ended_ = false;
};

}  // namespace kernbench
