// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <map>
#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/entry/topology_places.h"
#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/run/child/line_input.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/study/sweep/point_key.h"
#include "kernbench/platform/study/sweep/point_queue.h"
#include "kernbench/platform/study/sweep/request.h"
#include "kernbench/platform/study/sweep/store.h"
#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::sweep {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;
constexpr size_t kMostUnread = 65536;  // bytes of unsent answers; above it no request is read

class Server {
 public:
  Server(const ServeOptions& o, int in, int out)
      : o_(o),
        jobs_(processes(o.jobs)),
        in_(in, kLongestLine),
        out_(out),
        store_(o.store.empty() ? nullptr : std::make_unique<Store>(o.store, o.version)),
        queue_(queue_options()) {}

  void run() {
    unsent_ = greeting(o_.version);
    while (!read_by_nobody_) {
      start_some();
      while (take_lines()) start_some();
      if (all_read() && !queue_.busy() && unsent_.empty()) break;
      std::vector<pollfd> ends = {{out_, static_cast<short>(unsent_.empty() ? 0 : POLLOUT), 0},
                                  {has_room() && !all_read() ? in_.fd() : -1, POLLIN, 0}};
      const auto ended = queue_.wait(std::chrono::seconds(60), &ends);
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
    std::string key;  // in the store
  };

  bool all_read() const { return stopping_ || in_.ended(); }
  /// While requests or answers wait, input stays in the pipe, so that its writer blocks.
  bool has_room() const { return queue_.waiting() < jobs_ && unsent_.size() < kMostUnread; }

  PointQueue::Options queue_options() {
    PointQueue::Options o;
    o.jobs = jobs_;
    o.timeout_s = o_.timeout_s;
    o.spared = true;
    o.store = store_.get();
    o.words = [this](size_t number) { return asked_.at(number).words; };
    o.key = [this](size_t number) { return asked_.at(number).key; };
    return o;
  }

  /// Whether there was a line.
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
    // An equal id would make the answers ambiguous.
    if (!under_way_.insert(r.id).second) return refuse("null", "id " + r.id + " is under way already");
    Asked asked{std::move(r.id), std::move(r.words), ""};
    try {
      // Files may change before the next request.
      if (store_) asked.key = PointKeys(o_.version, point_file).key(asked.words);
    } catch (const InputError& e) {
      return finish(asked, {2, e.what(), nullptr, 0}, false);
    } catch (const topology::TopologyError& e) {
      return finish(asked, {2, e.faults().front().to_string(), nullptr, 0}, false);
    }
    queue_.add(lines_);
    asked_.emplace(lines_, std::move(asked));
  }

  void start_some() {
    for (const PointQueue::Done& done : queue_.start_some()) take(done);
  }

  void take(const PointQueue::Done& done) {
    const auto it = asked_.find(done.id);
    finish(it->second, done.result, done.how == PointQueue::Done::How::stored);
    asked_.erase(it);
  }

  void finish(const Asked& asked, const PointResult& r, bool stored) {
    under_way_.erase(asked.id);
    unsent_ += answer(asked.id, r, stored);
  }

  /// Writes as much as cannot block.
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
    queue_.stop();
  }

  const ServeOptions& o_;
  const size_t jobs_;
  LineInput in_;
  const int out_;
  std::unique_ptr<Store> store_;
  size_t lines_ = 0;
  std::map<size_t, Asked> asked_;    // queued requests, by line
  std::set<std::string> under_way_;  // ids without an answer yet
  std::string unsent_;               // answers
  bool read_by_nobody_ = false;
  int stopping_ = 0;  // the signal
  PointQueue queue_;
};

}  // namespace

void serve(const ServeOptions& options, int in, int out) {
  if (options.base.empty() || !spec::is_run(options.base[0]))
    throw InputError("serve: found " + in_quotes(options.base.empty() ? "" : options.base[0]) +
                     ", expected run or model with its options");
  signal(SIGPIPE, SIG_IGN);  // write() reports the error
  Server(options, in, out).run();
}

}  // namespace kernbench::sweep
