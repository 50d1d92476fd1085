// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/io/command_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/log/real_name.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::phase2 {

CommandFiles::CommandFiles() {
  writes_stream("stdout", STDOUT_FILENO);
  writes_stream("stderr", STDERR_FILENO);
  writes("--log", logging::file_name());
}

/// stdout and stderr may be the same file.
void CommandFiles::writes_stream(const char* name, int fd) {
  struct stat s {};
  if (::fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_nlink == 0) return;  // no name: a child's, in memory
  files_.push_back({name, name, "", s, true});
  ++outputs_;
}

void CommandFiles::add(File f) {
  for (const File& other : files_) {
    if (!f.written && !other.written) continue;
    const bool linked =
        f.found && other.found && f.found->st_dev == other.found->st_dev && f.found->st_ino == other.found->st_ino;
    if (!linked && f.path != other.path) continue;
    const auto& [output, same] = f.written ? std::pair(f, other) : std::pair(other, f);
    throw InputError(output.option + ": found " + in_quotes(output.name) + ", the file of " + same.option);
  }
  files_.push_back(std::move(f));
}

void CommandFiles::name(const std::string& option, const std::string& file, bool written) {
  if (file.empty()) return;
  File f{option, file, real_name(file), {}, written};
  struct stat s {};
  if (::stat(file.c_str(), &s) == 0) {
    if (!S_ISREG(s.st_mode)) return;
    f.found = s;
  } else if (written && ::stat(std::filesystem::path(f.path).parent_path().c_str(), &s) != 0) {
    throw InputError(option + ": " + file + ": cannot be written: " + std::strerror(errno));
  }
  if (written) {
    File part{option, file, f.path + ".part", {}, true};
    if (::stat(part.path.c_str(), &s) == 0) part.found = s;
    add(std::move(part));
    ++outputs_;
  }
  add(std::move(f));
}

void CommandFiles::add(std::string option, std::string value, bool named, bool written,
                       const std::function<std::vector<std::string>(const std::string&)>& files_of) {
  if (const size_t equals = value.find('='); named && equals != std::string::npos) {
    option += " " + value.substr(0, equals);
    value.erase(0, equals + 1);
  }
  for (const std::string& file : files_of ? files_of(value) : std::vector{value})
    written ? writes(option, file) : reads(option, file);
}

std::string memory_file_of(const std::string& oplog) {
  return std::filesystem::path(oplog).replace_extension(".kbmem").string();
}

}  // namespace kernbench::phase2
