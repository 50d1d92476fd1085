// SPDX-License-Identifier: Apache-2.0
// The activity of every server of every PE, and the traffic of each link and memory over time, for the plots of a run's
// report (html_report.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_observer.h"
#include "kernbench/systemc_models/pe/observer.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench {

namespace insight {

/// Amounts over time in equal bins. When the run exceeds them, bins double their width. So the length need not be known
/// in advance, and sums stay exact.
class TimeBins {
 public:
  static constexpr size_t kMost = 256;
  /// Returns the number of the new series.
  size_t add_series() {
    series_.emplace_back();
    return series_.size() - 1;
  }
  /// Spreads an amount evenly over [from, to) ns from the begin; an empty interval is an instant.
  void add(size_t series, double from, double to, double amount);
  /// Widens the bins until they cover this many ns.
  void cover(double ns);
  double width_ns() const { return width_ns_; }
  /// Up to the last nonzero bin; a series without amounts is empty.
  const std::vector<double>& of(size_t series) const { return series_[series]; }

 private:
  std::vector<std::vector<double>> series_;
  double width_ns_ = 1.0 / 64;
};

/// Watches a platform for one run. Times in ns from its begin.
class TimelineRecorder : public PeObserver, public FabricObserver {
 public:
  /// Records from now on. Do not construct it within a call to observers.
  explicit TimelineRecorder(Machine&);
  ~TimelineRecorder() override;
  TimelineRecorder(const TimelineRecorder&) = delete;
  TimelineRecorder& operator=(const TimelineRecorder&) = delete;

  enum class Kind : uint8_t { service, slot, queue_full, wait, scalar, message, host };
  struct Slice {
    double from = 0, to = 0;
    Kind kind = Kind::service;
    uint32_t op = 0;    ///< index of ops()
    int64_t tile = -1;  ///< -1: none
  };
  struct Op {
    std::string name, line;
    bool operator<(const Op& o) const { return name != o.name ? name < o.name : line < o.line; }
  };
  static constexpr uint32_t kHost = ~0u;
  /// By PE (kHost after all) and number among its tracks.
  using Tracks = std::map<std::pair<uint32_t, uint32_t>, std::vector<Slice>>;
  const Tracks& tracks() const { return tracks_; }
  const std::string& track_name(uint32_t place) const { return track_names_[place]; }
  const std::vector<Op>& ops() const { return ops_; }

  /// Series of a memory: bytes over their service time; ns for which a channel was held.
  struct Memory {
    size_t read = 0, write = 0;
    std::vector<size_t> channels;  ///< of a memory that reports its channels
  };
  const TimeBins& bins() const { return bins_; }
  /// Series of the bytes over an edge, with headers.
  size_t link(uint32_t edge) const { return edge; }
  const std::map<uint32_t, Memory>& memories() const { return memories_; }

  /// Sets the run's length.
  void cover(double ns) { bins_.cover(ns); }
  /// A slice of the host.
  void host(const std::string& track, const std::string& what, double from, double to);

  void activity(const Pe&, Stage, unsigned server, Activity, const PeItem*, uint64_t op_id, double from,
                double to) override;
  void kernel_wait(const Pe&, const PeCommand&, double from, double to) override;
  void kernel_works(const Pe&, double from, double to, const SourceLine&) override;
  void queue_stall(const Pe&, uint32_t port, QueueStall, double from, double to) override;
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;
  void link_crossed(const FabricTransaction&, const Link&, const LinkCrossing&) override;
  void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double t) override;
  void channel_taken(const MemoryTarget&, const FabricTransaction&, size_t channel, double ready, double from,
                     double to) override;

 private:
  uint32_t op(const PeCommand*, const char* otherwise);
  uint32_t op(Op);
  uint32_t track(const std::string& name);
  void add(uint32_t pe, uint32_t track, Slice);

  Machine& machine_;
  double begin_ns_ = 0;
  Tracks tracks_;
  std::vector<std::string> track_names_;
  std::unordered_map<std::string, uint32_t> track_places_;
  std::vector<Op> ops_;
  std::map<Op, uint32_t> op_places_;
  TimeBins bins_;
  std::map<uint32_t, Memory> memories_;                           // by node
  std::unordered_map<const FabricTransaction*, double> started_;  // start of their service at memories
};

}  // namespace insight
}  // namespace kernbench
