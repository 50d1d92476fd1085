// SPDX-License-Identifier: Apache-2.0
// A file that this process alone writes: op logs and memory files.
#pragma once

#include <cstdio>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Open and locked from its making to close(). What it held stays until it is emptied, so that a command can have all
/// its files before it changes the first.
class WrittenFile {
 public:
  /// Made where there is none. OpLogError where it cannot be, and where another process, or this one, writes it
  /// already.
  explicit WrittenFile(std::string name);
  /// Closes it; one that was made for this and has not been emptied is removed.
  ~WrittenFile();
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;

  /// OpLogError.
  void empty();
  const std::string& name() const { return name_; }
  /// Null once it is closed.
  std::FILE* stream() const { return stream_; }
  /// OpLogError where what was left could not be written.
  void close();
  /// OpLogError with the system's reason.
  [[noreturn]] void fail() const;

 private:
  [[noreturn]] void refuse(int error) const;

  std::string name_;
  std::FILE* stream_ = nullptr;
  bool made_ = false;  ///< and nothing has been done with it
};

}  // namespace kernbench::phase2
