#include "kernbench/platform/sweep/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/sweep/point_run.h"
#include "kernbench/platform/sweep/request.h"
#include "kernbench/platform/sweep/store.h"
#include "kernbench/platform/sweep/workers.h"
#include "kernbench/platform/tools/line_input.h"
#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::sweep {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;
constexpr size_t kMostUnread = 65536;                      // bytes of answers beyond which no request is read
constexpr auto kAskAgain = std::chrono::milliseconds(50);  // whether another process has done a point

class Server {
 public:
  Server(const ServeOptions& o, int in, int out, const ServeHooks& hooks)
      : o_(o),
        hooks_(hooks),
        jobs_(processes(o.jobs)),
        in_(in, kLongestLine),
        out_(out),
        workers_(hooks.work, o.timeout_s, true) {
    if (o.base.empty() || o.base[0] != "run")
      throw InputError("serve: found " + in_quotes(o.base.empty() ? "" : o.base[0]) +
                       ", expected run with its options");
    if (!o.store.empty()) store_ = std::make_unique<Store>(o.store, o.version);
  }

  void run() {
    unsent_ = greeting(o_.version);
    while (!read_by_nobody_) {
      start_some();
      while (take_lines()) start_some();
      if (all_read() && waiting_.empty() && workers_.size() == 0 && unsent_.empty()) break;
      std::vector<pollfd> ends = {{out_, static_cast<short>(unsent_.empty() ? 0 : POLLOUT), 0},
                                  {has_room() && !all_read() ? in_.fd() : -1, POLLIN, 0}};
      const auto ended = workers_.wait(waiting_.empty() ? std::chrono::seconds(60) : patience(), &ends);
      if (const int signal = StopSignals::take()) on_signal(signal);
      if (ended) take(*ended);
      if ((ends[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return;
      if ((ends[0].revents & POLLOUT) != 0) send_some();
      if (ends[1].revents != 0) in_.read();
    }
    if (stopping_) throw Stopped(stopping_, {stopped_by(stopping_) + ": the points at work are answered"});
  }

 private:
  struct Asked {
    std::string id;
    Words words;
    std::string key;  // of the store
  };

  bool all_read() const { return stopping_ || in_.ended(); }
  /// Where requests wait, or answers, more are left in the pipe: whoever writes them is held up.
  bool has_room() const { return waiting_.size() < jobs_ && unsent_.size() < kMostUnread; }
  std::chrono::milliseconds patience() const {
    return workers_.size() < jobs_ ? kAskAgain : std::chrono::milliseconds(60'000);
  }

  /// Whether there was one.
  bool take_lines() {
    const size_t before = lines_;
    while (!stopping_ && has_room()) {
      const auto line = in_.next();
      if (!line) break;
      ++lines_;
      take_line(*line);
    }
    return lines_ > before;
  }

  void take_line(const LineInput::Line& line) {
    const auto refuse = [&](const std::string& id, const std::string& fault) {
      unsent_ += refusal(id, fmt::format("line {}: {}", lines_, fault));
    };
    if (line.too_long) return refuse("null", fmt::format("more than {} bytes", kLongestLine));
    PointRequest r = parse_request(line.text, o_.base);
    if (!r.fault.empty()) return refuse(under_way_.count(r.id) ? "null" : r.id, r.fault);
    // Its answer could be taken for the other's.
    if (!under_way_.insert(r.id).second) return refuse("null", "id " + r.id + " is under way already");
    Asked asked{std::move(r.id), std::move(r.words), ""};
    try {
      // Files may be others by the next request.
      if (store_) asked.key = PointKeys(o_.version, hooks_.find_file).key(asked.words);
      waiting_.push_back(std::move(asked));
    } catch (const InputError& e) {
      finish(asked, {2, e.what(), nullptr, 0}, false);
    } catch (const topology::TopologyError& e) {
      finish(asked, {2, e.faults().front().to_string(), nullptr, 0}, false);
    }
  }

  void start_some() {
    for (size_t n = waiting_.size(); n > 0 && workers_.size() < jobs_ && !stopping_; --n) {
      Asked asked = std::move(waiting_.front());
      waiting_.pop_front();
      if (store_ && !claim(asked)) continue;
      const size_t number = ++started_;
      try {
        workers_.start(number, worker_words(asked.words, jobs_));
      } catch (const RunError& e) {
        finish(asked, {1, e.what(), nullptr, 0}, false);
        continue;
      }
      at_work_.emplace(number, std::move(asked));
    }
  }

  /// Whether the point is to be simulated now. Else it is answered, or waits for who is at it.
  bool claim(Asked& asked) {
    Store::Claim claim = Store::Claim::others;
    if (keys_at_work_.count(asked.key) == 0) claim = store_->claim(asked.key, command_text(asked.words));
    if (claim == Store::Claim::others) {
      waiting_.push_back(std::move(asked));
      return false;
    }
    if (claim == Store::Claim::done) {
      finish(asked, *store_->find(asked.key, true), true);
      return false;
    }
    keys_at_work_.insert(asked.key);
    return true;
  }

  void take(const Workers::Ended& e) {
    const auto it = at_work_.find(e.id);
    if (it == at_work_.end()) return;  // answered when it could not be started wholly
    const Asked asked = std::move(it->second);
    at_work_.erase(it);
    keys_at_work_.erase(asked.key);
    const PointResult r = result_of(e, o_.timeout_s, true);
    if (store_) store_->put(asked.key, r);
    finish(asked, r, false);
  }

  void finish(const Asked& asked, const PointResult& r, bool stored) {
    under_way_.erase(asked.id);
    unsent_ += answer(asked.id, r, stored);
  }

  /// So much as surely does not block.
  void send_some() {
    const ssize_t n = write(out_, unsent_.data(), std::min<size_t>(unsent_.size(), PIPE_BUF));
    if (n < 0 && errno == EPIPE) read_by_nobody_ = true;
    if (n < 0 && errno != EPIPE && errno != EINTR && errno != EAGAIN)
      throw RunError(std::string("stdout cannot be written: ") + std::strerror(errno));
    if (n > 0) unsent_.erase(0, static_cast<size_t>(n));
  }

  void on_signal(int signal) {
    if (stopping_ || (signal != SIGINT && signal != SIGTERM)) throw Stopped(signal, {stopped_by(signal)});
    stopping_ = signal;
    waiting_.clear();
  }

  const ServeOptions& o_;
  const ServeHooks& hooks_;
  const size_t jobs_;
  LineInput in_;
  const int out_;
  std::unique_ptr<Store> store_;
  size_t lines_ = 0, started_ = 0;
  std::deque<Asked> waiting_;
  std::map<size_t, Asked> at_work_;
  std::set<std::string> under_way_;     // ids that are not answered yet
  std::set<std::string> keys_at_work_;  // of the store
  std::string unsent_;                  // answers
  bool read_by_nobody_ = false;
  int stopping_ = 0;  // the signal
  Workers workers_;
};

}  // namespace

void serve(const ServeOptions& options, int in, int out, const ServeHooks& hooks) {
  signal(SIGPIPE, SIG_IGN);  // write() says it
  Server(options, in, out, hooks).run();
}

}  // namespace kernbench::sweep
