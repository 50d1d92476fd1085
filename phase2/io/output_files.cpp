#include "kernbench/phase2/io/output_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/log/real_name.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench {

OutputFiles::OutputFiles() {
  struct stat s {};
  if (::fstat(STDOUT_FILENO, &s) == 0 && S_ISREG(s.st_mode)) files_.push_back({"stdout", "", s});
  add("--log", logging::file_name());
}

void OutputFiles::add(const std::string& option, const std::string& file) {
  if (file.empty()) return;
  File f{option, real_name(file), {}};
  struct stat s {};
  if (::stat(file.c_str(), &s) == 0) {
    if (!S_ISREG(s.st_mode)) return;
    f.found = s;
  } else if (const auto folder = std::filesystem::path(f.path).parent_path(); ::stat(folder.c_str(), &s) != 0) {
    throw InputError(file + ": cannot be written: " + std::strerror(errno));
  }
  for (const File& other : files_) {
    const bool linked =
        f.found && other.found && f.found->st_dev == other.found->st_dev && f.found->st_ino == other.found->st_ino;
    if (linked || f.path == other.path)
      throw InputError(option + ": found " + in_quotes(file) + ", the file of " + other.option);
  }
  files_.push_back(std::move(f));
}

void OutputFiles::add_all(const std::string& option, const std::vector<std::string>& files) {
  for (const std::string& file : files) add(option, file);
}

std::string memory_file_of(const std::string& oplog) {
  return std::filesystem::path(oplog).replace_extension(".kbmem").string();
}

}  // namespace kernbench
