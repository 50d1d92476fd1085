// SPDX-License-Identifier: Apache-2.0
// Lines of a descriptor that others are waited for beside, such as stdin: never more in memory than one and a bit.
#pragma once

#include <optional>
#include <string>

namespace kernbench {

class LineInput {
 public:
  LineInput(int fd, size_t longest) : fd_(fd), longest_(longest) {}
  int fd() const { return fd_; }
  /// Whether nothing more comes.
  bool ended() const { return ended_; }

  /// Takes what is there to be read: to be called where poll() says so, and once next() has nothing more. RunError.
  void read();

  struct Line {
    std::string text;       ///< without its end
    bool too_long = false;  ///< the text is its beginning
  };
  /// The next that is whole; at the end also one without its \n.
  std::optional<Line> next();

 private:
  int fd_;
  size_t longest_;
  std::string buffer_;     // from the beginning of a line
  size_t searched_ = 0;    // no \n so far
  bool skipping_ = false;  // the rest of a line that was too long
  bool ended_ = false;
};

}  // namespace kernbench
