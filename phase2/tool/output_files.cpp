#include "kernbench/phase2/tool/output_files.h"

#include <unistd.h>

#include <filesystem>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::cli {

OutputFiles::OutputFiles() {
  struct stat s {};
  if (::fstat(STDOUT_FILENO, &s) == 0 && S_ISREG(s.st_mode)) files_.push_back({"stdout", "", s});
}

void OutputFiles::add(const std::string& option, const std::string& file) {
  if (file.empty()) return;
  std::error_code error;
  File f{option, std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error).string(), {}};
  struct stat s {};
  if (::stat(file.c_str(), &s) == 0) {
    if (!S_ISREG(s.st_mode)) return;
    f.found = s;
  }
  for (const File& other : files_) {
    const bool linked =
        f.found && other.found && f.found->st_dev == other.found->st_dev && f.found->st_ino == other.found->st_ino;
    if (linked || (!f.path.empty() && f.path == other.path))
      throw InputError(option + ": found " + in_quotes(file) + ", the file of " + other.option);
  }
  files_.push_back(std::move(f));
}

}  // namespace kernbench::cli
