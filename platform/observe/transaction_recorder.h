// SPDX-License-Identifier: Apache-2.0
// `--ftr FILE`: a platform's transactions, for SCViewer, Surfer and other readers of FTR. docs/recording.md lists the
// streams, generators, attributes and relations.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernbench/platform/elaborate/host_observer.h"
#include "kernbench/platform/observe/access_hops.h"
#include "kernbench/platform/observe/ftr_writer.h"
#include "kernbench/platform/observe/time_window.h"
#include "kernbench/systemc_models/pe/observer.h"

namespace kernbench::observe {

class TransactionRecorder : public PeObserver, public HostObserver, private AccessHops {
 public:
  /// Attaches to the complete platform, before the simulation starts. Must not outlive the platform. InputError if the
  /// file cannot be created. Transactions that overlap the window are complete, with their relations.
  TransactionRecorder(Platform&, const std::string& file, const TimeWindow& window = {});
  /// Detaches. Without close() (a failed run) the file has the events so far; after forget() nothing remains.
  ~TransactionRecorder() override;
  /// For out-of-memory errors, when its state may be inconsistent.
  void forget() { closed_ = true; }
  /// Completes the file at the present. RunError if it could not be written.
  void close();

  void server_changed(const Pe&, Stage, unsigned server, Activity, const PeItem*, uint64_t op_id, double t) override;
  void transaction(const Pe&, Stage, unsigned server, const PeItem&, double granted, double done, double link_wait,
                   double memory_wait) override;
  void kernel_changed(const Pe&, KernelActivity, double t) override;
  void kernel_wait(const Pe&, const PeCommand&, double from, double to) override;
  void kernel_works(const Pe&, double from, double to, const SourceLine&) override;
  void segment_taken(const Pe&, QueueServer, const QueueSegment&, double t) override;
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;
  void command_submitted(const Pe&, const PeCommand&, double t) override;
  void sub_command_dispatched(const Pe&, const PeItem&, double t) override;
  void command_complete(const Pe&, const PeCommand&, double t) override;
  void transfer_started(const void* id, bool write, uint64_t nbytes, double t) override;
  void transfer_done(const void* id, double t) override;
  void launch_sent(const void* id, const LaunchId&, const std::vector<size_t>& pes, const LaunchWay&,
                   double t) override;
  void launch_done(const void* id, double t) override;

 private:
  using Transaction = FtrWriter::Transaction;
  using Generator = FtrWriter::Generator;
  struct Service {
    Transaction transaction;  ///< none: the window ended before, or the server is idle
    uint64_t op_id = 0;
    bool serves = false;
  };
  struct PeState {
    uint32_t nodes[kMostStages] = {};  ///< of the engines of the stages
    uint32_t cpu = 0, scheduler = 0, queues = 0;
    std::vector<Service> services[kMostStages];  ///< by server
    Transaction launch, kernel;
    bool runs = false;
  };
  struct Command {
    Transaction transaction;
    Transaction composite;  ///< the scheduler's part of one, from its first tile on
  };
  struct Segment {
    Transaction comm, last;  ///< service of vc_comm; last step of the segment
  };
  /// Begun but not written yet.
  struct Open {
    Generator generator = 0;
    double start_ns = 0;
  };
  /// Reported before the window begins, for transactions that may be over by then.
  struct Relation {
    std::string name;
    Transaction from, to;
  };
  struct Node {
    FtrWriter::Stream stream = 0;  ///< 0: not created yet
    std::map<std::string, Generator, std::less<>> generators;
  };

  void started(const Component& initiator, const FabricTransaction&, uint64_t number, double t) override;
  void done(const FabricTransaction&, uint64_t number, const Hops&, double t) override;

  uint32_t host_node() const { return static_cast<uint32_t>(nodes_.size() - 1); }
  Transaction make(uint32_t node);
  Generator generator(uint32_t node, std::string_view name);
  Transaction open(uint32_t node, std::string_view name, double t);
  /// Writes a transaction that was opened, or that is completely known, up to its attributes and FtrWriter::end().
  FtrWriter& finish(const Transaction&, double to);
  Transaction add(uint32_t node, std::string_view name, double from, double to);
  void relate(std::string_view name, const Transaction& from, const Transaction& to);
  bool has_begun();
  bool is_kept(const Transaction&) const;
  void drop_relations();
  Service& service_of(const Pe&, Stage, unsigned server);
  Command& command(const Pe&, const PeCommand&, double t);
  Transaction tile(const Pe&, const PeItem&, double t);
  void write_hops(const Transaction& access, const FabricTransaction&, const Hops&);
  void end();

  const TimeWindow window_;
  FtrWriter ftr_;
  bool begun_;                    ///< the window
  std::vector<Relation> before_;  ///< reported before, for transactions that were open
  size_t drop_at_ = 1024;         ///< limit of stored relations
  uint64_t last_before_ = 0;      ///< the last id before the window
  std::set<uint64_t> kept_;       ///< written ids up to that one: open then, or ending later
  std::vector<Node> nodes_;       ///< by node, then the host
  std::vector<PeState> pes_;
  std::map<uint64_t, std::pair<Transaction, Open>> open_;  ///< by id
  std::unordered_map<const PeCommand*, Command> commands_;
  std::unordered_map<const PeItem*, Transaction> tiles_;
  std::unordered_map<const QueueSegment*, Segment> segments_;
  std::unordered_map<const FabricTransaction*, Transaction> accesses_;
  std::unordered_map<const FabricTransaction*, const QueueSegment*> posted_;
  std::unordered_map<const void*, std::pair<Transaction, uint64_t>> transfers_;  ///< with their bytes
  std::unordered_map<const void*, std::pair<Transaction, LaunchId>> launches_;
  Transaction last_access_;  ///< done in the previous call
  bool closed_ = false;
};

}  // namespace kernbench::observe
