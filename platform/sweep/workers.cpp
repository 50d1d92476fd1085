#include "kernbench/platform/sweep/workers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::sweep {

unsigned processes(unsigned jobs) {
  return jobs > 0 ? jobs : std::max(1u, std::thread::hardware_concurrency());
}

struct Workers::Running {
  size_t id = 0;
  pid_t pid = 0;
  int pidfd = -1;  // readable once it has ended
  Clock::time_point begun;
  bool late = false;
  MemoryFile out{"stdout"}, err{"stderr"};
  ~Running() {
    if (pidfd >= 0) close(pidfd);
  }
};

Workers::Workers(std::function<int(const Words&)> work, double timeout_s, bool spared)
    : work_(std::move(work)), timeout_s_(timeout_s), spared_(spared) {}

Workers::~Workers() {
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

void Workers::signal_all(int number) const {
  for (const auto& r : running_) kill(r->pid, number);
}

/// In the copy, out of which nothing is thrown: the original goes on where it was called from.
void Workers::become(const Running& r, const Words& words) const noexcept {
  if (!redirect_standard_files(r.out.fd(), r.err.fd())) _exit(1);
  if (spared_) signal(SIGINT, SIG_IGN);
  sigprocmask(SIG_SETMASK, &stop_signals_.before(), nullptr);
  unsetenv("KERNBENCH_PROGRESS");  // the sweep's own
  const int status = work_(words);
  std::cout.flush();
  std::fflush(nullptr);
  _exit(status);  // nothing of the original's is to be taken apart
}

void Workers::start(size_t id, const Words& words) {
  auto r = std::make_unique<Running>();
  r->id = id;
  running_.reserve(running_.size() + 1);
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  r->begun = Clock::now();
  r->pid = fork_child();
  if (r->pid == 0) become(*r, words);
  r->pidfd = open_pidfd(r->pid);
  running_.push_back(std::move(r));
}

std::optional<Workers::Ended> Workers::wait(std::chrono::milliseconds patience, std::vector<pollfd>* others) {
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
  if (ended == own) {
    for (const auto& r : running_) {
      if (timeout_s_ <= 0 || r->late || std::chrono::duration<double>(Clock::now() - r->begun).count() < timeout_s_)
        continue;
      r->late = true;
      kill(r->pid, SIGKILL);
    }
    return std::nullopt;
  }
  const auto it = running_.begin() + (ended - open.begin());
  const int status = exit_status(wait_for_child((*it)->pid));
  const Running& r = **it;
  Ended e{r.id, r.late && status == 128 + SIGKILL ? kTookTooLong : status, r.out.text(), r.err.text()};
  running_.erase(it);
  return e;
}

}  // namespace kernbench::sweep
