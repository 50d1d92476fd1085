// SPDX-License-Identifier: Apache-2.0
// Phase 2: runs each op of a log once and produces the memory that the kernel's program order defines (data rules §4).
//
// Effects are ordered by (instant, PE in compiled order, program order). The instant is the submission for stores,
// compute ops and composites, the completion for loads, and the service for foreign writes. One pass in that order over
// an extent map renames addresses: each op's output is a new value, loads and stores move references to values, and
// each compute op records the pieces of values that it reads. Only true dependencies remain, so a later reuse of an
// address cannot disturb an earlier reader. Then the compute ops run in parallel.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::phase2 {

/// A log that cannot be replayed: an operand that was never written, an op that cannot be evaluated, or a cycle in
/// dependency_ids. One line that names the op.
class ReplayError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A tl.device_assert of a value that was pending in Phase 1 failed: an error of the kernel, not of its log.
class AssertFailed : public ReplayError {
 public:
  using ReplayError::ReplayError;
};

struct ReplayProgress {
  uint64_t ops_done = 0, ops_total = 0;
  double work_done = 0, work_total = 0;  ///< arithmetic operations
  double elapsed_s = 0, remaining_s = 0;
};

/// One op with its values, for checks.
struct ReplayedOp {
  const OpRecord& record;
  const std::vector<struct EvalInput>& inputs;          ///< in the order of inputs_of()
  const uint8_t* output;                                ///< contiguous, row-major
  const std::vector<std::vector<uint64_t>>& producers;  ///< for each input, the op_ids that produced its bytes
  const std::vector<OpRecord>& records;                 ///< of the complete log
};

struct ReplayOptions {
  int threads = 0;  ///< 0: all processors
  Isa isa = best_isa();
  /// Keep the TCMs of the PEs in the result. Otherwise values that only a TCM holds are freed.
  bool keep_tcm = false;
  /// Called at intervals from a worker thread, never from two at the same time.
  std::function<void(const ReplayProgress&)> progress;
  double progress_every_s = 0.2;
  /// Called once for each computed op, before its readers start, never from two threads at the same time. An exception
  /// ends the replay.
  std::function<void(const ReplayedOp&)> check;
  /// An op_id whose result is damaged before it is checked and read, to show that the check works; 0: none. ReplayError
  /// if that op computes nothing.
  uint64_t corrupt_op = 0;
  /// The op with the last effect; ops with later effects are omitted. ReplayError if it is not an op of the log with an
  /// effect of its own.
  std::optional<uint64_t> until;
};

struct ReplayResult {
  MemoryImage memory;     ///< without pending bytes
  uint64_t ops = 0;       ///< commands and foreign writes
  uint64_t computed = 0;  ///< those of them that were evaluated
  /// Lines of tl.device_print for values that were pending in Phase 1, in the order of effects.
  std::vector<std::string> prints;
  double graph_s = 0;  ///< wall time of the pass
  double run_s = 0;    ///< wall time of the evaluation
  Isa isa = Isa::portable;
  int threads = 1;          ///< threads used
  int threads_refused = 0;  ///< threads that the system refused to start
  /// A warning about refused threads; empty if there are none.
  std::string warning() const;
};

/// `image` is the memory at t = 0. AssertFailed if a tl.device_assert fails. Tokens and unknown records are skipped.
/// The result has the same bits for any number of threads.
ReplayResult replay(const std::vector<OpRecord>& records, const MemoryImage& image, const ReplayOptions& = {});

}  // namespace kernbench::phase2
