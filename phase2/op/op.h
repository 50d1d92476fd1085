// What an operation of a kernel does, independent of when (data contract §3).
//
// An OpDesc is made once per command by tl (kernel_api), carried through the PE by the message that
// times it, kept by the op log and replayed by Phase 2. It is immutable from its submission on.
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

namespace kernbench {

constexpr int kMaxRank = 6;

/// Shape or strides of a tensor; rank 0 is a scalar.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> v) {
    for (int64_t x : v) push_back(x);
  }
  int rank() const { return rank_; }
  int64_t operator[](int i) const { return d_[i]; }
  int64_t& operator[](int i) { return d_[i]; }
  const int64_t* begin() const { return d_.data(); }
  const int64_t* end() const { return d_.data() + rank_; }
  /// At most kMaxRank dimensions; more are std::length_error.
  void push_back(int64_t x);
  /// Product of all dimensions (1 for rank 0). std::overflow_error where it is more than 2^60 or one is negative.
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

/// A tensor in memory: where, what, and how its elements are spaced.
struct TensorRef {
  Space space = Space::hbm;
  uint32_t pe = kNoPe;  ///< whose TCM, as index into the PEs in compiled order; kNoPe for other spaces
  uint64_t addr = 0;    ///< of the first element, bytes; physical once a command has been submitted
  DType dtype = DType::f32;
  Dims shape;
  Dims strides;  ///< in elements, same rank as shape; row-major contiguous unless the tensor is a view
  /// Set where the tensor was reached through virtual addresses; strides then count virtual bytes, no element lies in
  /// two pieces, and `addr` is the first byte's physical address.
  std::shared_ptr<const Translation> translation;

  // Of shapes and strides that are too large or negative these throw std::overflow_error, as Dims::elements().
  static Dims row_major(const Dims& shape);
  uint64_t nbytes() const { return static_cast<uint64_t>(shape.elements()) * size_of(dtype); }
  /// Bytes from the first element to the end of the last one.
  uint64_t span_bytes() const;
  bool contiguous() const;
  /// Whether it lies in several physical pieces.
  bool scattered() const { return translation && translation->pieces.size() > 1; }
  /// Physical address of the byte `offset` bytes behind the first one.
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

/// A stage of a PE's engines. Those of a composite's tiles in pipeline order (ADR-0014 D6); behind them those that
/// kinds of engine of a user's own bring (add_stage).
enum class Stage : uint8_t { dma_read, fetch, gemm, math, store, dma_write };
constexpr int kTileStages = 6, kMostStages = 16;
/// "DMA_READ", "FETCH", "GEMM", "MATH", "STORE", "DMA_WRITE".
std::string_view name_of(Stage);
/// The kind of its tokens' records: those of `memory` tell bytes, the others the tile's shape.
OpKind kind_of(Stage);
/// The stage of that name, which a kind of engine brings where there is none yet. The name must live as long as the
/// process. std::length_error for more than there can be.
Stage add_stage(const char* name, OpKind);
/// How many there are, by number.
int stage_count();

enum class Scope : uint8_t { per_k_tile, per_output_tile, once };
std::string_view name_of(Scope);

/// An op fused behind a composite's head. Its first operand is the running tile; `operands` are the rest.
struct EpilogueOp {
  std::string op;
  Scope scope = Scope::per_output_tile;
  std::vector<Operand> operands;
};

/// Where in the kernel's source the call stands (std::source_location is C++20).
struct SourceLine {
  const char* file = "";
  int line = 0;
};
/// "gemm.cpp:42".
std::string to_string(const SourceLine&);

/// What kind of command this is, and so which engine serves it.
/// A segment of a message is a store into its slot (ipcq_copy) and a load out of it (ipcq_recv); `send` and `receive`
/// are the calls that they belong to, which are no records.
enum class CommandType : uint8_t { load, store, gemm, math, composite, send, receive, atomic };

/// What an ipcq_copy or an ipcq_recv says of its segment (collectives contract §11.2). Ports: `port` is the receiver's.
struct QueueRecord {
  std::string port, peer_port;
  uint64_t message = 0;                              ///< of the queue, from 0
  uint32_t segment = 0, segments = 1;                ///< of the message
  double slot_ns = 0, grant_ns = 0, arrival_ns = 0;  ///< ipcq_copy
};

using Bytes = std::vector<uint8_t>;

/// What a message type of a user's own says of itself in the log, beside its name.
struct OwnParam {
  using Value = std::variant<int64_t, uint64_t, double, bool, std::string>;
  std::string name;
  Value value;
};

/// What was computed in Phase 1 to give a pending handle its bytes (tl.materialize).
struct Materialization {
  struct Command {
    uint32_t pe = kNoPe;
    uint64_t seq = 0;
  };
  std::vector<Command> computed;  ///< in the order of evaluation
  double operations = 0;          ///< arithmetic, of all of them
  uint64_t bytes = 0;             ///< of all their outputs
};

/// What an engine outside of the project computes in Phase 1, in the place of Phase 2.
struct EngineResult {
  std::shared_ptr<const Bytes> bytes;  ///< of the op's whole output, dense; null until the engine has given it
};

/// What came of a load or a store whose way passes a block that is not of this project (data contract §1). Filled in
/// while it is under way, before the op's record is made.
struct Carried {
  /// A range that a memory of the system has served. Parts of one instant took effect in the order of their numbers.
  struct Part {
    uint64_t offset = 0, nbytes = 0;  ///< of the op's bytes, in row-major order
    Space space = Space::hbm;
    uint64_t addr = 0;  ///< where it arrived
    double effect_ns = 0;
    uint64_t number = 0;
  };
  std::vector<Part> parts;
  /// All of it is data: what arrived of a store, what came back of a load. Else null: the parts say what it holds.
  std::shared_ptr<const Bytes> bytes;
};

/// Of ops that belong to no program's launch.
constexpr uint32_t kNoLaunch = ~0u;

struct OpDesc {
  CommandType type = CommandType::math;
  OpKind kind = OpKind::math;
  /// Log name: dma_read, dma_write, gemm_f16, exp, composite_gemm, composite_math … (data contract §3).
  std::string name;
  /// Math op ("exp", "add", …), "gemm", or what an atomic does ("add", "cas", …); empty for loads and stores.
  std::string op;

  /// load: the source. store: the source (a TCM handle). gemm: A, B, and where the accumulator begins, if it is not at
  /// 0, that. math: all operands in order. atomic: the value, and of a cas what is expected.
  std::vector<Operand> operands;
  /// load: the TCM destination. store: the destination. Otherwise the result. Of what moves ranges the side in memory
  /// is said by these: its address here, or among the operands, is the first one's.
  TensorRef output;

  // GEMM, simple or composite: C[m,n] = op(A)[m,k] · op(B)[k,n].
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  DType dtype_acc = DType::f32;

  /// reduce, associative_scan: what they combine by (combiner.h). device_print, device_assert: the kernel's text.
  std::string argument;

  // Math: reductions (sum, max, min, argmax) along `axis`.
  bool reduction = false;
  int axis = 0;
  bool keepdims = false;

  // Composite.
  int64_t tile_m = 0, tile_n = 0, tile_k = 0;
  std::vector<EpilogueOp> epilogue;

  /// A store of real data: its bytes in row-major order; null where the source is pending.
  std::shared_ptr<const Bytes> data;
  /// Set where the op is a materialisation: a store of `data` to the very handle that it reads.
  std::shared_ptr<const Materialization> materialized;
  /// Set: a compute op whose result an engine of the user's gives (pe/tlm_engine.h). The one thing that is filled in
  /// after the submission, before the op's record is made.
  std::shared_ptr<EngineResult> engine_result;
  /// Set: a load or store that passes a block that is not of this project.
  std::shared_ptr<Carried> carried;
  /// Set: a gather (a load), a scatter (a store) or an atomic. A record of these is one of the command's transactions.
  std::shared_ptr<RangedOp> ranged;
  /// A load by which tl.wait_until looks at a flag: to the race check an atomic.
  bool polls = false;
  /// Set: a segment of a message. An ipcq_copy's pe, seq and submit_ns are those of the send (its source is read then),
  /// and its slot is written at the end of its record.
  std::shared_ptr<const QueueRecord> queue;
  // Who, in which order and when: filled in at submission.
  uint64_t handle_id = 0;       ///< of the tl handle made (load, compute) or stored
  uint32_t pe = kNoPe;          ///< who submitted, index in compiled order
  uint64_t seq = 0;             ///< program order within the PE, from 0
  double submit_ns = 0;         ///< after pe_cpu's overhead, before pe_scheduler's
  uint32_t launch = kNoLaunch;  ///< of a program's, from 0
  SourceLine where;

  /// Of what evaluation gives: the output's; of an atomic the old elements and the new ones.
  uint64_t value_bytes() const { return type == CommandType::atomic ? 2 * ranged->nbytes() : output.nbytes(); }

  std::vector<OwnParam> own_params;  ///< kind unknown: of a message of a user's own, in its order
  /// Adds one: a number, a truth value or a text.
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

}  // namespace kernbench
