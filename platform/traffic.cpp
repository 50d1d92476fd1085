#include "kernbench/platform/traffic.h"

#include <algorithm>

#include "kernbench/platform/errors.h"
#include "kernbench/platform/platform.h"

namespace kernbench {

namespace {

/// Issues the requests at their times, in the order of (time, input).
class TrafficDriver {
 public:
  TrafficDriver(Platform& platform, const std::vector<TrafficRequest>& requests, std::vector<TrafficAccount>* accounts)
      : platform_(platform), requests_(requests), results_(requests.size()) {
    issued_.reserve(requests.size());  // each is known by where it is
    if (accounts) {
      accounts->resize(requests.size());
      accounts_ = accounts->data();
    }
    const auto issue_fs = [](const TrafficRequest& r) { return Timeline::to_fs(r.issue_ns); };
    const auto later = [&](const TrafficRequest& a, const TrafficRequest& b) { return issue_fs(a) > issue_fs(b); };
    if (std::adjacent_find(requests.begin(), requests.end(), later) != requests.end()) {
      by_time_.reserve(requests.size());
      for (size_t i = 0; i < requests.size(); ++i) by_time_.emplace_back(issue_fs(requests[i]), i);
      std::sort(by_time_.begin(), by_time_.end());
    }
    schedule();
  }

  std::vector<TrafficResult> take_results() { return std::move(results_); }
  size_t unfinished() const { return requests_.size() - finished_; }

 private:
  /// The request that is issued as the nth.
  size_t nth(size_t n) const { return by_time_.empty() ? n : by_time_[n].second; }

  void schedule() {
    if (next_ == requests_.size()) return;
    // After whatever else happens inside initiators at that instant.
    platform_.timeline().at(requests_[nth(next_)].issue_ns, Order(Order::kEngines, ~0u, 0), &TrafficDriver::issue,
                            this);
  }

  static void issue(void* self, void*) {
    auto& me = *static_cast<TrafficDriver*>(self);
    const uint64_t now = Timeline::to_fs(me.requests_[me.nth(me.next_)].issue_ns);
    for (; me.next_ < me.requests_.size(); ++me.next_) {
      const size_t i = me.nth(me.next_);
      const TrafficRequest& r = me.requests_[i];
      if (Timeline::to_fs(r.issue_ns) != now) break;
      me.issued_.push_back({r.write, r.address, r.nbytes, r.issue_ns, &TrafficDriver::done, &me});
      me.platform_.request_port(r.initiator)->request(me.issued_.back());
    }
    me.schedule();
  }

  static void done(MemoryRequest& request, const FabricTransaction& x) {
    auto& me = *static_cast<TrafficDriver*>(request.context);
    const size_t i = me.nth(static_cast<size_t>(&request - me.issued_.data()));
    me.results_[i] = {x.grant_ns, x.done_ns,
                      formula_ns(me.platform_.fabric(), *x.route, x.write, x.address, x.nbytes, x.rows)};
    if (me.accounts_) {
      me.accounts_[i] = {x.grant_ns - x.issue_ns, x.overhead_ns,   x.wire_ns,        x.drain_ns,
                         x.store_forward_ns,      x.link_queue_ns, x.memory_queue_ns};
    }
    ++me.finished_;
  }

  Platform& platform_;
  const std::vector<TrafficRequest>& requests_;
  std::vector<MemoryRequest> issued_;  // in the order of issue
  std::vector<TrafficResult> results_;
  TrafficAccount* accounts_ = nullptr;                // where they are asked for
  std::vector<std::pair<uint64_t, size_t>> by_time_;  // issue in fs, request; empty if they are in that order
  size_t next_ = 0;
  size_t finished_ = 0;
};

}  // namespace

std::vector<TrafficResult> run_traffic(Platform& platform, const std::vector<TrafficRequest>& requests,
                                       std::vector<TrafficAccount>* accounts) {
  // These are all the requests there will be.
  for (const TrafficRequest& r : requests) platform.route(r.initiator, r.address, r.nbytes, r.write);
  platform.timeline().run_ahead();
  platform.close_routes();
  TrafficDriver driver(platform, requests, accounts);
  sc_core::sc_start();
  if (driver.unfinished() > 0) {
    throw RunError(std::to_string(driver.unfinished()) + " of " + std::to_string(requests.size()) +
                   " requests never completed");
  }
  return driver.take_results();
}

}  // namespace kernbench
