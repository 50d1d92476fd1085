// The files that one command writes.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

namespace kernbench {

/// Told all files before the first is opened, finds those that are one, by whatever paths. What stdout goes into is
/// among them; devices and pipes may stand twice.
class OutputFiles {
 public:
  OutputFiles();
  /// InputError where another option's is the same file, and where its folder is not there, which would be told after
  /// the run. An empty name is none.
  void add(const std::string& option, const std::string& file);
  /// The files of one option.
  void add_all(const std::string& option, const std::vector<std::string>& files);

 private:
  struct File {
    std::string option, path;
    std::optional<struct stat> found;  ///< of one that is there
  };
  std::vector<File> files_;
};

/// The memory file beside an op log: its name with .kbmem in place of the extension.
std::string memory_file_of(const std::string& oplog);

}  // namespace kernbench
