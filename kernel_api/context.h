// SPDX-License-Identifier: Apache-2.0
// The context of a running kernel. Each call is a command of the PE; kernels name the context `tl`.
//
// A call first costs pe_cpu's overhead. Then one engine executes it: pe_dma for loads and stores, pe_gemm for dot,
// pe_math for everything else. A call returns when its command is done. An _async call, or any call through async(),
// returns after submission. wait() blocks and has no cost of its own.
//
// Data needs no waits between commands of one PE: a command takes effect at its submission, a load at its completion,
// and a command that uses a handle waits for its load. A call that cannot work throws a KernelFault with the kernel's
// line and the shapes and types of all operands.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/composite.h"
#include "kernbench/kernel_api/expr.h"
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/kernel_api/pointer.h"
#include "kernbench/kernel_api/tensor.h"

namespace kernbench::tl {

namespace detail {
struct MathOptions;
}

/// A PE's position in a launch (collectives rules §11.3).
struct Program {
  int64_t pe = 0;    ///< among the launched PEs of its cube
  int64_t pes = 1;   ///< launched PEs of its cube
  int64_t cube = 0;  ///< among the cubes of its SIP that have launched PEs
  int64_t cubes = 1;
  int64_t rank = 0;  ///< its SIP, among those of the launch
  int64_t ranks = 1;
  int64_t index = 0;  ///< among all launched PEs: the index for splitting work
  int64_t size = 1;
  std::shared_ptr<const LaunchShape> launch;  ///< null: unknown
};

/// Handle of a command without a result in TCM, such as a store; for wait().
class Event {
 public:
  Event() = default;

 private:
  friend class Context;
  explicit Event(Ticket t) : ticket_(t), valid_(true) {}
  Ticket ticket_ = 0;
  bool valid_ = false;
};

/// Memory order of an atomic (access rules §17.1, §17.5).
enum class Sem : uint8_t { relaxed, acquire, release, acq_rel };
std::string_view name_of(Sem);

/// Comparisons of tl.wait_until.
enum class Cmp : uint8_t { eq, ne, lt, ge };
std::string_view name_of(Cmp);

/// A reduction on the way (docs/multicast.md): its sources are the commands that name it, the n-th of each for the n-th
/// operation. `sources`: their number; `members`: their tl.index(), empty for all PEs of the launch.
struct ReduceGroup {
  ReduceGroup(std::string group, int64_t number, std::vector<int64_t> indices = {})
      : name(std::move(group)), sources(number), members(std::move(indices)) {}
  std::string name;
  int64_t sources;
  std::vector<int64_t> members;
};

/// Axis for reductions over all elements.
inline constexpr std::optional<int> all_axes = std::nullopt;

/// Overloads for elements by index, and for a block.
#define KERNBENCH_TL_ATOMIC(result, name)                                                                   \
  result name(Ptr, const Tensor& index, const Arg& value, const Tensor& mask = {}, Sem sem = Sem::acq_rel); \
  result name(const Block&, const Arg& value, const Tensor& mask = {}, Sem sem = Sem::acq_rel)

class Context {
 public:
  /// `backend` must outlive the context and every tensor made by it.
  explicit Context(PeBackend& backend, const Program& program = {});

  // ---- Who am I -------------------------------------------------------------------------------------------------
  /// Axis 0: this PE among the launched PEs of its cube. Axis 1: its cube among the cubes of its SIP. Axis 2: its rank.
  int64_t program_id(int axis, KERNBENCH_TL_HERE) const;
  int64_t num_programs(int axis, KERNBENCH_TL_HERE) const;
  /// This PE's SIP among the SIPs of the launch, and their number.
  int64_t rank() const { return program_.rank; }
  int64_t world_size() const { return program_.ranks; }
  /// This PE among all PEs of the launch, and their number. Kernels split work by these.
  int64_t index() const { return program_.index; }
  int64_t size() const { return program_.size; }
  /// All PEs of the launch and their grids. KernelFault if the shape is unknown, as for a kernel run by hand.
  const LaunchShape& launch() const;
  /// "sip0.cube0.pe0".
  const std::string& pe_id() const;

  // ---- The cube's shared SRAM -----------------------------------------------------------------------------------
  /// Pointer to its first byte, for loads, stores and composites. All PEs of the cube share the SRAM; the kernel
  /// decides which PE uses which part. KernelFault if the cube has none.
  Ptr sram(DType dtype = DType::f32, KERNBENCH_TL_HERE) const;
  /// Its size in bytes without the rings of queues at its end; 0 if the cube has none.
  uint64_t sram_bytes() const;

  // ---- Memory: pe_dma -------------------------------------------------------------------------------------------
  /// A block in memory, as an operand of a composite. The call moves no data.
  static Block ref(Ptr ptr, const Dims& shape, int64_t ld = 0, KERNBENCH_TL_HERE) {
    return {ptr, shape, ld, file, line};
  }

  /// Copies memory to TCM. A strided block is one command. KernelFault for a misaligned or out-of-range read, and for a
  /// read of memory that was never written (when the data arrives).
  Loaded load(const Block& from, KERNBENCH_TL_HERE);
  Loaded load(Ptr from, const Dims& shape, KERNBENCH_TL_HERE) {
    return load(from.block(shape, 0, file, line), file, line);
  }
  Loaded load_async(const Block& from, KERNBENCH_TL_HERE);
  Loaded load_async(Ptr from, const Dims& shape, KERNBENCH_TL_HERE) {
    return load_async(from.block(shape, 0, file, line), file, line);
  }
  /// Masked load: elements whose mask is 0 are not read and get the value `other`. The mask has any type and the
  /// block's shape. The complete block must lie in one memory. If the mask is pending, so is the result.
  Loaded load(const Block& from, const Tensor& mask, double other = 0, KERNBENCH_TL_HERE);
  Loaded load_async(const Block& from, const Tensor& mask, double other = 0, KERNBENCH_TL_HERE);

  /// Copies TCM to memory; shapes and types must be equal (use tl.cast before). Elements whose mask is 0 keep their
  /// values.
  Event store(const Block& to, const Tensor& value, KERNBENCH_TL_HERE);
  Event store(Ptr to, const Tensor& value, KERNBENCH_TL_HERE) {
    return store(to.block(value.shape(), 0, file, line), value, file, line);
  }
  Event store_async(const Block& to, const Tensor& value, KERNBENCH_TL_HERE);
  Event store_async(Ptr to, const Tensor& value, KERNBENCH_TL_HERE) {
    return store_async(to.block(value.shape(), 0, file, line), value, file, line);
  }
  /// Stores the value at several pointers in one command: a multicast (docs/multicast.md). Each memory holds one
  /// destination at most, and every destination is dense.
  Event multicast(const std::vector<Ptr>& destinations, const Tensor& value, KERNBENCH_TL_HERE);
  Event multicast_async(const std::vector<Ptr>& destinations, const Tensor& value, KERNBENCH_TL_HERE);
  Event store(const Block& to, const Tensor& value, const Tensor& mask, KERNBENCH_TL_HERE);
  Event store_async(const Block& to, const Tensor& value, const Tensor& mask, KERNBENCH_TL_HERE);

  // ---- Gather and scatter: pe_dma (access rules §16) ---------------------------------------------------------
  // For each i whose mask is not 0 (default: each i): `width` elements from ptr + index[i] · stride on; stride 0 means
  // width. Index (i32, i64) and mask must not be pending at the call. A call is one command, with one transaction for
  // each memory. KernelFault for misaligned and out-of-range elements.

  /// The result has the shape of index, with a last dimension `width` if that is more than 1. Masked-out elements are
  /// `other`.
  Loaded gather(Ptr from, const Tensor& index, const Tensor& mask = {}, double other = 0, int64_t width = 1,
                int64_t stride = 0, KERNBENCH_TL_HERE) {
    return gather_impl(from, index, mask, other, width, stride, async_, {file, line});
  }
  Loaded gather_async(Ptr from, const Tensor& index, const Tensor& mask = {}, double other = 0, int64_t width = 1,
                      int64_t stride = 0, KERNBENCH_TL_HERE) {
    return gather_impl(from, index, mask, other, width, stride, true, {file, line});
  }
  /// `value` has the same shape as the result of gather(). If an index repeats, the later element wins.
  Event scatter(Ptr to, const Tensor& index, const Tensor& value, const Tensor& mask = {}, int64_t width = 1,
                int64_t stride = 0, KERNBENCH_TL_HERE) {
    return scatter_impl(to, index, value, mask, width, stride, async_, {file, line});
  }
  Event scatter_async(Ptr to, const Tensor& index, const Tensor& value, const Tensor& mask = {}, int64_t width = 1,
                      int64_t stride = 0, KERNBENCH_TL_HERE) {
    return scatter_impl(to, index, value, mask, width, stride, true, {file, line});
  }

  // ---- Atomics: pe_dma's write channel (access rules §17) ----------------------------------------------------
  // Atomics on elements ptr + index[i], or on the elements of a block. Types: u32 and i32, all; f32, add, max, min and
  // xchg; f16 and bf16, add. `value` is a tensor of that shape, or an immediate. Index and mask are as in gather(). A
  // repeated element is updated repeatedly, in index order. A release (acq_rel, the default, includes one) waits until
  // all earlier writes of the kernel are complete; the kernel continues meanwhile.

  /// atomic_…: returns the old values, 0 for masked-out elements; `value` must not be pending. red_…: returns nothing;
  /// a pending `value` makes the updated elements pending.
  KERNBENCH_TL_ATOMIC(Loaded, atomic_add);
  KERNBENCH_TL_ATOMIC(Loaded, atomic_max);
  KERNBENCH_TL_ATOMIC(Loaded, atomic_min);
  KERNBENCH_TL_ATOMIC(Loaded, atomic_and);
  KERNBENCH_TL_ATOMIC(Loaded, atomic_or);
  KERNBENCH_TL_ATOMIC(Loaded, atomic_xor);
  KERNBENCH_TL_ATOMIC(Loaded, atomic_xchg);
  KERNBENCH_TL_ATOMIC(Event, red_add);
  KERNBENCH_TL_ATOMIC(Event, red_max);
  KERNBENCH_TL_ATOMIC(Event, red_min);
  KERNBENCH_TL_ATOMIC(Event, red_and);
  KERNBENCH_TL_ATOMIC(Event, red_or);
  KERNBENCH_TL_ATOMIC(Event, red_xor);
  /// A source of a reduction on the way: nodes that declare `reduces` add up what meets there. Sources agree in op,
  /// type and place, which lies in one memory. Done when all sources' values are there. KernelFault otherwise.
  Event red_add(const Block&, const Arg& value, const ReduceGroup&, Sem sem = Sem::acq_rel);
  Event red_max(const Block&, const Arg& value, const ReduceGroup&, Sem sem = Sem::acq_rel);
  Event red_min(const Block&, const Arg& value, const ReduceGroup&, Sem sem = Sem::acq_rel);
  Event red(const char* op, const Block&, const Arg& value, const ReduceGroup&, Sem);
  /// Any atomic by name.
  Loaded atomic(const char* op, Ptr, const Tensor& index, const Arg& value, const Tensor& mask, Sem);
  Loaded atomic(const char* op, const Block&, const Arg& value, const Tensor& mask, Sem);
  /// Compare and swap: stores `value` if memory holds `expected`; u32 and i32. Both must not be pending.
  Loaded atomic_cas(Ptr, const Tensor& index, const Arg& expected, const Arg& value, Sem sem = Sem::acq_rel);
  Loaded atomic_cas(const Block&, const Arg& expected, const Arg& value, Sem sem = Sem::acq_rel);
  Event red(const char* op, Ptr, const Tensor& index, const Arg& value, const Tensor& mask, Sem);
  Event red(const char* op, const Block&, const Arg& value, const Tensor& mask, Sem);

  // Flags: elements of u32 or i32 in memory.
  /// A red xchg with release order.
  Event signal(Ptr flag, int64_t value, KERNBENCH_TL_HERE);
  /// Polls by loads, with pe_cpu's poll_ns between them, until the comparison holds. Then the kernel is ordered after
  /// all earlier releases to the flag. KernelFault if no pending operation can change the flag.
  void wait_until(Ptr flag, Cmp cmp, int64_t value, KERNBENCH_TL_HERE);

  // ---- Matrix: pe_gemm ------------------------------------------------------------------------------------------
  /// A[m, k] · B[k, n], accumulated in f32, or in i32 if both are integers. The result has that type unless `out` sets
  /// another. Transposed views cost no copy. A and B have the same element type, or one of them has an 8-bit or packed
  /// type (weights). For packed types (i4, e2m1), the dimension of dense rows counts pairs. Not for u32 and
  /// i64.
  Tensor dot(const Tensor& a, const Tensor& b, std::optional<DType> out = std::nullopt, KERNBENCH_TL_HERE);
  Tensor dot_async(const Tensor& a, const Tensor& b, std::optional<DType> out = std::nullopt, KERNBENCH_TL_HERE);
  /// acc + A · B; acc is [m, n], with the accumulator's type.
  Tensor dot(const Tensor& a, const Tensor& b, const Tensor& acc, std::optional<DType> out = std::nullopt,
             KERNBENCH_TL_HERE);
  /// A · B [+ acc] of operands in the OCP MX formats. lhs [m, k] and rhs [k, n] are e2m1 (pairs along k), f8e4m3 or
  /// f8e5m2, with scales of u8 (e8m0) [m, k / 32] and [n, k / 32], as in Triton; or f16 or bf16 without scales. MATH
  /// commands convert scaled operands to f16 if the other operand is f16, else to bf16; one GEMM follows. `none()`
  /// means no scale, or no accumulator.
  Tensor dot_scaled(const Tensor& lhs, const Tensor& lhs_scale, const Tensor& rhs, const Tensor& rhs_scale,
                    const Tensor& acc = {}, std::optional<DType> out = std::nullopt, KERNBENCH_TL_HERE);
  static Tensor none() { return {}; }
  /// x · scale as floats of type `to`. i4 and e2m1 give twice as many values along the last axis. `scale` is a number,
  /// or a tensor of x's rank in which each element scales an equal group along the last axis; its type is a float, or
  /// u8 for e8m0. One MATH command.
  Tensor dequantize(const Tensor& x, const Arg& scale, DType to, KERNBENCH_TL_HERE);

  // ---- Composites: pe_scheduler ---------------------------------------------------------------------------------
  /// Submits the composite and returns. The handle is the result in TCM, or represents the block in memory (for
  /// wait()).
  Tensor composite(const Composite& c, KERNBENCH_TL_HERE);

  // ---- Messages: pe_ipcq (collectives rules §10, §11) ----------------------------------------------------------
  // Ports are those of KernelSpec::queues. KernelFaults, each with the kernel's line, the PE and the port: an unknown
  // port; a message with another byte count, shape or dtype than expected; a value that is not contiguous or not in
  // TCM; a recv_any of a port with an outstanding receive; a message that is not received when the PE ends.

  /// The names of this PE's ports, in declared order.
  std::vector<std::string> ports() const;
  /// Sends the current contents of the tensor to the PE at the other end of the port, pending or not. send() returns
  /// when the last segment of the message has a slot at the receiver. send_async() returns immediately; its event is
  /// done when the message has left this PE. Messages of a port arrive in order.
  void send(const std::string& port, const Tensor& value, KERNBENCH_TL_HERE);
  Event send_async(const std::string& port, const Tensor& value, KERNBENCH_TL_HERE);
  /// An empty message.
  void send(const std::string& port, KERNBENCH_TL_HERE);
  Event send_async(const std::string& port, KERNBENCH_TL_HERE);
  /// One message to the receivers behind several ports, which are different PEs (docs/multicast.md). Returns when its
  /// last segment has a slot at each of them.
  void send_all(const std::vector<std::string>& ports, const Tensor& value, KERNBENCH_TL_HERE);
  Event send_all_async(const std::vector<std::string>& ports, const Tensor& value, KERNBENCH_TL_HERE);
  Event send_all_async(const std::vector<std::string>& ports, KERNBENCH_TL_HERE);  ///< an empty message
  /// The next message of the port, which must have this shape and dtype. Its elements can be read as those of a load.
  /// If any byte was pending at the sender, the handle is pending.
  Loaded recv(const std::string& port, const Dims& shape, DType dtype, KERNBENCH_TL_HERE);
  Loaded recv_async(const std::string& port, const Dims& shape, DType dtype, KERNBENCH_TL_HERE);
  /// The port's next message, which must be empty.
  void recv(const std::string& port, KERNBENCH_TL_HERE);
  /// The next message of any of these ports, round robin from the port after that of the last recv_any; and its port.
  struct FromAny {
    Loaded value;
    std::string port;
  };
  FromAny recv_any(const std::vector<std::string>& ports, const Dims& shape, DType dtype, KERNBENCH_TL_HERE);
  /// Receives a message of the block's shape and dtype and stores it there, in one call. The event is done with the
  /// store. Meanwhile the message needs space in TCM.
  Event copy_to_dst(const std::string& port, const Block& to, KERNBENCH_TL_HERE);
  Event copy_to_dst_async(const std::string& port, const Block& to, KERNBENCH_TL_HERE);

  // ---- Waiting --------------------------------------------------------------------------------------------------
  /// Blocks until their commands are done; costs nothing. Of several: until all are.
  void wait(const Tensor& t);
  void wait(const Event& e);
  template <class First, class Second, class... Rest>
  void wait(const First& first, const Second& second, const Rest&... rest) {
    wait(first);
    wait(second, rest...);
  }
  /// Waits for all of them. The record of the next command that is not a message lists their ops in dependency_ids:
  /// Phase 2 computes them earlier, even if no address implies that order (data rules §3; ADR-0020 D5). Ops of messages
  /// are not listed.
  template <class... Awaited>
  void follow(const Awaited&... first) {
    wait(first...);
    (follow_one(first), ...);
  }
  /// Waits for the tensor, then computes its elements in Phase 1, so that the kernel can branch on them. It runs only
  /// the ops that the tensor depends on. The attributes materialize_* of pe_cpu limit that work; beyond the limits it
  /// is a KernelFault. Costs pe_cpu's overhead, and nothing for data that is not pending. KernelSpec must set
  /// `materializes = true`. Afterwards the handle, its copies, views and stores are not pending.
  Loaded materialize(const Tensor& t, KERNBENCH_TL_HERE);
  /// This context with every call asynchronous: `auto e = tl.async().exp(x); …; tl.wait(e);`
  Context async() const;
  /// The caller of the kernel calls this after the kernel returns: it waits for commands in flight and checks loads
  /// that the kernel never waited for.
  void finish();

  // ---- Scalar work: pe_cpu --------------------------------------------------------------------------------------
  /// The kernel's own C++ takes no simulated time. This call adds cycles of pe_cpu: cycles / freq_ghz ns, from 0 to
  /// 1e12. (pe_cpu's read_cycles is the cost of reading elements of a Loaded.)
  void elapse(double cycles, KERNBENCH_TL_HERE);
  /// For interpreters of compiled kernels: the costs of arithmetic (pe_cpu's scalar_cycles and index_cycles), and the
  /// kernel's clock.
  ScalarCycles scalar_cycles() const;
  double now_ns() const;

  // ---- Math: pe_math --------------------------------------------------------------------------------------------
  // Operands: tensors of one element type and immediates, broadcast as numpy does.
  // One call for each row of elementwise_ops.inc; `kernbench list ops` describes them. Comparisons return masks of u8,
  // 0 or 1. where(mask, a, b) is a where the mask (any type) is not 0.
#define KERNBENCH_TL_OP1(name) \
  Tensor name(const Arg& x) {  \
    return op(#name, {x});     \
  }
#define KERNBENCH_TL_OP2(name)              \
  Tensor name(const Arg& a, const Arg& b) { \
    return op(#name, {a, b});               \
  }
#define KERNBENCH_TL_OP3(name)                            \
  Tensor name(const Arg& a, const Arg& b, const Arg& c) { \
    return op(#name, {a, b, c});                          \
  }
#define KERNBENCH_ELEMENTWISE(name, operands, ...) KERNBENCH_TL_OP##operands(name)
#include "kernbench/phase2/op/elementwise_ops.inc"
#undef KERNBENCH_ELEMENTWISE
#undef KERNBENCH_TL_OP1
#undef KERNBENCH_TL_OP2
#undef KERNBENCH_TL_OP3
  /// Any elementwise op by name.
  Tensor op(const char* name, std::initializer_list<Arg> operands);

  /// Converts elements to another type (rounding to nearest even; to integers: toward zero, saturating).
  Tensor cast(const Tensor& x, DType to, KERNBENCH_TL_HERE);
  /// A dense copy of a view.
  Tensor copy(const Tensor& x, KERNBENCH_TL_HERE);
  /// As Tensor::reshape, but copies if the view requires it.
  Tensor reshape(const Tensor& x, const Dims& shape, KERNBENCH_TL_HERE);

  /// Reductions along an axis (negative: from the end). The axis is dropped, or kept as 1. all_axes: over all elements.
  /// sum and prod of integers under 32 bits give i32. argmax and argmin give i32, the first of equal elements. xor_sum
  /// needs integers.
  Tensor sum(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor max(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor min(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor argmax(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor argmin(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor prod(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor xor_sum(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  /// Value and index; two commands.
  struct WithIndices {
    Tensor values, indices;
  };
  WithIndices max_with_indices(const Tensor& x, int axis, bool keepdims = false, KERNBENCH_TL_HERE) {
    return {max(x, axis, keepdims, file, line), argmax(x, axis, keepdims, file, line)};
  }
  WithIndices min_with_indices(const Tensor& x, int axis, bool keepdims = false, KERNBENCH_TL_HERE) {
    return {min(x, axis, keepdims, file, line), argmin(x, axis, keepdims, file, line)};
  }
  /// Reduction with a user-defined combiner, which should be associative. The order is from the first element to the
  /// last, with one rounding to the element type at the end. `combine` is called once with two tl::Expr and returns
  /// their combination.
  template <class F>
  Tensor reduce(const Tensor& x, int axis, F combine, bool keepdims = false, KERNBENCH_TL_HERE) {
    return combined("reduce", x, axis, combine(Expr::a(), Expr::b()), keepdims, {file, line});
  }
  /// The same for a tuple of 2 to 4 tensors of one shape and any types. `combine` gets the N previous values and the N
  /// next values, and returns std::array<tl::Expr, N>. An operation in it may not mix floats with integers. One command
  /// for each member of the result.
  template <size_t N, class F>
  std::array<Tensor, N> reduce(const Tensor (&x)[N], int axis, F combine, bool keepdims = false, KERNBENCH_TL_HERE) {
    return combined_tuple("reduce", x, axis, combine, keepdims, {file, line});
  }
  /// For floats, along one axis. One command.
  Tensor softmax(const Tensor& x, int axis = -1, KERNBENCH_TL_HERE);

  /// Scans along an axis, or from its end if `reverse`: element i combines the elements up to i. Types as for sum.
  Tensor cumsum(const Tensor& x, int axis = 0, bool reverse = false, KERNBENCH_TL_HERE);
  Tensor cumprod(const Tensor& x, int axis = 0, bool reverse = false, KERNBENCH_TL_HERE);
  template <class F>
  Tensor associative_scan(const Tensor& x, int axis, F combine, bool reverse = false, KERNBENCH_TL_HERE) {
    return combined("associative_scan", x, axis, combine(Expr::a(), Expr::b()), reverse, {file, line});
  }
  template <size_t N, class F>
  std::array<Tensor, N> associative_scan(const Tensor (&x)[N], int axis, F combine, bool reverse = false,
                                         KERNBENCH_TL_HERE) {
    return combined_tuple("associative_scan", x, axis, combine, reverse, {file, line});
  }

  /// Sorts along an axis. The sort is stable; NaN counts as the largest. argsort returns the indices (i32).
  Tensor sort(const Tensor& x, int axis = -1, bool descending = false, KERNBENCH_TL_HERE);
  Tensor argsort(const Tensor& x, int axis = -1, bool descending = false, KERNBENCH_TL_HERE);
  /// The k largest elements along an axis, largest first.
  Tensor topk(const Tensor& x, int64_t k, int axis = -1, KERNBENCH_TL_HERE);

  /// Concatenation of tensors of one type, with equal shapes except along the axis.
  Tensor cat(const std::vector<Tensor>& parts, int axis = 0, KERNBENCH_TL_HERE);
  /// a and b as elements 0 and 1 of a new last axis. split() is the inverse and needs no command.
  Tensor join(const Tensor& a, const Tensor& b, KERNBENCH_TL_HERE);
  std::pair<Tensor, Tensor> split(const Tensor& x, KERNBENCH_TL_HERE);
  /// a[0], b[0], a[1], b[1], … along the last axis.
  Tensor interleave(const Tensor& a, const Tensor& b, KERNBENCH_TL_HERE);
  Tensor flip(const Tensor& x, int axis = -1, KERNBENCH_TL_HERE);
  /// x[…, index[…, i, …], …] along an axis. x and index (integers) have the same shape except along the axis.
  /// KernelFault for an index out of range.
  Tensor gather(const Tensor& x, const Tensor& index, int axis, KERNBENCH_TL_HERE);
  /// Number of elements of x (integers) that equal 0, 1, … bins - 1: i32 [bins]. Other values are ignored.
  Tensor histogram(const Tensor& x, int64_t bins, KERNBENCH_TL_HERE);
  /// Views, as Tensor's.
  static Tensor permute(const Tensor& x, const std::vector<int>& order, KERNBENCH_TL_HERE) {
    return x.permute(order, file, line);
  }
  static Tensor broadcast_to(const Tensor& x, const Dims& shape, KERNBENCH_TL_HERE) {
    return x.broadcast_to(shape, file, line);
  }

  // Philox 4x32, bit-identical to Triton 3: one number for each offset (integers of any type; all 64 bits of an i64).
  // The seed lies within ±2^53.
  /// u32; randint4x: the generator's four words, with one command for each.
  Tensor randint(int64_t seed, const Tensor& offsets, int rounds = 10, KERNBENCH_TL_HERE);
  std::array<Tensor, 4> randint4x(int64_t seed, const Tensor& offsets, int rounds = 10, KERNBENCH_TL_HERE);
  /// f32: uniform in [0, 1); normal, by Box and Muller.
  Tensor rand(int64_t seed, const Tensor& offsets, int rounds = 10, KERNBENCH_TL_HERE);
  Tensor randn(int64_t seed, const Tensor& offsets, int rounds = 10, KERNBENCH_TL_HERE);

  /// A tensor of values from the kernel (rounded, or wrapped, to the type; row-major). The values are not pending: they
  /// can be read, sent and stored. Costs pe_cpu's overhead.
  template <class T>
  Loaded tensor(const std::vector<T>& values, const Dims& shape, DType dtype, KERNBENCH_TL_HERE) {
    static_assert(std::is_arithmetic_v<T>);
    if constexpr (std::is_integral_v<T>) {
      return of_integers(std::vector<int64_t>(values.begin(), values.end()), shape, dtype, {file, line});
    } else {
      return of_floats(std::vector<double>(values.begin(), values.end()), shape, dtype, {file, line});
    }
  }

  /// Prints a line on standard error: the kernel's line, the PE, the text, and the first 64 elements. For a pending
  /// tensor it is a MATH command, and Phase 2 prints the line, in the order of effects.
  void device_print(const std::string& text, const Tensor& x, KERNBENCH_TL_HERE);
  /// Throws a KernelFault unless all elements of the condition are nonzero. Phase 2 checks a pending condition.
  void device_assert(const Tensor& condition, const std::string& text = "does not hold", KERNBENCH_TL_HERE);

  /// All elements are the value, or 0.
  Tensor full(const Dims& shape, double value, DType dtype, KERNBENCH_TL_HERE);
  Tensor zeros(const Dims& shape, DType dtype, KERNBENCH_TL_HERE) {
    return full(shape, 0, dtype, file, line);
  }
  /// start, start + step, … below `end`.
  Tensor arange(double start, double end, double step = 1, DType dtype = DType::i32, KERNBENCH_TL_HERE);

  /// ⌈a / b⌉.
  static constexpr int64_t cdiv(int64_t a, int64_t b) {
    return (a + b - 1) / b;
  }

 private:
  friend class Assembly;
  void follow_one(const Tensor& t);
  void follow_one(const Event& e);
  Loaded load_impl(const Block& from, const Tensor* mask, double other, bool async, SourceLine where);
  Loaded gather_impl(Ptr, const Tensor& index, const Tensor& mask, double other, int64_t width, int64_t stride,
                     bool async, SourceLine where);
  Event scatter_impl(Ptr, const Tensor& index, const Tensor& value, const Tensor& mask, int64_t width, int64_t stride,
                     bool async, SourceLine where);
  struct Elements;
  /// The command, and the handle of the old values if the atomic returns them.
  std::pair<Ticket, Tensor> atomic_impl(const std::string& op, bool returns_old, const Elements&,
                                        const std::vector<Arg>& operands, const Tensor& mask, Sem, SourceLine where,
                                        std::shared_ptr<OnTheWay> source = nullptr);
  static Elements elements_of(const Block&);
  Elements elements_of(const Ptr&, const Tensor& index, const std::string& call, SourceLine where, int64_t width = 1,
                       int64_t stride = 0);
  std::shared_ptr<RangedOp> ranges_of(const Elements&, const Tensor& mask, const std::string& call, SourceLine where);
  Event send_impl(const char* call, const std::vector<std::string>& ports, const Tensor* value, bool async,
                  SourceLine where);
  Tensor recv_impl(const std::vector<std::string>& ports, const Dims& shape, DType dtype, bool async,
                   std::string* taken, SourceLine where);
  Event copy_impl(const std::string& port, const Block& to, bool async, SourceLine where);
  Event multicast_impl(const std::vector<Ptr>&, const Tensor& value, bool async, SourceLine where);
  std::shared_ptr<OpDesc> store_of(const Block& to, const Tensor& value, const Tensor* mask, const char* call,
                                   SourceLine where);
  Event submit_store(const std::shared_ptr<OpDesc>&, const Tensor& value, const Tensor* mask, bool async);
  Event store_impl(const Block& to, const Tensor& value, const Tensor* mask, bool async, SourceLine where);
  Tensor dot_impl(const Tensor& a, const Tensor& b, const Tensor* acc, std::optional<DType> out, bool async,
                  SourceLine where);
  Tensor reduced(const char* op, const Tensor& x, std::optional<int> axis, bool keepdims, SourceLine where);
  Tensor combined(const char* op, const Tensor& x, int axis, const Expr&, bool option, SourceLine where);
  template <size_t N, class F>
  std::array<Tensor, N> combined_tuple(const char* op, const Tensor (&x)[N], int axis, const F& combine, bool option,
                                       SourceLine where) {
    static_assert(N >= 2 && N <= 4, "a tuple has 2 to 4 members");
    const std::vector<Tensor> members(x, x + N);
    const std::vector<std::string> texts = member_combiners<N>(combine, std::make_index_sequence<N>());
    std::array<Tensor, N> made;
    for (size_t i = 0; i < N; ++i) made[i] = combined_member(op, members, i, axis, texts[i], option, where);
    return made;
  }
  Tensor combined_member(const char* op, const std::vector<Tensor>& x, size_t member, int axis,
                         const std::string& combiner, bool option, SourceLine where);
  Tensor scanned(const char* op, const Tensor& x, int axis, bool reverse, const std::string& argument,
                 SourceLine where);
  Tensor sorted(const char* op, const Tensor& x, int axis, double option, int64_t kept, SourceLine where);
  Tensor drawn(const char* op, int64_t seed, const Tensor& offsets, int rounds, int word, SourceLine where);
  void report(const char* op, const std::string& text, const Tensor& x, SourceLine where);
  Loaded of_integers(const std::vector<int64_t>& values, const Dims& shape, DType dtype, SourceLine where);
  Loaded of_floats(const std::vector<double>& values, const Dims& shape, DType dtype, SourceLine where);

  std::shared_ptr<detail::Core> core_;
  Program program_;
  bool async_ = false;
};
#undef KERNBENCH_TL_ATOMIC

}  // namespace kernbench::tl
