// SPDX-License-Identifier: Apache-2.0
// Streams of operations (collectives rules §13.3): every rank has stream 0 and may have more; a stream does its
// operations in order, one at a time. What an operation does is its own business; here is only when it begins and ends.
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

/// One of a rank's streams.
struct Stream {
  uint32_t rank = 0, number = 0;
  bool operator<(const Stream& o) const { return rank != o.rank ? rank < o.rank : number < o.number; }
  bool operator==(const Stream& o) const { return rank == o.rank && number == o.number; }
  /// "stream 1 of rank 0".
  std::string to_string() const;
};

/// Done when what stood before its record in a stream is done.
struct EventState {
  std::string name;
  bool recorded = false;  ///< a record of it is in a stream
  bool done = false;
  CommandHistory::Clock clock;  ///< what who waits for it is behind, for the search for races
};
using Event = std::shared_ptr<EventState>;

struct Operation {
  enum class Kind : uint8_t { launch, upload, download, delay, record, wait };
  uint64_t number = 0;  ///< in the order in which they were enqueued
  Kind kind = Kind::launch;
  SourceLine where;                               ///< in the program
  std::string name;                               ///< of the kernel, the tensor or the event; empty: it has none
  std::vector<Stream> streams;                    ///< one of each of its ranks, by rank
  Event event;                                    ///< of record and wait
  LaunchNotes notes;                              ///< of a launch: what its preparation has decided
  std::vector<std::shared_ptr<const char>> uses;  ///< TensorPlaces::use() of its tensors, until it has ended
  /// Does it, from now on: Streams::end() for each place of `streams`, now or later.
  std::function<void(Operation&)> begin;

  bool begun = false;
  double begin_ns = 0;
  double start_ns = 0;         ///< of a launch: the stamp; else begin_ns
  std::vector<double> end_ns;  ///< by place in `streams`; negative: not yet
  size_t open = 0;             ///< places that have not ended
};
const char* name_of(Operation::Kind);

class Streams {
 public:
  /// `on_change` is called at each end of an operation.
  Streams(Timeline& timeline, uint32_t ranks, std::function<void()> on_change);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// One more stream of a rank.
  Stream add(uint32_t rank);
  bool exists(const Stream& s) const { return queues_.count(s) > 0; }
  /// Stands behind what is in its streams; begins when it is first in all of them and its event, if it waits for one,
  /// is done. What can begin at one instant does so in the order of enqueueing.
  void enqueue(Operation);
  /// The operation has ended in that place of its streams, now.
  void end(Operation&, size_t place);
  /// In all of them.
  void end_all(Operation&);

  /// Nothing is left in the stream; in all streams.
  bool empty(const Stream& s) const { return queues_.at(s).empty(); }
  bool empty() const { return unfinished_ == 0; }
  /// Something is under way, or about to begin, that is no launch.
  bool moves_beside_launches() const;
  /// All that were ever enqueued, in that order.
  const std::deque<Operation>& operations() const { return operations_; }
  /// The first operation that waits for an event that nobody has recorded; null: none does.
  const Operation* waits_in_vain() const;
  /// Streams that wait for each other, in one line that names each and what it waits for; empty: none do.
  std::string circle() const;

 private:
  void look_soon();
  void begin_ready();
  Operation* next_ready() const;
  /// The stream that a stream waits for before its first operation can begin, and why; `why` is empty: none.
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
