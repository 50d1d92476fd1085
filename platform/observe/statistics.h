// SPDX-License-Identifier: Apache-2.0
// Counters of all blocks by object, for a user's tables and plots, and for sampling tools.
//
//   kernbench::Statistics statistics(platform);                        // counts from here on
//   run_kernel(platform, std::move(options));
//   const auto all = statistics.snapshot();
//   double busy = all.value("sip0.cube0.pe0.pe_gemm", "busy_ns") / all.duration_ns();
//   double bytes = all.sum("sip0.cube0.hbm*", "read_bytes");
//
// docs/statistics.md lists the counters.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_observer.h"
#include "kernbench/systemc_models/pe/observer.h"

namespace kernbench {
class Platform;
}
namespace kernbench::pe {
class EngineRole;
}

namespace kernbench::observe {

/// Counters between begin_ns() and end_ns(). Independent of the platform.
class StatisticsSnapshot {
 public:
  struct Counter {
    std::string object;  ///< a node's id, "sip0.cube0.pe0.pe_gemm", or a link, "FROM->TO"
    std::string name;    ///< "busy_ns"; with unit, except for plain counts
  };

  double begin_ns() const { return begin_ns_; }
  double end_ns() const { return end_ns_; }
  double duration_ns() const { return end_ns_ - begin_ns_; }
  /// All counters, object by object in compiled order, links last; values() has the same order.
  const std::vector<Counter>& counters() const { return *counters_; }
  const std::vector<double>& values() const { return values_; }
  /// InputError if there is no such counter.
  double value(const std::string& object, const std::string& counter) const;
  /// Sum over all objects whose id matches a shell pattern. InputError if none has such a counter.
  double sum(const std::string& object_glob, const std::string& counter) const;
  /// "object,counter,value", and a line for each nonzero counter.
  std::string csv() const;

 private:
  friend class Statistics;
  std::shared_ptr<const std::vector<Counter>> counters_;
  std::vector<double> values_;
  double begin_ns_ = 0, end_ns_ = 0;
};

/// Observes a platform during its lifetime; any number of them, beside waveforms and traces.
class Statistics : public PeObserver, public FabricObserver {
 public:
  using Counter = StatisticsSnapshot::Counter;

  /// Counts from now on. Not inside a callback of an observer: call it from sc_main, or a process of the user. Must not
  /// outlive the platform.
  explicit Statistics(Platform&);
  ~Statistics() override;
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  /// From the last reset() (or construction) to the present, without reservations beyond it.
  StatisticsSnapshot snapshot();
  /// From the last interval() or reset() to the present; the next interval starts here.
  StatisticsSnapshot interval();
  /// Restarts all counters at 0.
  void reset();
  /// Calls back with interval() at the end of each period, from the present on; null: stop. Like a clock it never ends:
  /// sc_start() without a time returns only when a run pauses it.
  void every(const sc_core::sc_time& period, std::function<void(const StatisticsSnapshot&)> call);

  void server_changed(const Pe&, Stage, unsigned server, Activity, const PeItem*, uint64_t op_id, double t) override;
  void kernel_changed(const Pe&, KernelActivity, double t) override;
  void link_crossed(const FabricTransaction&, const Link&, const LinkCrossing&) override;
  void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double t) override;
  void access_started(const Component&, const FabricTransaction&, double t) override;
  void access_done(const Component&, const FabricTransaction&, double t) override;

 private:
  class Totals;
  struct Period;
  using Variable = uint32_t;
  static constexpr Variable kNone = ~0u;
  // Reads and writes: [0] and [1].
  struct Memory {
    Variable requests[2], bytes[2], busy, queue;
  };
  struct Initiator {
    Variable accesses[2], bytes[2], latency[2];
  };
  struct LinkCounters {
    Variable messages, bytes, busy, wait;
  };
  /// Counters that a stage keeps from the start of the simulation.
  struct Engine {
    const EngineRole* engine;
    size_t stage;  ///< index in its statistics()
    Variable ops, bytes, flops;
  };
  /// Counters that a memory keeps from the start of the simulation.
  struct OwnCounts {
    const MemoryTarget* memory;
    Variable first;  ///< the others follow it
  };
  struct Unit {
    Variable busy = kNone;
    std::vector<bool> serves;  ///< by server
  };
  struct PeCounters {
    Unit units[kMostStages];
    Variable runs = kNone, waits = kNone;
  };

  enum class Kind : unsigned char;
  Variable add(const std::string& object, const std::string& name, Kind);
  void add_pe(size_t pe);
  void add_node(uint32_t node);
  void add_links();
  void present();
  /// All counters, up to now.
  std::vector<double> now();
  StatisticsSnapshot since(const std::vector<double>& base, double begin_ns, std::vector<double> now) const;

  Platform& platform_;
  std::shared_ptr<std::vector<Counter>> counters_;
  std::unique_ptr<Totals> totals_;
  std::shared_ptr<Period> period_;                    // shared with its process, which may run once more
  std::vector<PeCounters> pes_;                       // by PE
  std::vector<std::optional<Memory>> memories_;       // by node
  std::vector<std::optional<Initiator>> initiators_;  // by node
  std::vector<std::optional<LinkCounters>> links_;    // by edge
  std::vector<Engine> engines_;
  std::vector<OwnCounts> own_counts_;
  std::vector<double> reset_, interval_;  // values at the last reset() and interval()
  double reset_ns_ = 0, interval_ns_ = 0;
};

}  // namespace kernbench::observe
