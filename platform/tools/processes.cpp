#include "kernbench/platform/tools/processes.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "kernbench/phase2/op/errors.h"

namespace kernbench {
namespace {

/// A file in memory: a pipe would hold up its writer until somebody reads.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)) {
    if (fd_ < 0) throw RunError(std::string("no memory for a process's output: ") + std::strerror(errno));
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  std::string text() const {
    std::string all(static_cast<size_t>(lseek(fd_, 0, SEEK_END)), '\0');
    size_t got = 0;
    while (got < all.size()) {
      const ssize_t n = pread(fd_, all.data() + got, all.size() - got, static_cast<off_t>(got));
      if (n <= 0) break;
      got += static_cast<size_t>(n);
    }
    all.resize(got);
    return all;
  }

 private:
  int fd_;
};

struct Running {
  explicit Running(size_t i) : index(i) {}
  size_t index;
  MemoryFile out{"stdout"}, err{"stderr"};
};

pid_t start(const std::string& program, const std::vector<std::string>& arguments, const Running& r) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, r.out.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, r.err.fd(), STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error) throw RunError(program + " cannot be started: " + std::strerror(error));
  return pid;
}

/// The processes that run; waits for them when it goes away.
class Pool {
 public:
  ~Pool() {
    for (const auto& [pid, r] : running_) waitpid(pid, nullptr, 0);
  }
  size_t size() const { return running_.size(); }
  void start(const std::string& program, const std::vector<std::string>& arguments, size_t index) {
    auto r = std::make_unique<Running>(index);
    const pid_t pid = kernbench::start(program, arguments, *r);
    running_.emplace(pid, std::move(r));
  }
  std::pair<size_t, ProcessResult> wait_for_one() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    const auto it = running_.find(pid);
    if (it == running_.end()) throw RunError(std::string("waiting for a process: ") + std::strerror(errno));
    const Running& r = *it->second;
    std::pair<size_t, ProcessResult> ended{
        r.index, {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), r.out.text(), r.err.text()}};
    running_.erase(it);
    return ended;
  }

 private:
  std::map<pid_t, std::unique_ptr<Running>> running_;
};

}  // namespace

void run_processes(const std::string& program, const std::vector<std::vector<std::string>>& arguments, size_t jobs,
                   const std::function<void(size_t index, const ProcessResult&)>& done) {
  Pool pool;
  std::map<size_t, ProcessResult> ended;  // not told yet: one before it still runs
  size_t told = 0;
  for (size_t next = 0; told < arguments.size();) {
    for (; next < arguments.size() && pool.size() < jobs; ++next) pool.start(program, arguments[next], next);
    ended.insert(pool.wait_for_one());
    for (auto it = ended.begin(); it != ended.end() && it->first == told; it = ended.erase(it), ++told)
      done(told, it->second);
  }
}

}  // namespace kernbench
