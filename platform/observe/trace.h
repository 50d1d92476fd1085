// SPDX-License-Identifier: Apache-2.0
// `--trace FILE`: activity of all engines, as Chrome trace events (JSON), or for the ending .pftrace in Perfetto's
// format; Perfetto opens both. docs/trace.md lists tracks, slices, events and counters.
//
// There is one process for each cube. A PE has a track for its kernel, its scheduler's feed loop and each server of its
// engines. Messages between PEs have a track for each server that segments pass (vc_comm, inbound, slot writer and
// reader), and one for each port with blocked sends or receives, created on first use. If the host launches kernels, it
// has its own process: upload, launch, kernels, completion, read back, in sequence.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernbench/platform/observe/time_window.h"
#include "kernbench/systemc_models/pe/observer.h"

namespace kernbench::elaborate {
class Machine;
}
namespace kernbench {
struct HostPhase;
struct ProgramReport;
struct RunReport;
}  // namespace kernbench

namespace kernbench {
namespace energy {
class Meter;
}

}  // namespace kernbench
namespace kernbench::observe {
class CounterWindow;
class MemoryBandwidth;
class TraceCounters;
class TraceWriter;
struct TraceTrack;

class Trace : public PeObserver {
 public:
  /// Attaches to each complete PE of the platform, and for counters to its memories. InputError if the file cannot be
  /// created. Slices that overlap the window are complete.
  Trace(Machine&, const std::string& file, const TimeWindow& window = {});
  /// Without close() (a failed run) the file has the events so far; after forget() nothing remains.
  ~Trace() override;
  /// For out-of-memory errors, when its state may be inconsistent.
  void forget() { closed_ = true; }
  /// The host's track, after the run; none if kernels were launched directly.
  void host(const RunReport&);
  /// The same for a program: a track for each stream with operations that take time.
  void host(const ProgramReport&);
  /// Power by class and in total, W, after the run's account: counters whose integrals are its energy in joules.
  void power(const energy::Meter&);
  /// Completes the file; RunError if it could not be written.
  void close();

  void activity(const Pe&, Stage, unsigned server, Activity, const PeItem*, uint64_t op_id, double from,
                double to) override;
  void transaction(const Pe&, Stage, unsigned server, const PeItem&, double granted, double done, double link_wait,
                   double memory_wait) override;
  void feed(const Pe&, FeedActivity, double from, double to) override;
  void kernel_wait(const Pe&, const PeCommand&, double from, double to) override;
  void kernel_works(const Pe&, double from, double to, const SourceLine&) override;
  void queue_changed(const Pe&, Stage, size_t items, double t) override;
  void queue_stall(const Pe&, uint32_t port, QueueStall, double from, double to) override;
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;
  void command_submitted(const Pe&, const PeCommand&, double t) override;
  void sub_command_dispatched(const Pe&, const PeItem&, double t) override;
  void tile_ready(const Pe&, const PeItem&, double t) override;
  void command_complete(const Pe&, const PeCommand&, double t) override;

 private:
  void show(const std::vector<HostPhase>&);
  struct MessageTrack {
    uint64_t number = 0;
    double until_ns = 0;  ///< end of its last slice
  };
  struct QueueFill {
    uint64_t counter = 0;
    size_t items = 0;
  };
  void name_tracks(const Pe&, const std::string& cube);
  // Begins a slice or instant; add arguments, then call writer_->end(). False: outside the window; nothing to end.
  bool begin_slice(TraceTrack, const std::string& name, const char* category, double from, double to,
                   bool inside = false);
  bool begin_instant(TraceTrack, const std::string& name, double t);
  void slice(TraceTrack, const std::string& name, const char* category, double from, double to);
  void stall_inside(TraceTrack, const char* name, double from, double to);
  void write_ids(const PeCommand&);
  MessageTrack& message_track(const Pe&, const std::string& name);

  Machine& machine_;
  std::unique_ptr<TraceWriter> writer_;
  const TimeWindow window_;
  std::unique_ptr<CounterWindow> counters_;  ///< null: the format has none
  std::unique_ptr<MemoryBandwidth> bandwidth_;
  bool closed_ = false;
  std::map<std::pair<uint32_t, std::string>, MessageTrack> message_tracks_;  ///< by PE and name
  std::map<std::pair<uint32_t, Stage>, QueueFill> queues_;                   ///< by PE
};

/// Earlier name, when there was one format.
using ChromeTrace = Trace;

}  // namespace kernbench::observe
