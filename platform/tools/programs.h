// Programs of calls that `kernbench pipeline` plays on PEs, timing only (collectives contract §14.1).
#pragma once

#include <deque>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernbench/kernel_api/queue_connection.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench {

/// A command, and whose it is: numbers in ProgramsWork::programs and ProgramWork::calls.
struct ProgramCommand : PeCommand {
  size_t program = 0, call = 0;
};
class ProgramPlayer;
struct ProgramCall;
/// Ranges of a call, whose effects, of a signal, are in the player's memory.
struct ProgramRanges : RangedAccess {
  ProgramPlayer* player = nullptr;
  const ProgramCall* call = nullptr;
  void effect_known(const FabricTransaction&) override;
};

/// One call, and when it was what (ns).
struct ProgramCall {
  enum class Kind : uint8_t { queue, copy, command, wait, wait_until };
  enum class Compare : uint8_t { eq, ne, lt, ge };
  std::string id;
  Kind kind = Kind::command;
  bool async = false;
  QueueCall queue;                          ///< queue, copy: the send, or the receive
  std::vector<std::string> ports;           ///< their names
  std::unique_ptr<ProgramCommand> command;  ///< pe_ipcq's, or the scheduler's
  std::unique_ptr<ProgramCommand> store;    ///< copy: what follows the receive; null: nothing is stored
  std::vector<size_t> waits_for;            ///< wait: calls before it
  bool releases = false;                    ///< an atomic that goes behind all that its program has written before
  bool writes = false;                      ///< what such a one goes behind
  uint64_t flag = 0;                        ///< signal, wait_until: its address
  int32_t value = 0;                        ///< likewise
  Compare compare = Compare::eq;            ///< wait_until
  double submit_ns = 0;                     ///< after what the call costs; of one that waits for others, with it
  std::vector<SegmentAccount> accounts;     ///< of a send, by segment: where they are asked for

  double call_ns = 0, return_ns = 0, done_ns = 0;
  bool done = false;
};

/// What one PE plays.
struct ProgramWork {
  std::string pe;
  size_t index = 0;  ///< of the PE
  double start_ns = 0, end_ns = 0;
  std::deque<ProgramCall> calls;
};

/// The `connections` and `programs` of a work file.
struct ProgramsWork {
  std::vector<QueueConnection> connections;  ///< between PEs in compiled order
  std::deque<ProgramWork> programs;
  bool keep_accounts = false;  ///< of every segment that is sent
};

/// InputError with every fault. Empty where the file has neither.
ProgramsWork read_programs(const nlohmann::json& root, const std::string& file_name, Platform&);

class JsonWriter;
/// The key `programs` of the output, and the same as text. Accounts where they were kept.
void write_programs_json(JsonWriter&, const std::deque<ProgramWork>&);
void write_programs_text(std::ostream&, const std::deque<ProgramWork>&);

/// Plays programs in the place of the PEs' pe_cpus, at the sockets of their schedulers and pe_ipcqs. A call costs what
/// pe_cpu says. To be made after the platform and before the simulation starts.
class ProgramPlayer : public Component, public PeBlock, private PeObserver {
 public:
  CommandInitiatorSocket command_out{"command_out", *this};

  /// Connects the queues and checks the commands. InputError, AccessError: one line. Work outlives the simulation.
  ProgramPlayer(sc_core::sc_module_name name, Platform&, ProgramsWork&, const std::string& file_name);
  ~ProgramPlayer() override;

  /// Whether something is still to be done beside the programs; unset: nothing is.
  void others_left(std::function<bool()> left) { others_left_ = std::move(left); }
  /// What went wrong first (one line), or empty.
  const std::string& fault() const { return fault_; }
  /// One line, the circle of waiting, if programs have not ended when nothing can move; else empty.
  std::string stuck() const;
  /// The programs that have not ended, each with its first call that is not done, one line; empty: all have.
  std::string not_ended() const;

  /// A signal stands in memory from an instant on, not before now; at one instant in the order of arrival there.
  void signal_stands(const ProgramCall&, double effect_ns, uint64_t arrival);

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  void leads_to(PePort& out, PeBlock& next) override { ways_[&next] = &out; }
  tlm::tlm_sync_enum answer_in(PeItem&, PePort& out, tlm::tlm_phase&) override;

 private:
  struct Playing;
  void prepare(Playing&);
  void prepare(Playing&, ProgramCommand&, size_t call);
  void prepare_queue_call(Playing&, size_t call);
  PePort& way_to(PeBlock&);
  void go_on(Playing&);
  void make(Playing&, ProgramCall&);
  bool waits(Playing&, ProgramCall&);
  void answered(Playing&, ProgramCommand&);
  void end_if_complete(Playing&);
  void submit_behind(ProgramCommand&);
  void release_held(Playing&);
  bool writes_before(Playing&, size_t call) const;
  void polled(Playing&, ProgramCall&);
  void poll(Playing&);
  void take_effect();
  bool holds(const ProgramCall&) const;
  bool only_polls_left() const;
  std::string waiting_for_flags() const;
  static std::vector<uint64_t> waited_for(const Playing&);
  void fail(const std::string&);
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;

  Platform& platform_;
  std::unordered_map<const PeBlock*, PePort*> ways_;
  std::vector<std::unique_ptr<Playing>> playing_;
  std::unordered_map<uint32_t, ProgramWork*> senders_;  ///< by pe_dma, where accounts are kept; else empty
  std::string fault_;
  std::function<bool()> others_left_;
  struct Effect {
    uint64_t flag;
    int32_t value;
  };
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, Effect> effects_;  ///< to come: instant, arrival there, number
  uint64_t effects_so_far_ = 0;
  std::unordered_map<uint64_t, int32_t> flags_;  ///< what signals have left in memory
};

}  // namespace kernbench
