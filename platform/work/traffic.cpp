// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/elaborate/stopped.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/reduction.h"

namespace kernbench::work {

namespace {

Reduction reduction_of(Machine& machine, const std::vector<TrafficRequest>& requests,
                       const std::vector<uint32_t>& sources) {
  std::vector<uint32_t> initiators;
  for (const uint32_t i : sources) initiators.push_back(requests[i].initiator);
  const TrafficRequest& first = requests[sources.front()];
  return {machine.system(), initiators, first.address, first.nbytes, {}};
}

/// Issues the requests at their times, in the order of (time, input). The initiator gets only the first request that
/// waits for a channel; the others are a linked list of numbers.
class TrafficDriver {
 public:
  static constexpr uint32_t kMostRequests = ~0u;
  TrafficDriver(Platform& platform, const std::vector<TrafficRequest>& requests, std::vector<TrafficAccount>* accounts,
                const TrafficGroups& groups)
      : platform_(platform),
        requests_(requests),
        results_(requests.size()),
        behind_(requests.size(), kNone),
        lines_(RequestPort::kMostLines * platform.graph().nodes.size()) {
    if (accounts) {
      accounts->resize(requests.size());
      accounts_ = accounts->data();
    }
    for (const auto& [name, sources] : groups) {
      groups_.emplace_back(name, reduction_of(platform.machine(), requests, sources));
      for (const uint32_t i : sources) group_of_[i] = &groups_.back().second;
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
  /// A line such as "reduction g3: not granted: sip0.pcie_ep" for each reduction that waits for sources.
  std::vector<std::string> waiting_groups() const {
    std::vector<std::string> lines;
    for (const auto& [name, reduction] : groups_) {
      const std::string missing = reduction.missing();
      if (!missing.empty()) lines.push_back("reduction " + name + ": not granted: " + missing);
    }
    return lines;
  }

 private:
  static constexpr uint32_t kNone = kMostRequests;  ///< no request
  struct Line {                                     // requests that wait for one channel
    uint32_t last = kNone;                          ///< the last waiting request
    bool waits = false;                             ///< the initiator has one waiting request; the others follow it
  };
  struct alignas(64) Slot {  // a request at an initiator; in two cache lines, without its rows
    MemoryRequest request;
    TrafficDriver* driver = nullptr;
    Line* line = nullptr;
    uint32_t index = 0;  ///< of the request
    Rows rows;           ///< only for requests other than plain reads and writes
  };

  /// The n-th issued request.
  size_t nth(size_t n) const { return by_time_.empty() ? n : by_time_[n].second; }

  Line& line_of(const TrafficRequest& r, RequestPort& port) {
    return lines_[RequestPort::kMostLines * size_t{r.initiator} + port.line_of(r.write)];
  }

  void schedule() {
    if (next_ == requests_.size()) return;
    // After all other activity of initiators at that instant.
    platform_.timeline().at(requests_[nth(next_)].issue_ns, Order(Order::kEngines, ~0u, 0),
                            call<&TrafficDriver::issue>(*this));
  }

  void issue() {
    const uint64_t now = Timeline::to_fs(requests_[nth(next_)].issue_ns);
    for (; next_ < requests_.size(); ++next_) {
      const auto i = static_cast<uint32_t>(nth(next_));
      const TrafficRequest& r = requests_[i];
      if (Timeline::to_fs(r.issue_ns) != now) break;
      RequestPort& port = *platform_.request_port(r.initiator);
      Line& line = line_of(r, port);
      if (line.waits) behind_[line.last] = i;
      line.last = i;
      if (std::exchange(line.waits, true)) continue;
      port.request(slot_for(i, line));
    }
    schedule();
  }

  MemoryRequest& slot_for(uint32_t i, Line& line) {
    if (idle_.empty()) {
      slots_.emplace_back();
      idle_.push_back(&slots_.back());
    }
    Slot& s = *idle_.back();
    idle_.pop_back();
    const TrafficRequest& r = requests_[i];
    s.request.write = r.write;
    s.request.address = r.address;
    s.request.nbytes = r.nbytes;
    s.request.issue_ns = r.issue_ns;
    s.request.rows = nullptr;
    s.request.multicast = r.multicast.get();
    const auto group = group_of_.empty() ? group_of_.end() : group_of_.find(i);
    s.request.reduction = group == group_of_.end() ? nullptr : group->second;
    if (r.atomic != AtomicKind::none || r.posted) {
      s.rows = {1, r.nbytes, 0};
      s.rows.atomic = r.atomic;
      s.rows.posted = r.posted;
      s.request.rows = &s.rows;
    }
    s.request.done = &TrafficDriver::done;
    s.request.context = &s;
    s.request.next_in_line = &TrafficDriver::next_in_line;
    s.driver = this;
    s.line = &line;
    s.index = i;
    return s.request;
  }

  static MemoryRequest* next_in_line(MemoryRequest& request) {
    const Slot& s = *static_cast<Slot*>(request.context);
    TrafficDriver& me = *s.driver;
    const uint32_t next = me.behind_[s.index];
    if (next != kNone) return &me.slot_for(next, *s.line);
    s.line->waits = false;
    return nullptr;
  }

  static void done(MemoryRequest& request, const FabricTransaction& x) {
    Slot& s = *static_cast<Slot*>(request.context);
    TrafficDriver& me = *s.driver;
    System& system = me.platform_.system();
    const MulticastTo* to = me.requests_[s.index].multicast.get();
    TrafficResult& result = me.results_[s.index];
    result.grant_ns = x.grant_ns;
    result.done_ns = x.done_ns;
    if (!x.reduction)
      result.formula_ns = to ? Multicast::formula_ns(system, me.requests_[s.index].initiator, *to, x.nbytes, x.rows)
                             : system.mode().formula_ns(*x.route, x.write, x.address, x.nbytes, x.rows);
    if (me.accounts_) {
      me.accounts_[s.index] = {x.grant_ns - x.issue_ns, x.overhead_ns,   x.wire_ns,        x.drain_ns,
                               x.store_forward_ns,      x.link_queue_ns, x.memory_queue_ns};
    }
    me.idle_.push_back(&s);
    ++me.finished_;
  }

  Platform& platform_;
  const std::vector<TrafficRequest>& requests_;
  std::vector<TrafficResult> results_;
  TrafficAccount* accounts_ = nullptr;  // null unless requested
  std::deque<Slot> slots_;
  std::vector<Slot*> idle_;
  std::vector<uint32_t> behind_;                          // by request: the next of its line
  std::vector<Line> lines_;                               // by initiator and line
  std::vector<std::pair<uint64_t, size_t>> by_time_;      // issue time in fs, request; empty if the input is sorted
  std::deque<std::pair<std::string, Reduction>> groups_;  // reductions on the way, by name
  std::unordered_map<uint32_t, Reduction*> group_of_;     // by request
  size_t next_ = 0;
  size_t finished_ = 0;
};

/// Latencies of the groups' sources, in the order of the groups. A forked process simulates each group alone, with all
/// its sources at one instant.
std::vector<double> times_alone(Platform& platform, const std::vector<TrafficRequest>& requests,
                                const TrafficGroups& groups) {
  std::vector<double> times;
  const auto play = [&](size_t) {
    silence_open_files();
    constexpr double kApartNs = 1e7;
    std::vector<TrafficRequest> alone;
    TrafficGroups numbers;
    for (const auto& [name, sources] : groups) {
      for (const uint32_t i : sources) {
        numbers[name].push_back(static_cast<uint32_t>(alone.size()));
        alone.push_back(requests[i]);
        alone.back().issue_ns = kApartNs * static_cast<double>(numbers.size() - 1);
      }
    }
    TrafficDriver driver(platform, alone, nullptr, numbers);
    simulate();
    throw_if_stopped(platform.machine());
    if (driver.unfinished() > 0) throw RunError("a reduction without other traffic does not complete");
    std::string text;
    for (const TrafficResult& r : driver.take_results()) text += fmt::format("{} ", r.done_ns - r.grant_ns);
    return text;
  };
  run_forked(1, 1, play, [&](size_t, const std::string& text) {
    TextInput in(text);
    for (double ns = 0; in >> ns;) times.push_back(ns);
  });
  return times;
}

}  // namespace

void check_destinations(Machine& machine, uint32_t initiator, const MulticastTo& to, uint64_t nbytes) {
  check_multicast(machine.system(), initiator, to, nbytes);
}

void check_group(Machine& machine, const std::vector<TrafficRequest>& requests, const std::vector<uint32_t>& sources) {
  reduction_of(machine, requests, sources);
}

std::vector<TrafficResult> run_traffic(Platform& platform, const std::vector<TrafficRequest>& requests,
                                       std::vector<TrafficAccount>* accounts, const TrafficGroups& groups) {
  // There will be no other requests, so routes can be closed.
  for (const TrafficRequest& r : requests) {
    platform.routes().route(r.initiator, r.address, r.nbytes, r.write && r.atomic == AtomicKind::none);
    if (!r.multicast) continue;
    for (const uint64_t address : r.multicast->addresses) platform.routes().route(r.initiator, address, r.nbytes, true);
  }
  platform.machine().run_ahead();
  platform.routes().close();
  if (requests.size() >= TrafficDriver::kMostRequests) throw RunError("more than 4,294,967,294 requests");
  const std::vector<double> alone = groups.empty() ? std::vector<double>{} : times_alone(platform, requests, groups);
  TrafficDriver driver(platform, requests, accounts, groups);
  simulate();
  throw_if_stopped(platform.machine());
  if (driver.unfinished() > 0) {
    std::vector<std::string> lines{
        fmt::format("{} of {} requests never completed", driver.unfinished(), requests.size())};
    for (const std::string& line : driver.waiting_groups()) lines.push_back("  " + line);
    for (const std::string& line : stuck_report(platform.machine())) lines.push_back("  " + line);
    throw RunError(std::move(lines));
  }
  std::vector<TrafficResult> results = driver.take_results();
  size_t next = 0;
  for (const auto& [name, sources] : groups) {
    for (const uint32_t i : sources) results[i].formula_ns = alone.at(next++);
  }
  return results;
}

}  // namespace kernbench::work
