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
/// Ranges of a call. The values that signals write are in the player's memory.
struct ProgramRanges : RangedAccess {
  ProgramPlayer* player = nullptr;
  const ProgramCall* call = nullptr;
  void effect_known(const FabricTransaction&) override;
};

/// A call and its times (ns).
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
  std::unique_ptr<PeCommand> store;      ///< copy: the command after the receive; null: nothing is stored
  std::vector<size_t> waits_for;         ///< wait: earlier calls
  bool releases = false;                 ///< an atomic that waits for all earlier writes of its program
  bool writes = false;                   ///< such a write
  uint64_t flag = 0;                     ///< signal, wait_until: the address
  int32_t value = 0;                     ///< signal, wait_until: the value
  Compare compare = Compare::eq;         ///< wait_until
  std::vector<SegmentAccount> accounts;  ///< of a send, by port and segment, if requested

  double call_ns = 0, return_ns = 0, done_ns = 0;
  bool done = false;
};

/// The program of one PE.
struct ProgramWork {
  std::string pe;
  size_t index = 0;  ///< of the PE
  double start_ns = 0, end_ns = 0;
  std::deque<ProgramCall> calls;
};

/// The `connections` and `programs` of a work file.
struct ProgramsWork {
  std::vector<QueueConnection> connections;  ///< PEs by compiled order
  std::deque<ProgramWork> programs;
  /// Reductions on the way, by group and number of the operation: their sources, PEs in the order of programs.
  std::map<std::string, std::vector<std::vector<size_t>>> groups;
  bool keep_accounts = false;  ///< for every segment sent
};

/// InputError with all errors. Empty if the file has neither key.
ProgramsWork read_programs(const nlohmann::json& root, const std::string& file_name, Machine&);

/// The key `programs` of the output, and the same as text. With latency breakdowns if they were kept.
void describe_programs(Fields&, const std::deque<ProgramWork>&);
void write_programs_text(std::ostream&, const std::deque<ProgramWork>&);

}  // namespace kernbench::work
