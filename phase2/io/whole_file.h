// SPDX-License-Identifier: Apache-2.0
// An output that is there whole or not at all: dumps, traces, waveforms, pictures. (Op logs and memory files, of which
// a part is of use, are WrittenFile's.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Grows as NAME.part beside the file that it becomes, so that NAME holds what it held until keep(). A process that is
/// killed leaves NAME.part, which the next one writes anew. What is there already and is no regular file (a device, a
/// pipe) is written directly. Behind a symbolic link its target is what is written; an old file's permissions stay.
class WholeFile {
 public:
  /// InputError, with the system's reason, where it cannot be written or another process writes it.
  explicit WholeFile(std::string name);
  /// Without keep() nothing is left of it.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Throws nothing: after a failure the rest is ignored, and keep() tells.
  void write(std::string_view);
  /// Puts what was written from byte `from` on behind another start. Needs has_part(). What has been written so far can
  /// be read in NAME.part at any time, in the old form or in the new one.
  void replace_start(std::string_view start, uint64_t from);
  bool has_part() const { return !part_.empty(); }
  bool failed() const { return error_ != 0; }
  /// It is whole: takes its name. RunError where not all could be written; nothing is left of it then.
  void keep();

 private:
  static int open_alone(const std::string& file);
  void write_all(int fd, std::string_view);
  void drop();

  std::string name_, target_, part_;
  int fd_ = -1;
  int error_ = 0;  ///< of the first write that failed
};

}  // namespace kernbench::phase2
