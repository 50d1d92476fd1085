// SPDX-License-Identifier: Apache-2.0
// Computes pending bytes while Phase 1 still runs (data rules §1: tl.materialize, and reads from outside with
// `materialize: outputs`).
//
// A memory image records which op will make a pending byte, but not from which operands. When the byte is requested,
// the operands may have been overwritten. Therefore, if values can be requested, every effect goes through apply(). It
// keeps, with each pending op, references to the contents of its operands at that instant. An op is forgotten when
// memory no longer refers to it.
//
// A request runs only the ops that its bytes depend on, each at most once, with the arithmetic of Phase 2. The bits are
// therefore the same on the same instruction set. The image does not change: pending bytes stay pending.
//
// Only the thread of one simulation uses it. Evaluation needs an ordinary stack and must not run in a kernel's
// coroutine.
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

/// Pending bytes that cannot be computed: a limit was reached, or an op reads unwritten bytes. One line.
class PendingValueError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// They depend on the result of an engine (OpDesc::engine_result) that has not finished.
class EngineNotFinished : public PendingValueError {
 public:
  using PendingValueError::PendingValueError;
};

/// Limits on the work of one request.
struct MaterializeLimits {
  uint64_t result_bytes = UINT64_MAX;    ///< of the requested range
  uint64_t computed_bytes = UINT64_MAX;  ///< outputs of all ops that the request runs
  double operations = 1e300;             ///< arithmetic operations of all ops that the request runs
};

class PendingValues {
 public:
  explicit PendingValues(Isa isa = best_isa()) : isa_(isa) {}
  PendingValues(const PendingValues&) = delete;
  PendingValues& operator=(const PendingValues&) = delete;

  /// Like apply_effect(); also keeps what a later request needs. Writes of real bytes may bypass it.
  bool apply(const std::shared_ptr<const OpDesc>&, MemoryImage&);

  /// Reads the current bytes of [addr, addr + n). Real bytes are copied, pending ones computed as Phase 2 will compute
  /// them, unwritten ones are `fill`. The computed ops are added to `done`, if given. Throws PendingValueError.
  void read(const MemoryImage&, MemoryImage::SpaceKey, uint64_t addr, void* out, uint64_t n, uint8_t fill = 0,
            const MaterializeLimits& = {}, Materialization* done = nullptr);

  /// Computes all ops that pending bytes of the range, or of the value, need. Throws PendingValueError.
  void compute(const MemoryImage&, MemoryImage::SpaceKey, uint64_t addr, uint64_t n);
  void compute(const RangeValue&, uint64_t from, uint64_t n);
  /// The first byte of an extent, real or computed; null: pending.
  const uint8_t* bytes_if_known(const MemoryImage::Extent&) const;
  /// The value of a computed op; empty if it was not computed or memory no longer refers to it.
  SharedBytes value_of(const OpDesc&) const;
  /// Like apply(), for an op whose operands had the contents in `seen`, which differs from the image. The op is
  /// computed now, and its result goes into the log (OpDesc::engine_result). Throws PendingValueError.
  void apply_seen(const std::shared_ptr<OpDesc>&, MemoryImage&, const MemoryImage& seen);

  // For an op whose result an engine provides (OpDesc::engine_result). Valid from apply() until give() or forget():

  /// The values of its operands at that instant, those of epilogue ops last. Each has the elements of
  /// without_repeats(), dense in row-major order; an immediate has none. Throws PendingValueError.
  std::vector<Bytes> operands(const OpDesc&);
  /// Sets its result: the bytes of the output.
  void give(const OpDesc&, Bytes);
  /// Declares that there will be no result.
  void forget(const OpDesc&);

  /// Sets the instruction set that determines the bits. Call it before the first request.
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
  /// Ops that engines compute. Their operands are needed whether or not memory still refers to the result.
  std::unordered_map<const OpDesc*, std::shared_ptr<Node>> at_engines_;
};

/// A read from outside the kernels (a TLM target, transport_dbg, the host's read-back). Fills `out`; unwritten bytes
/// are 0. `values` is null if the option `materialize: outputs` is off. Returns null if all bytes are real or could be
/// computed. Otherwise it returns the op that will make the first pending byte, and `out` is unchanged; the caller
/// responds with TLM_GENERIC_ERROR_RESPONSE. Throws PendingValueError, like PendingValues::read.
std::shared_ptr<const OpDesc> read_from_outside(const MemoryImage&, PendingValues* values, MemoryImage::SpaceKey,
                                                uint64_t addr, void* out, uint64_t n);

}  // namespace kernbench::phase2
