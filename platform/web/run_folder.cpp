// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/web/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/phase2/tool/progress_line.h"

namespace kernbench::web {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRun = ".run";
constexpr const char* kTopologies = "topologies";
/// Limits of bytes read from a file: a request of the page, a report with results, a run's output.
constexpr size_t kMostRequest = 1 << 20, kMostReport = 64 << 20, kMostSaid = 64 << 10;
constexpr size_t kMostHead = 64 << 10;  ///< start of a file that is searched for a model

/// Plain names with that ending in a folder that is no link; empty if the folder does not exist.
std::vector<std::string> names_in(const std::string& folder, const char* ending, fs::file_type type) {
  std::vector<std::string> found;
  std::error_code error;
  if (fs::symlink_status(folder, error).type() != fs::file_type::directory) return found;
  // A file may disappear meanwhile; that is no error.
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code gone;
    if (it->path().extension() == ending && is_plain_name(name) && it->symlink_status(gone).type() == type)
      found.push_back(name);
  }
  return found;
}

void write_file(const std::string& file, const std::string& text) {
  WholeFile out(file);
  out.write(text + "\n");
  out.keep();
}

/// Does not follow links; null if there is no such regular file.
std::shared_ptr<const OpenFile> opened_regular(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return nullptr;
  struct stat status {};
  const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  auto opened = std::make_shared<OpenFile>(fd, static_cast<size_t>(status.st_size));
  return regular ? opened : nullptr;
}

fs::file_time_type changed(const std::string& file) {
  std::error_code error;
  return fs::last_write_time(file, error);
}

}  // namespace

OpenFile::~OpenFile() {
  close(fd_);
}

size_t OpenFile::read(size_t from, char* to, size_t size) const {
  const ssize_t got = pread(fd_, to, size, static_cast<off_t>(from));
  return got > 0 ? static_cast<size_t>(got) : 0;
}

std::string OpenFile::first(size_t most) const {
  return part(0, std::min(most, size_));
}

std::string OpenFile::last(size_t most) const {
  const size_t size = std::min(most, size_);
  return part(size_ - size, size);
}

std::string OpenFile::part(size_t from, size_t size) const {
  std::string text(size, '\0');
  size_t got = 0;
  for (size_t n = 1; n > 0 && got < size; got += n) n = read(from + got, text.data() + got, size - got);
  text.resize(got);
  return text;
}

RunFolder::RunFolder(const std::string& folder) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);
  if (error) throw InputError(fmt::format("web: {}: {}", folder, error.message()));
  if (!fs::is_directory(whole)) throw InputError(fmt::format("web: {}: is no folder", folder));
  path_ = whole.string();
}

bool RunFolder::says_model_type(const std::string& file) const {
  const auto opened = opened_regular(path_ + "/" + file);
  return opened && opened->first(kMostHead).find("model_type") != std::string::npos;
}

std::vector<std::string> RunFolder::models() const {
  std::vector<std::string> found = names_in(path_, ".onnx", fs::file_type::regular);
  for (const char* ending : {".json", ".yaml"}) {
    for (const std::string& name : names_in(path_, ending, fs::file_type::regular)) {
      if (says_model_type(name)) found.push_back(name);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> RunFolder::topologies() const {
  std::vector<std::string> found = names_in(path_, ".yaml", fs::file_type::regular);
  found.erase(std::remove_if(found.begin(), found.end(), [&](const std::string& n) { return says_model_type(n); }),
              found.end());
  for (const std::string& name : names_in(path_ + "/" + kTopologies, ".yaml", fs::file_type::regular))
    found.push_back(name);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::string> RunFolder::runs() const {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  for (const std::string& folder : names_in(path_, kRun, fs::file_type::directory)) {
    const std::string name = folder.substr(0, folder.size() - std::strlen(kRun));
    found.emplace_back(changed(file(name, "request.json")), name);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> runs;
  for (auto& [when, name] : found) runs.push_back(std::move(name));
  return runs;
}

bool RunFolder::has_run(const std::string& name) const {
  struct stat status {};
  return is_plain_name(name) && lstat((path_ + "/" + name + kRun).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string RunFolder::file(const std::string& run, const std::string& file) const {
  return path_ + "/" + run + kRun + "/" + file;
}

std::string RunFolder::create(const RunRequest& request) const {
  const auto stem_of = [](const std::string& file) { return fs::path(file).stem().string(); };
  const std::string stem =
      (request.is_model() ? stem_of(request.name) : request.name) + "-" + stem_of(request.topology);
  for (int number = 1;; ++number) {
    const std::string name = fmt::format("{}-{}", stem, number);
    if (mkdir((path_ + "/" + name + kRun).c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      throw RunError(fmt::format("web: {}/{}{}: {}", path_, name, kRun, std::strerror(errno)));
    }
    try {
      write_file(file(name, "request.json"), request.json());
    } catch (const std::exception& e) {
      std::error_code error;
      fs::remove_all(path_ + "/" + name + kRun, error);
      throw RunError(std::string("web: ") + e.what());
    }
    return name;
  }
}

std::shared_ptr<const OpenFile> RunFolder::open(const std::string& run, const std::string& name) const {
  return has_run(run) ? opened_regular(file(run, name)) : nullptr;
}

std::optional<std::string> RunFolder::read(const std::string& run, const std::string& name, size_t most) const {
  const auto opened = open(run, name);
  return opened ? std::optional(opened->last(most)) : std::nullopt;
}

std::optional<RunRequest> RunFolder::request(const std::string& run) const {
  try {
    if (const auto text = read(run, "request.json", kMostRequest)) return parse_run_request(*text);
  } catch (const InputError&) {  // not created by this program
  }
  return std::nullopt;
}

std::optional<RunEnd> RunFolder::end(const std::string& run) const {
  try {
    if (const auto text = read(run, "end.json", kMostRequest)) return parse_run_end(*text);
  } catch (const InputError&) {
  }
  return std::nullopt;
}

void RunFolder::finish(const std::string& run, int status, double wall_s) const {
  RunEnd end;
  end.status = status;
  end.wall_s = wall_s;
  if (const auto asked = request(run)) take_results(*asked, read(run, "run.json", kMostReport).value_or(""), end);
  write_file(file(run, "end.json"), end.json());
}

std::vector<std::string> RunFolder::said(const std::string& run) const {
  std::vector<std::string> lines;
  TextInput text(read(run, "stderr.txt", kMostSaid).value_or(""));
  for (std::string line; std::getline(text, line);) {
    if (line.rfind(cli::kProgressMark, 0) != 0) lines.push_back(line);
  }
  return lines;
}

std::optional<double> RunFolder::expected_ns(const std::string& run) const {
  const auto asked = request(run);
  for (const std::string& other : asked ? runs() : std::vector<std::string>()) {
    const auto ended = end(other);
    if (!ended || !ended->sim_ns) continue;
    const auto earlier = request(other);
    if (earlier && earlier->same_work(*asked)) return ended->sim_ns;
  }
  return std::nullopt;
}

RunProgress RunFolder::progress(const std::string& run, double elapsed_s) const {
  RunProgress p;
  TextInput text(read(run, "stderr.txt", kMostSaid).value_or(""));
  for (std::string line; std::getline(text, line);) {
    if (line.rfind(cli::kProgressMark, 0) == 0) p.text = line.substr(std::strlen(cli::kProgressMark));
  }
  double us = 0, seconds = 0;
  unsigned long long done = 0, of = 0;
  if (std::sscanf(p.text.c_str(), "replayed %llu of %llu ops, %lf s", &done, &of, &seconds) == 3) {
    p.left_s = seconds;
  } else if (std::sscanf(p.text.c_str(), "simulated %lf us", &us) == 1 && us > 0) {
    if (const auto whole = expected_ns(run)) p.left_s = std::max(0.0, elapsed_s * (*whole / (us * 1e3) - 1));
  }
  return p;
}

}  // namespace kernbench::web
