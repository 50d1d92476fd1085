// SPDX-License-Identifier: Apache-2.0
// Streams of operations (collectives rules §13.3). Each rank has stream 0 and may have more. A stream executes its
// operations in order, one at a time. This file only determines when an operation begins and ends, not what it does.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/phase2/check/races.h"

namespace kernbench::core {
class Timeline;
}

namespace kernbench::host {

/// A stream of a rank.
struct Stream {
  uint32_t rank = 0, number = 0;
  bool operator<(const Stream& o) const { return rank != o.rank ? rank < o.rank : number < o.number; }
  bool operator==(const Stream& o) const { return rank == o.rank && number == o.number; }
  /// "stream 1 of rank 0".
  std::string to_string() const;
};

/// Done when all operations before its record in a stream are done.
struct EventState {
  std::string name;
  bool recorded = false;  ///< a stream contains its record
  bool done = false;
  CommandHistory::Clock clock;  ///< clock of its waiters' predecessors, for race detection
};
using Event = std::shared_ptr<EventState>;

struct Operation {
  enum class Kind : uint8_t { launch, upload, download, delay, record, wait };
  uint64_t number = 0;  ///< in enqueue order
  Kind kind = Kind::launch;
  SourceLine where;                               ///< in the program
  std::string name;                               ///< of the kernel, the tensor or the event; may be empty
  std::vector<Stream> streams;                    ///< one per rank, by rank
  Event event;                                    ///< of record and wait
  LaunchNotes notes;                              ///< of a launch: decisions of its preparation
  std::vector<std::shared_ptr<const char>> uses;  ///< TensorPlaces::use() of its tensors, until it ends
  /// Starts the operation. It calls Streams::end() for each index of `streams`, now or later.
  std::function<void(Operation&)> begin;

  bool begun = false;
  double begin_ns = 0;
  double start_ns = 0;         ///< of a launch: the start stamp; else begin_ns
  std::vector<double> end_ns;  ///< by index in `streams`; negative: not ended
  size_t open = 0;             ///< number of streams in which it has not ended
};
const char* name_of(Operation::Kind);

class Streams {
 public:
  /// Calls `on_change` at each end of an operation.
  Streams(Timeline& timeline, uint32_t ranks, std::function<void()> on_change);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Adds a stream to a rank.
  Stream add(uint32_t rank);
  bool exists(const Stream& s) const { return queues_.count(s) > 0; }
  /// Appends the operation to its streams. It begins when it is first in all of them and the event that it waits for is
  /// done. Operations that can begin at one instant begin in enqueue order.
  void enqueue(Operation);
  /// The operation has ended in that stream, at the present time.
  void end(Operation&, size_t place);
  /// In all of them.
  void end_all(Operation&);

  /// Whether the stream is empty; whether all are.
  bool empty(const Stream& s) const { return queues_.at(s).empty(); }
  bool empty() const { return unfinished_ == 0; }
  /// Whether an operation other than a launch is running or about to begin.
  bool moves_beside_launches() const;
  /// All operations ever enqueued, in order.
  const std::deque<Operation>& operations() const { return operations_; }
  /// The first operation that waits for an event without a record; null: none.
  const Operation* waits_in_vain() const;
  /// Streams that wait for each other, as one line with each stream and its wait; empty: none.
  std::string circle() const;

 private:
  void look_soon();
  void begin_ready();
  Operation* next_ready() const;
  /// The stream that another stream waits for before its first operation can begin, and the reason; `why` is empty:
  /// none.
  Stream waits_for(const Stream&, std::string* why) const;
  void begin(Operation&);

  Timeline& timeline_;
  std::function<void()> on_change_;
  std::map<Stream, std::deque<Operation*>> queues_;
  std::vector<uint32_t> streams_of_rank_;
  std::deque<Operation> operations_;
  size_t unfinished_ = 0;
  bool look_coming_ = false;
};

}  // namespace kernbench::host
