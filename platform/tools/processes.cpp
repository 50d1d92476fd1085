#include "kernbench/platform/tools/processes.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <new>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/tools/child_process.h"
#include "kernbench/platform/tools/stop_signals.h"

namespace kernbench {
namespace {

struct Running {
  explicit Running(size_t i) : index(i) {}
  size_t index;
  StartedProgram process;
  MemoryFile out{"stdout"}, err{"stderr"};
};

/// The processes that run; those that are left when it goes away are ended.
class Pool {
 public:
  ~Pool() {
    end_all(SIGTERM);
    bool ended = false;
    try {
      ended = wait_for_all(kPatience);
    } catch (const std::bad_alloc&) {  // no patience without memory
    }
    if (!ended) end_all(SIGKILL);
    for (const auto& r : running_) {
      waitpid(r->process.pid, nullptr, 0);
      close(r->process.pidfd);
    }
  }
  size_t size() const { return running_.size(); }
  void start(const std::string& program, const std::vector<std::string>& arguments, size_t index);
  /// Stopped where a signal that ends this process comes first.
  std::pair<size_t, ProcessResult> wait_for_one();

 private:
  static constexpr auto kPatience = std::chrono::seconds(2);
  std::vector<pollfd> pidfds() const {
    std::vector<pollfd> v;
    for (const auto& r : running_) v.push_back({r->process.pidfd, POLLIN, 0});
    return v;
  }
  void end_all(int signal) const {
    for (const auto& r : running_) kill(r->process.pid, signal);
  }
  /// Whether all have ended within that time.
  bool wait_for_all(std::chrono::milliseconds patience) const;

  const ChildStatuses told_;
  const StopSignals stop_signals_;
  std::vector<std::unique_ptr<Running>> running_;
};

void Pool::start(const std::string& program, const std::vector<std::string>& arguments, size_t index) {
  auto r = std::make_unique<Running>(index);
  r->process = start_program(program, arguments, r->out.fd(), r->err.fd(), stop_signals_.before());
  running_.push_back(std::move(r));
}

bool Pool::wait_for_all(std::chrono::milliseconds patience) const {
  using Clock = std::chrono::steady_clock;
  std::vector<pollfd> open = pidfds();
  for (const auto until = Clock::now() + patience; !open.empty();) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return false;
    if (poll(open.data(), open.size(), static_cast<int>(left.count())) < 0) return false;
    open.erase(std::remove_if(open.begin(), open.end(), [](const pollfd& p) { return p.revents != 0; }), open.end());
  }
  return true;
}

std::pair<size_t, ProcessResult> Pool::wait_for_one() {
  std::vector<pollfd> open = pidfds();
  while (ppoll(open.data(), open.size(), nullptr, &stop_signals_.before()) < 0) {
    if (errno != EINTR) throw RunError(std::string("waiting for processes: ") + std::strerror(errno));
    if (const int signal = StopSignals::take())
      throw Stopped(signal, {stopped_by(signal) + ", and its processes with it"});
  }
  const auto ended = std::find_if(open.begin(), open.end(), [](const pollfd& p) { return p.revents != 0; });
  const auto it = running_.begin() + (ended - open.begin());
  const Running& r = **it;
  const int status = wait_for_child(r.process.pid);
  close(r.process.pidfd);
  std::pair<size_t, ProcessResult> result{r.index, {exit_status(status), r.out.text(), r.err.text()}};
  running_.erase(it);
  return result;
}

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
