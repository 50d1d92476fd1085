// SPDX-License-Identifier: Apache-2.0
// An output that exists either completely or not at all: dumps, traces, waveforms, plots. (Op logs and memory files, of
// which a part is useful, use WrittenFile.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Written to NAME.part in the same folder, so that NAME keeps its old contents until keep(). A killed process leaves
/// NAME.part, which the next one overwrites. An existing file that is not regular (a device, a pipe) is written
/// directly. A symbolic link is followed to its target. An old file's permissions stay.
class WholeFile {
 public:
  /// InputError, with the system's reason, if the file cannot be written or another process writes it.
  explicit WholeFile(std::string name);
  /// Removes the file, unless keep() was called.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Never throws. After a failure, further data is ignored and keep() reports the error.
  void write(std::string_view);
  /// Moves the data from byte `from` on behind another beginning. Requires has_part(). NAME.part is readable at any
  /// time, in the old form or in the new one.
  void replace_start(std::string_view start, uint64_t from);
  bool has_part() const { return !part_.empty(); }
  bool failed() const { return error_ != 0; }
  /// Completes the file and gives it its name. RunError if not all data could be written; then nothing remains.
  void keep();

 private:
  static int open_alone(const std::string& file);
  void write_all(int fd, std::string_view);
  void drop();

  std::string name_, target_, part_;
  int fd_ = -1;
  int error_ = 0;  ///< of the first failed write
};

}  // namespace kernbench::phase2
