// SPDX-License-Identifier: Apache-2.0
// Programs of calls that `kernbench pipeline` plays on PEs (program_player.h), timing only (collectives rules
// §14.1).
#pragma once

#include <deque>
#include <iosfwd>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kernbench/kernel_api/queue_connection.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::elaborate {
class Machine;
}
namespace kernbench::phase2 {
class Fields;
}

namespace kernbench::work {

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
  QueueCall queue;                       ///< queue, copy: the send, or the receive
  std::vector<std::string> ports;        ///< their names
  std::string group;                     ///< of a reduction on the way; empty: none
  size_t operation = 0;                  ///< its number in the group
  bool to_all = false;                   ///< a send_all: segments are reported by port
  std::unique_ptr<PeCommand> command;    ///< pe_ipcq's, or the scheduler's
  std::unique_ptr<PeCommand> store;      ///< copy: what follows the receive; null: nothing is stored
  std::vector<size_t> waits_for;         ///< wait: calls before it
  bool releases = false;                 ///< an atomic that goes behind all that its program has written before
  bool writes = false;                   ///< what such a one goes behind
  uint64_t flag = 0;                     ///< signal, wait_until: its address
  int32_t value = 0;                     ///< likewise
  Compare compare = Compare::eq;         ///< wait_until
  std::vector<SegmentAccount> accounts;  ///< of a send, by port and segment: where they are asked for

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
  /// Reductions on the way, by group and number of the operation: their sources, PEs in the order of programs.
  std::map<std::string, std::vector<std::vector<size_t>>> groups;
  bool keep_accounts = false;  ///< of every segment that is sent
};

/// InputError with every fault. Empty where the file has neither.
ProgramsWork read_programs(const nlohmann::json& root, const std::string& file_name, Machine&);

/// The key `programs` of the output, and the same as text. Accounts where they were kept.
void describe_programs(Fields&, const std::deque<ProgramWork>&);
void write_programs_text(std::ostream&, const std::deque<ProgramWork>&);

}  // namespace kernbench::work
