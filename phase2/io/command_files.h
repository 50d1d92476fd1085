// SPDX-License-Identifier: Apache-2.0
// The files that one command reads and writes: an output is neither an input nor another output.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Is given all files of a command before the command opens the first output. Two names of one file are found by real
/// path, device and inode. The files of stdout and stderr are outputs. Devices, pipes and folders are exempt.
class CommandFiles {
 public:
  CommandFiles();
  /// InputError where the file is an output.
  void reads(const std::string& option, const std::string& file) { name(option, file, false); }
  /// An output, and the NAME.part in which it grows. InputError where another option names the file, and where its
  /// folder is missing. An empty name is none.
  void writes(const std::string& option, const std::string& file) { name(option, file, true); }
  /// The files that the value of an option leads to, or what stands behind its NAME=.
  void add(std::string option, std::string value, bool named, bool written,
           const std::function<std::vector<std::string>(const std::string&)>& files_of);
  bool has_outputs() const { return outputs_ > 0; }

 private:
  struct File {
    std::string option, name, path;
    std::optional<struct stat> found;  ///< of one that is there
    bool written = false;
  };
  void name(const std::string& option, const std::string& file, bool written);
  void writes_stream(const char* name, int fd);
  void add(File);
  std::vector<File> files_;
  size_t outputs_ = 0;
};

/// The memory file beside an op log: its name with .kbmem in place of the extension.
std::string memory_file_of(const std::string& oplog);

}  // namespace kernbench::phase2
