// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/child/child_pool.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <thread>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"

namespace kernbench {

unsigned processes(unsigned jobs) {
  return jobs > 0 ? jobs : std::max(1u, std::thread::hardware_concurrency());
}

/// The destination of a child's output: a file, or memory.
class ChildPool::Output {
 public:
  Output(const std::string& file, const char* name) {
    if (file.empty()) {
      memory_.emplace(name);
    } else if ((fd_ = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666)) < 0) {
      throw RunError(file + ": " + std::strerror(errno));
    }
  }
  ~Output() {
    if (fd_ >= 0) close(fd_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  int fd() const { return memory_ ? memory_->fd() : fd_; }
  std::string text() const { return memory_ ? memory_->text() : ""; }

 private:
  std::optional<MemoryFile> memory_;
  int fd_ = -1;
};

struct ChildPool::Running {
  Running(size_t number, const std::string& out_file = "", const std::string& err_file = "")
      : id(number), out(out_file, "stdout"), err(err_file, "stderr") {}
  size_t id;
  pid_t pid = 0;
  int pidfd = -1;  // readable when it has ended
  Clock::time_point begun;
  bool late = false;
  Output out, err;
  ~Running() {
    if (pidfd >= 0) close(pidfd);
  }
};

ChildPool::ChildPool(double timeout_s, bool spared) : timeout_s_(timeout_s), spared_(spared) {}

ChildPool::~ChildPool() {
  constexpr auto kPatience = std::chrono::seconds(2);
  signal_all(SIGTERM);
  for (const auto until = Clock::now() + kPatience; Clock::now() < until;) {
    const auto ended = [](const auto& r) { return waitpid(r->pid, nullptr, WNOHANG) != 0; };
    running_.erase(std::remove_if(running_.begin(), running_.end(), ended), running_.end());
    if (running_.empty()) return;
    poll(nullptr, 0, 2);
  }
  signal_all(SIGKILL);
  for (const auto& r : running_) waitpid(r->pid, nullptr, 0);
}

void ChildPool::signal_all(int number) const {
  for (const auto& r : running_) kill(r->pid, number);
}

void ChildPool::signal(size_t id, int number) const {
  for (const auto& r : running_) {
    if (r->id == id) kill(r->pid, number);
  }
}

/// Runs in the child. No exception may leave it, because the caller's code must not continue here.
void ChildPool::start(std::unique_ptr<Running> r, bool spared, const std::function<int()>& work) {
  running_.reserve(running_.size() + 1);
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  r->begun = Clock::now();
  r->pid = fork_child();
  if (r->pid == 0) {
    const auto become = [&]() noexcept {
      if (!redirect_standard_files(r->out.fd(), r->err.fd())) _exit(1);
      if (spared) ::signal(SIGINT, SIG_IGN);  // before signals are unblocked
      sigprocmask(SIG_SETMASK, &stop_signals_.before(), nullptr);
      const int status = work();
      std::cout.flush();
      std::fflush(nullptr);
      _exit(status);  // without destroying the parent's objects
    };
    become();
  }
  logging::debug(logging::Room::study, [&] { return "child " + std::to_string(r->pid) + " is started"; });
  r->pidfd = open_pidfd(r->pid);
  running_.push_back(std::move(r));
}

void ChildPool::start(size_t id, const std::function<int()>& work) {
  start(std::make_unique<Running>(id), spared_, [&] {
    unsetenv("KERNBENCH_PROGRESS");  // only for the parent
    return work();
  });
}

void ChildPool::start(size_t id, const Program& p) {
  std::vector<char*> argv = {const_cast<char*>(p.file.c_str())};
  for (const std::string& a : p.arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  start(std::make_unique<Running>(id, p.out, p.err), false, [&] {
    unsetenv("KERNBENCH_LOG");  // `err` contains the reason of a failure
    if (p.folder.empty() || chdir(p.folder.c_str()) == 0) execv(p.file.c_str(), argv.data());
    dprintf(STDERR_FILENO, "%s cannot be started: %s\n", p.file.c_str(), std::strerror(errno));
    return 1;
  });
}

std::optional<ChildPool::Ended> ChildPool::wait(std::chrono::milliseconds patience, std::vector<pollfd>* others) {
  std::vector<pollfd> open;
  for (const auto& r : running_) open.push_back({r->pidfd, POLLIN, 0});
  if (others) open.insert(open.end(), others->begin(), others->end());
  auto until = Clock::now() + patience;
  if (timeout_s_ > 0) {
    const auto most = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
    for (const auto& r : running_) {
      if (!r->late) until = std::min(until, r->begun + most);
    }
  }
  const auto left = std::max(until - Clock::now(), Clock::duration::zero());
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  const int found = ppoll(open.data(), open.size(), &time, &stop_signals_.before());
  if (found < 0 && errno != EINTR) throw RunError(std::string("waiting for processes: ") + std::strerror(errno));
  if (found < 0) return std::nullopt;
  const auto own = open.begin() + static_cast<std::ptrdiff_t>(running_.size());
  if (others) others->assign(own, open.end());
  const auto ended = std::find_if(open.begin(), own, [](const pollfd& p) { return p.revents != 0; });
  const auto seconds = [](const Running& r) { return std::chrono::duration<double>(Clock::now() - r.begun).count(); };
  if (ended == own) {
    for (const auto& r : running_) {
      if (timeout_s_ <= 0 || r->late || seconds(*r) < timeout_s_) continue;
      r->late = true;
      kill(r->pid, SIGKILL);
    }
    return std::nullopt;
  }
  const auto it = running_.begin() + (ended - open.begin());
  const std::unique_ptr<Running> r = std::move(*it);
  running_.erase(it);
  const int status = exit_status(wait_for_child(r->pid));
  Ended e{r->id, r->late && status == 128 + SIGKILL ? kTookTooLong : status, "", "", seconds(*r)};
  try {
    e.out = r->out.text();
    e.err = r->err.text();
  } catch (const std::bad_alloc&) {  // only this process lacks memory; the waiting parent gets the status
    e.status = 1;
    e.out.clear();
    e.err = kOutOfMemory;
  }
  logging::debug(logging::Room::study, [&] {
    return "child " + std::to_string(r->pid) + " has ended with " + std::to_string(e.status) + " after " +
           std::to_string(e.wall_s) + " s";
  });
  return e;
}

void run_in_order(size_t count, size_t jobs, const std::function<int(size_t)>& work,
                  const std::function<void(const ChildPool::Ended&)>& done) {
  ChildPool pool;
  std::map<size_t, ChildPool::Ended> ended;  // not reported yet, because an earlier one still runs
  size_t told = 0;
  for (size_t next = 0; told < count;) {
    for (; next < count && pool.size() < jobs; ++next) pool.start(next, [&] { return work(next); });
    if (auto e = pool.wait(std::chrono::hours(1))) ended.emplace(e->id, std::move(*e));
    if (const int signal = StopSignals::take())
      throw Stopped(signal, {stopped_by(signal) + ", and its processes with it"});
    for (auto it = ended.begin(); it != ended.end() && it->first == told; it = ended.erase(it), ++told)
      done(it->second);
  }
}

}  // namespace kernbench
