// Phase 2: runs every op of a log once and gives the memory that the kernel's program order defines
// (data contract §4).
//
// The order of effects is (instant, PE in compiled order, program order), the instant being the submission for stores,
// compute ops and composites, the completion for loads, and the service for foreign writes. One pass in that order
// over an extent map renames: each op's output is a fresh value, loads and stores move references to values, and each
// compute op notes the pieces of values it reads. What is left are true dependencies; a later reuse of an address
// cannot disturb an earlier reader. The compute ops then run in parallel.
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

namespace kernbench {

/// A log that cannot be replayed: an operand that nothing wrote, an op that cannot be evaluated, dependency_ids in a
/// circle. One line that names the op.
class ReplayError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A tl.device_assert of a value that Phase 1 did not know does not hold: a fault of the kernel, not of its log.
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
  const std::vector<struct EvalInput>& inputs;          ///< as inputs_of() orders them
  const uint8_t* output;                                ///< contiguous, row-major
  const std::vector<std::vector<uint64_t>>& producers;  ///< per input, the op_ids that made its bytes
  const std::vector<OpRecord>& records;                 ///< of the whole log
};

struct ReplayOptions {
  int threads = 0;  ///< 0: as many as the machine has
  Isa isa = best_isa();
  /// Keep the TCMs of the PEs in the result. Otherwise values that only they hold are freed.
  bool keep_tcm = false;
  /// Called now and then from a worker thread, never from two at once.
  std::function<void(const ReplayProgress&)> progress;
  double progress_every_s = 0.2;
  /// Called once for each op that was computed, before its readers start, never from two threads at once. What it
  /// throws ends the replay.
  std::function<void(const ReplayedOp&)> check;
  /// An op_id whose result is damaged before it is checked and read, to show that the check tells; 0: none. ReplayError
  /// if nothing is computed for it.
  uint64_t corrupt_op = 0;
  /// The op whose effect is the last: those that take effect behind it are left out. ReplayError if it is no op of the
  /// log that has an effect of its own.
  std::optional<uint64_t> until;
};

struct ReplayResult {
  MemoryImage memory;     ///< every byte real
  uint64_t ops = 0;       ///< commands and foreign writes
  uint64_t computed = 0;  ///< of these, ops that were evaluated
  /// What tl.device_print said of values that Phase 1 did not know: a line each, in the order of effects.
  std::vector<std::string> prints;
  double graph_s = 0;  ///< wall time of the pass
  double run_s = 0;    ///< wall time of the evaluation
  Isa isa = Isa::portable;
  int threads = 1;          ///< that it had
  int threads_refused = 0;  ///< that the system refused to start
  /// A line that says so; empty: none was refused.
  std::string warning() const;
};

/// `image` is the memory at t = 0. AssertFailed where a tl.device_assert does not hold. Tokens and unknown records are
/// skipped. Same bits for any number of threads.
ReplayResult replay(const std::vector<OpRecord>& records, const MemoryImage& image, const ReplayOptions& = {});

}  // namespace kernbench
