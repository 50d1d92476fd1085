// SPDX-License-Identifier: Apache-2.0
// What pending bytes will be, worked out while Phase 1 still runs (data rules §1: tl.materialize, and reads from
// outside with `materialize: outputs`).
//
// A memory image says which op will make a pending byte, but not from what: by the time someone asks, the op's operands
// may have been overwritten. So where values may be asked for, every effect goes through apply() here, which keeps with
// each pending op references to what its operands held at that instant. What memory no longer names is forgotten. A
// request runs the ops that its bytes depend on, and no others, each at most once, with the arithmetic of Phase 2: the
// same bits on the same instruction set. The image stays as it is: pending bytes stay pending.
//
// One simulation's thread uses it. Evaluation needs an ordinary stack: not from a kernel's coroutine.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/memory/range_value.h"

namespace kernbench::phase2 {

/// Pending bytes that cannot be given: a limit, or an op that reads what nothing wrote. One line.
class PendingValueError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// They depend on the result of an engine (OpDesc::engine_result) that has not finished.
class EngineNotFinished : public PendingValueError {
 public:
  using PendingValueError::PendingValueError;
};

/// How much one request may compute.
struct MaterializeLimits {
  uint64_t result_bytes = UINT64_MAX;    ///< of the range asked for
  uint64_t computed_bytes = UINT64_MAX;  ///< outputs of all ops that are run for it
  double operations = 1e300;             ///< arithmetic, of all ops that are run for it
};

class PendingValues {
 public:
  explicit PendingValues(Isa isa = best_isa()) : isa_(isa) {}
  PendingValues(const PendingValues&) = delete;
  PendingValues& operator=(const PendingValues&) = delete;

  /// As apply_effect(), and keeps what a later request needs. Writes of real bytes need not come through here.
  bool apply(const std::shared_ptr<const OpDesc>&, MemoryImage&);

  /// The bytes of [addr, addr + n) at this moment: real ones as they are, pending ones as Phase 2 will make them,
  /// unwritten ones as `fill`. What was computed for it is added to `done`, if given. Throws PendingValueError.
  void read(const MemoryImage&, MemoryImage::SpaceKey, uint64_t addr, void* out, uint64_t n, uint8_t fill = 0,
            const MaterializeLimits& = {}, Materialization* done = nullptr);

  /// Computes what pending bytes of the range, or of the value, need. Throws PendingValueError.
  void compute(const MemoryImage&, MemoryImage::SpaceKey, uint64_t addr, uint64_t n);
  void compute(const RangeValue&, uint64_t from, uint64_t n);
  /// The first byte of an extent, real or computed; null: pending.
  const uint8_t* bytes_if_known(const MemoryImage::Extent&) const;
  /// The value of an op that has been computed; empty: it has not, or memory no longer names it.
  SharedBytes value_of(const OpDesc&) const;
  /// As apply(), of an op whose operands held what `seen` holds, which differs from the image: it is computed now, and
  /// its result goes into the log (OpDesc::engine_result). Throws PendingValueError.
  void apply_seen(const std::shared_ptr<OpDesc>&, MemoryImage&, const MemoryImage& seen);

  // Of an op whose result an engine gives (OpDesc::engine_result), from apply() on until give() or forget():

  /// The values of its operands at that instant, those of epilogue ops last: each the elements of without_repeats(),
  /// dense in row-major order; none of an immediate. Throws PendingValueError.
  std::vector<Bytes> operands(const OpDesc&);
  /// Its result, the output's bytes.
  void give(const OpDesc&, Bytes);
  /// There will be no result.
  void forget(const OpDesc&);

  /// The instruction set whose bits are given. Before the first request.
  void use(Isa isa) { isa_ = isa; }
  Isa isa() const { return isa_; }
  /// Pending ops whose operands are kept.
  size_t kept() const { return index_->size(); }

 private:
  struct Node;
  using Index = std::unordered_map<const OpDesc*, Node*>;
  struct Input;
  using Nodes = std::vector<Node*>;

  Node* node_of(const MemoryImage::Extent&) const;
  Input capture(const Operand&, const MemoryImage&) const;
  void plan(Node&, Nodes& order) const;
  void run(Node&);
  void run_all(const Nodes&);
  void plan_inputs(const Node&, Nodes& order) const;
  void gather(const Node&, const Input&, uint8_t* to) const;
  const uint8_t* bytes_of(const MemoryImage::Extent&) const;

  Isa isa_;
  std::shared_ptr<Index> index_ = std::make_shared<Index>();
  /// Ops that engines compute: their operands are wanted whether or not memory still names the result.
  std::unordered_map<const OpDesc*, std::shared_ptr<Node>> at_engines_;
};

/// A read by someone outside the kernels (a TLM target, transport_dbg, the host's read-back): fills `out`, unwritten
/// bytes as 0. `values` is null where the option `materialize: outputs` is off. Returns null where all bytes are real
/// or could be given, else the op that will make the first pending one: the answer is then
/// TLM_GENERIC_ERROR_RESPONSE, and `out` is untouched. Throws PendingValueError as PendingValues::read.
std::shared_ptr<const OpDesc> read_from_outside(const MemoryImage&, PendingValues* values, MemoryImage::SpaceKey,
                                                uint64_t addr, void* out, uint64_t n);

}  // namespace kernbench::phase2
