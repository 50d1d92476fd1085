// SPDX-License-Identifier: Apache-2.0
// An operation of a kernel, without its timing (data rules §3).
//
// The class tl (kernel_api) makes one OpDesc for each command. The message that times the command carries it through
// the PE; the op log stores it, and Phase 2 replays it. It is immutable after its submission.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernbench/phase2/op/dtype.h"
#include "kernbench/phase2/op/ranged_op.h"
#include "kernbench/phase2/op/space.h"
#include "kernbench/phase2/op/translation.h"

namespace kernbench::phase2 {

constexpr int kMaxRank = 6;

/// Shape or strides of a tensor; rank 0 is a scalar.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> v) {
    for (int64_t x : v) push_back(x);
  }
  int rank() const { return rank_; }
  int64_t operator[](int i) const { return d_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return d_[static_cast<size_t>(i)]; }
  const int64_t* begin() const { return d_.data(); }
  const int64_t* end() const { return d_.data() + rank_; }
  /// At most kMaxRank dimensions; more are std::length_error.
  void push_back(int64_t x);
  /// Product of all dimensions (1 for rank 0). std::overflow_error if it exceeds 2^60 or a dimension is negative.
  int64_t elements() const;
  bool operator==(const Dims& o) const;
  bool operator!=(const Dims& o) const { return !(*this == o); }
  /// "[2, 3]".
  std::string to_string() const;

 private:
  int rank_ = 0;
  std::array<int64_t, kMaxRank> d_{};
};

constexpr uint32_t kNoPe = 0xffffffffu;

/// A tensor in memory: address, type, shape and strides.
struct TensorRef {
  Space space = Space::hbm;
  uint32_t pe = kNoPe;  ///< owner of the TCM, as index into the PEs in compiled order; kNoPe for other spaces
  uint64_t addr = 0;    ///< of the first element, bytes; physical after a command is submitted
  DType dtype = DType::f32;
  Dims shape;
  Dims strides;  ///< in elements, same rank as shape; row-major contiguous unless the tensor is a view
  /// Set if the tensor was reached through virtual addresses. Strides then count virtual bytes, no element is split
  /// over two pieces, and `addr` is the physical address of the first byte.
  std::shared_ptr<const Translation> translation;

  // std::overflow_error, as Dims::elements(), for shapes and strides that are too large or negative.
  static Dims row_major(const Dims& shape);
  uint64_t nbytes() const { return static_cast<uint64_t>(shape.elements()) * size_of(dtype); }
  /// Bytes from the start of the first element to the end of the last one.
  uint64_t span_bytes() const;
  bool contiguous() const;
  /// Whether it consists of several physical pieces.
  bool scattered() const { return translation && translation->pieces.size() > 1; }
  /// Physical address of the byte at `offset` from the first one.
  uint64_t address_at(uint64_t offset) const { return scattered() ? translation->physical(offset) : addr + offset; }
};

/// An operand of a math op: a tensor or an immediate.
struct Operand {
  bool is_scalar = false;
  double scalar = 0;
  TensorRef ref;
};

enum class OpKind : uint8_t { memory, gemm, math, unknown };
std::string_view name_of(OpKind);

/// A stage of a PE's engines: the stages of a composite's tiles in pipeline order (ADR-0014 D6), then those of
/// user-defined engine kinds (add_stage).
enum class Stage : uint8_t { dma_read, fetch, gemm, math, store, dma_write };
constexpr int kTileStages = 6, kMostStages = 16;
/// "DMA_READ", "FETCH", "GEMM", "MATH", "STORE", "DMA_WRITE".
std::string_view name_of(Stage);
/// The kind of records of its tokens: `memory` kinds report bytes, other kinds the tile's shape.
OpKind kind_of(Stage);
/// The stage of that name; adds it for a new kind of engine. The name must live as long as the process.
/// std::length_error if there are too many stages.
Stage add_stage(const char* name, OpKind);
int stage_count();

enum class Scope : uint8_t { per_k_tile, per_output_tile, once };
std::string_view name_of(Scope);

/// An op fused after a composite's head. Its first operand is the running tile; `operands` are the others.
struct EpilogueOp {
  std::string op;
  Scope scope = Scope::per_output_tile;
  std::vector<Operand> operands;
};

/// Location of a call in the kernel's source (std::source_location is C++20).
struct SourceLine {
  const char* file = "";
  int line = 0;
};
/// "gemm.cpp:42".
std::string to_string(const SourceLine&);

/// Kind of a command; it selects the engine. A segment of a message is a store into its slot (ipcq_copy) and a load
/// from it (ipcq_recv). `send` and `receive` are the calls of these segments and have no records.
enum class CommandType : uint8_t { load, store, gemm, math, composite, send, receive, atomic };

/// The segment of an ipcq_copy or ipcq_recv (collectives rules §11.2). `port` is the receiver's.
struct QueueRecord {
  std::string port, peer_port;
  uint64_t message = 0;                              ///< number in the queue, from 0
  uint32_t segment = 0, segments = 1;                ///< of the message
  double slot_ns = 0, grant_ns = 0, arrival_ns = 0;  ///< ipcq_copy
};

using Bytes = std::vector<uint8_t>;

/// A parameter of a user-defined message type in the log.
struct OwnParam {
  using Value = std::variant<int64_t, uint64_t, double, bool, std::string>;
  std::string name;
  Value value;
};

/// Computation of a pending handle in Phase 1 (tl.materialize).
struct Materialization {
  struct Command {
    uint32_t pe = kNoPe;
    uint64_t seq = 0;
  };
  std::vector<Command> computed;  ///< in the order of evaluation
  double operations = 0;          ///< arithmetic operations of all of them
  uint64_t bytes = 0;             ///< of all outputs
};

/// Result of a foreign engine that computes in Phase 1 instead of Phase 2.
struct EngineResult {
  std::shared_ptr<const Bytes> bytes;  ///< of the op's complete output, dense; null before the engine has produced it
};

/// Outcome of a load or store whose path passes a foreign block (data rules §1). Filled in while it is in flight,
/// before the op's record is made.
struct Carried {
  /// A range that a memory of the system has served. Parts of one instant took effect in order of their numbers.
  struct Part {
    uint64_t offset = 0, nbytes = 0;  ///< of the op's bytes, in row-major order
    Space space = Space::hbm;
    uint64_t addr = 0;  ///< address at which it arrived
    double effect_ns = 0;
    uint64_t number = 0;
  };
  std::vector<Part> parts;
  /// If all of it is data: the bytes that arrived (store) or returned (load). Else null, and the parts describe the
  /// contents.
  std::shared_ptr<const Bytes> bytes;
};

/// A red that is a source of a reduction on the way (multicast rules §20).
struct OnTheWay {
  std::string group;
  std::vector<int64_t> sources;  ///< of the group, by tl.index(); not in a log
  uint64_t operation = 0;        ///< of the group, from 0
  /// In the record of the source that takes effect last: the values of all sources, in compiled order. Empty: another
  /// record has them, and this one changes no memory.
  std::vector<Operand> values;
  /// The order of the additions: an index of `values`, or kAdd for the sum of the last two results. The results that
  /// are left are applied to memory in order.
  std::vector<int64_t> order;
  static constexpr int64_t kAdd = -1;
};

/// Launch number of ops outside of a program's launches.
constexpr uint32_t kNoLaunch = ~0u;

struct OpDesc {
  CommandType type = CommandType::math;
  OpKind kind = OpKind::math;
  /// Log name: dma_read, dma_write, gemm_f16, exp, composite_gemm, composite_math … (data rules §3).
  std::string name;
  /// Math op ("exp", "add", …), "gemm", or the operation of an atomic ("add", "cas", …); empty for loads and stores.
  std::string op;

  /// load: the source. store: the source (a TCM handle). gemm: A, B, and the initial accumulator if it is not 0. math:
  /// all operands in order. atomic: the value, and for a cas also the expected value.
  std::vector<Operand> operands;
  /// load: the TCM destination. store: the destination. Otherwise the result. For ops on ranges, `ranged` describes the
  /// memory side; the address here, or among the operands, is that of the first range.
  TensorRef output;
  /// Set for a multicast (a store to several memories): its destinations in order, of which `output` is the first.
  std::shared_ptr<const std::vector<TensorRef>> destinations;

  // GEMM, simple or composite: C[m,n] = op(A)[m,k] · op(B)[k,n].
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  DType dtype_acc = DType::f32;

  /// reduce, associative_scan: the combiner (combiner.h). device_print, device_assert: the kernel's text.
  std::string argument;

  // Math: reductions (sum, max, min, argmax) along `axis`.
  bool reduction = false;
  int axis = 0;
  bool keepdims = false;

  // Composite.
  int64_t tile_m = 0, tile_n = 0, tile_k = 0;
  std::vector<EpilogueOp> epilogue;

  /// A store of real data: its bytes in row-major order; null if the source is pending.
  std::shared_ptr<const Bytes> data;
  /// Set for a materialization: a store of `data` to the handle that it reads.
  std::shared_ptr<const Materialization> materialized;
  /// Set for a compute op whose result comes from a foreign engine (pe/tlm_engine.h). The only field that is filled in
  /// after the submission, before the op's record is made.
  std::shared_ptr<EngineResult> engine_result;
  /// Set for a load or store that passes a foreign block.
  std::shared_ptr<Carried> carried;
  /// Set for a gather (a load), a scatter (a store) or an atomic. A record of these is one transaction of the command.
  std::shared_ptr<RangedOp> ranged;
  std::shared_ptr<OnTheWay> on_the_way;  ///< set for a source of a reduction on the way
  /// A load of tl.wait_until that polls a flag; the race check treats it as an atomic.
  bool polls = false;
  /// Set for a segment of a message. pe, seq and submit_ns of an ipcq_copy are those of the send (which reads the
  /// source). Its slot is written at the end of its record.
  std::shared_ptr<const QueueRecord> queue;
  // Submitter, order and time: filled in at submission.
  uint64_t handle_id = 0;       ///< of the tl handle that is made (load, compute) or stored
  uint32_t pe = kNoPe;          ///< submitting PE, index in compiled order
  uint64_t seq = 0;             ///< program order within the PE, from 0
  double submit_ns = 0;         ///< after pe_cpu's overhead, before pe_scheduler's
  uint32_t launch = kNoLaunch;  ///< launch of a program, from 0
  SourceLine where;

  /// Whether another record has its effect.
  bool without_effect() const { return on_the_way && on_the_way->values.empty(); }
  /// Bytes of the evaluation's result: the output; for an atomic the old and the new elements.
  uint64_t value_bytes() const { return type == CommandType::atomic ? 2 * ranged->nbytes() : output.nbytes(); }

  std::vector<OwnParam> own_params;  ///< kind unknown: parameters of a user-defined message, in its order
  /// Adds a parameter: a number, a truth value or a text.
  template <class T>
  OpDesc& with(std::string param, const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>)
      own_params.push_back({std::move(param), value});
    else if constexpr (std::is_integral_v<T>)
      own_params.push_back({std::move(param), std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>{value}});
    else
      own_params.push_back({std::move(param), std::string(value)});
    return *this;
  }
};

/// Calls f(TensorRef) for each tensor that the op writes: its output, or the destinations of a multicast.
template <class F>
void for_each_output(const OpDesc& d, F f) {
  if (!d.destinations) return f(d.output);
  for (const TensorRef& t : *d.destinations) f(t);
}

}  // namespace kernbench::phase2
