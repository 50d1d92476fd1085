// SPDX-License-Identifier: Apache-2.0
// A file that only this process writes: op logs and memory files.
#pragma once

#include <cstdio>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Open and locked from construction to close(). Its old contents stay until empty() is called, so that a command can
/// open all its files before it changes the first.
class WrittenFile {
 public:
  /// Creates the file if it does not exist. OpLogError if it cannot be created, or if another process, or this one,
  /// already writes it.
  explicit WrittenFile(std::string name);
  /// Closes the file. If this object created it and never emptied it, the file is removed.
  ~WrittenFile();
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;

  /// Removes the contents. OpLogError.
  void empty();
  const std::string& name() const { return name_; }
  /// Null after close().
  std::FILE* stream() const { return stream_; }
  /// OpLogError if the remaining data cannot be written.
  void close();
  /// Throws OpLogError with the system's reason.
  [[noreturn]] void fail() const;

 private:
  [[noreturn]] void refuse(int error) const;

  std::string name_;
  std::FILE* stream_ = nullptr;
  bool made_ = false;  ///< created here and not used so far
};

}  // namespace kernbench::phase2
