// SPDX-License-Identifier: Apache-2.0
// `--vcd FILE`: a platform as a waveform, for GTKWave, Surfer and other readers of VCD. docs/waveforms.md lists the
// signals. Three files: the VCD, a GTKWave save file with an initial view, and a translate file with names of states.
// Alternatively the signals go to a sc_trace_file of the user.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "kernbench/platform/observe/user_signals.h"
#include "kernbench/platform/observe/vcd_writer.h"
#include "kernbench/platform/observe/waveform_view.h"
#include "kernbench/systemc_models/fabric/fabric_observer.h"
#include "kernbench/systemc_models/pe/observer.h"

namespace kernbench {
class Platform;
}

namespace kernbench {
namespace energy {
class Meter;
}

}  // namespace kernbench
namespace kernbench::observe {
struct WaveformOptions {
  std::string file;  ///< "run.vcd"; run.gtkw and run.states.txt are written beside it
  /// Shell patterns of node ids; a node is included if its id, or a level above it, matches. None: all nodes.
  std::vector<std::string> scopes;
  /// The file has the changes in [from, to).
  double from_ns = 0, to_ns = std::numeric_limits<double>::infinity();
  /// Its power becomes a signal: mean watts of each window. Excludes user objects. Null: none.
  energy::Meter* meter = nullptr;
};

class Waveform : public PeObserver, public FabricObserver {
 public:
  /// Attaches to the nodes of the platform, before the simulation starts. Must not outlive the platform. InputError if
  /// a file cannot be written or a pattern matches no node.
  Waveform(Platform&, const WaveformOptions&);
  /// The same signals in a trace file of the user, which keeps its own time unit, names and end; it must not be written
  /// after this object is destroyed. Includes signals of inter-PE queues if a launch comes before the first sc_start().
  Waveform(Platform&, sc_core::sc_trace_file&, const std::vector<std::string>& scopes = {});
  /// Detaches. Without close() (a failed run) the files have the changes so far.
  ~Waveform() override;
  /// Completes the files at the end of the last reservation (a link may be held longer than the run takes), and not
  /// before the present. RunError if they could not be written.
  void close();

  /// Start and end of recording. No effect on a trace file of the user.
  void start();
  void stop();

  /// Records a user object: a signal, a port, a variable or an event, any type that sc_core::sc_trace() accepts. Levels
  /// of its name are separated by dots ("top.cpu.irq"; without levels it is under "SystemC"). It is sampled at the end
  /// of each time step and must live until close(). InputError for a repeated name. No effect if the signals go to a
  /// trace file of the user.
  template <typename T>
  void trace(const T& object, const std::string& name) {
    if (sc_core::sc_trace_file* file = trace_file()) sc_core::sc_trace(file, object, name);
  }
  /// Records the result of a function, in `bits` (1 to 64), such as the number of items in a queue.
  void trace(std::function<uint64_t()> value, const std::string& name, int bits);
  /// For sc_core::sc_trace() and overloads of it. Null if the signals go to a trace file of the user.
  sc_core::sc_trace_file* trace_file();

  void server_changed(const Pe&, Stage, unsigned server, Activity, const PeItem*, uint64_t op_id, double t) override;
  void queue_changed(const Pe&, Stage, size_t items, double t) override;
  void feed_changed(const Pe&, FeedActivity, double t) override;
  void tiles_changed(const Pe&, int64_t tiles, double t) override;
  void kernel_changed(const Pe&, KernelActivity, double t) override;
  void ports_opened(const Pe&, double t) override;
  void port_changed(const Pe&, uint32_t port, const QueuePortState&, double t) override;
  void segment_taken(const Pe&, QueueServer, const QueueSegment&, double t) override;
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;
  void link_crossed(const FabricTransaction&, const Link&, const LinkCrossing&) override;
  void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double t) override;
  void channel_taken(const MemoryTarget&, const FabricTransaction&, size_t channel, double ready, double from,
                     double to) override;
  void access_started(const Component&, const FabricTransaction&, double t) override;
  void access_done(const Component&, const FabricTransaction&, double t) override;

 private:
  using Variable = SignalSink::Variable;
  struct Server {
    Variable state = 0, busy = 0, tile_id = 0, op_id = 0;
  };
  struct Unit {
    Variable queue_depth = 0;
    std::vector<Server> servers;
  };
  struct Port {
    Variable fill = 0, free_slots = 0, no_slot = 0, no_message = 0;
  };
  struct PeSignals {
    bool traced = false;
    Unit units[kMostStages];
    bool feeds = false, runs = false;
    Variable feed_state = 0, tiles = 0, kernel_state = 0, kernel_busy = 0;
    // Signals of messages, after the launch that opens the PE's ports.
    std::map<std::string, Port> ports_by_name;
    std::vector<Port> ports;  ///< of the current launch
    std::optional<Variable> segment_busy[kQueueServers];
  };
  struct LinkSignals {
    Variable busy = 0, occupancy = 0, utilisation = 0;
    uint32_t from = 0;                ///< node
    std::deque<double> busy_windows;  ///< ns, from window_ on
    bool active = false;
  };
  struct Traffic {  ///< of a block: waiting and passing messages
    bool traced = false;
    Variable busy = 0, queue_depth = 0, bytes = 0;
  };
  struct NodeSignals {
    Traffic memory, links;
    std::vector<Variable> channels;
    bool initiates = false;
    Variable bytes_in_flight[2] = {0, 0};  ///< by channel
  };

  void attach(const std::vector<std::string>& scopes);
  void add_signals(uint32_t node);
  void add_engines(size_t pe);
  void add_links(uint32_t node);
  void change_busy(const Pe&, QueueServer, double t, int by);
  Variable add(const std::string& scope, const char* name, unsigned bits, TraceKind, uint64_t initial = 0);
  std::string scope_of(uint32_t node) const;
  /// Advances the signals to the present.
  void present();
  double now_ns() const;
  void close_windows(double now);
  void show_power(uint64_t windows);

  Platform& platform_;
  const std::unique_ptr<SignalSink> sink_;
  VcdWriter* const vcd_;              // sink_, or null: a trace file of the user
  std::optional<WaveformView> view_;  // of vcd_
  std::unique_ptr<UserSignals> user_;
  uint64_t from_fs_ = 0, to_fs_ = ~0ull;
  std::vector<bool> chosen_;        // by node
  std::vector<PeSignals> pes_;      // by PE
  std::vector<NodeSignals> nodes_;  // by node
  std::vector<LinkSignals> links_;  // by edge
  std::vector<LinkSignals*> active_links_;
  uint64_t window_ = 0;
  energy::Meter* const meter_;
  Variable power_ = 0;
  uint64_t power_windows_ = 0;  ///< reported windows
};

}  // namespace kernbench::observe
