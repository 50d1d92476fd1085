// SPDX-License-Identifier: Apache-2.0
// The files that one command reads and writes. An output must be neither an input nor another output.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Receives all files of a command before the command opens the first output. It detects two names of one file by real
/// path, device and inode. The files of stdout and stderr are outputs. Devices, pipes and folders are exempt.
class CommandFiles {
 public:
  CommandFiles();
  /// InputError if the file is an output.
  void reads(const std::string& option, const std::string& file) { name(option, file, false); }
  /// An output and the NAME.part that it is written to. InputError if another option names the file or if its folder is
  /// missing. An empty name means no file.
  void writes(const std::string& option, const std::string& file) { name(option, file, true); }
  /// Returns the files that an option's value refers to. Without it, the file is the value or the text after NAME=.
  void add(std::string option, std::string value, bool named, bool written,
           const std::function<std::vector<std::string>(const std::string&)>& files_of);
  bool has_outputs() const { return outputs_ > 0; }

 private:
  struct File {
    std::string option, name, path;
    std::optional<struct stat> found;  ///< for an existing file
    bool written = false;
  };
  void name(const std::string& option, const std::string& file, bool written);
  void writes_stream(const char* name, int fd);
  void add(File);
  std::vector<File> files_;
  size_t outputs_ = 0;
};

/// The memory file beside an op log: the log's name with the extension .kbmem.
std::string memory_file_of(const std::string& oplog);

}  // namespace kernbench::phase2
