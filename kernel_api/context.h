// The context of a running kernel: every call here is a command of the PE (kernels name it `tl`).
//
// Each call costs pe_cpu's overhead in the kernel, then runs on one engine: loads and stores on pe_dma, dot on pe_gemm,
// everything else on pe_math. A call returns when its command is done, an _async call (and every call through async())
// right after submission; wait() blocks and costs nothing. Order between commands of one PE needs no waits for data:
// each takes effect at its submission, loads at their completion, and a load in flight is waited for before another
// command uses its handle. Calls that cannot work are KernelFaults with the kernel's line, shapes and types of all
// operands.
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

/// A PE's place in a launch (collectives contract §11.3).
struct Program {
  int64_t pe = 0;    ///< among the launched PEs of its cube
  int64_t pes = 1;   ///< launched PEs of its cube
  int64_t cube = 0;  ///< among the cubes of its SIP that have launched PEs
  int64_t cubes = 1;
  int64_t rank = 0;  ///< its SIP, among those of the launch
  int64_t ranks = 1;
  int64_t index = 0;  ///< among all launched PEs: the index that work is split by
  int64_t size = 1;
  std::shared_ptr<const LaunchShape> launch;  ///< null: not known
};

/// A command that leaves nothing in TCM (a store), to wait for.
class Event {
 public:
  Event() = default;

 private:
  friend class Context;
  explicit Event(Ticket t) : ticket_(t), valid_(true) {}
  Ticket ticket_ = 0;
  bool valid_ = false;
};

/// How an atomic stands among the other accesses of its program and of others (access contract §17.1, §17.5).
enum class Sem : uint8_t { relaxed, acquire, release, acq_rel };
std::string_view name_of(Sem);

/// What tl.wait_until compares by.
enum class Cmp : uint8_t { eq, ne, lt, ge };
std::string_view name_of(Cmp);

/// Axis for reductions over all elements.
inline constexpr std::optional<int> all_axes = std::nullopt;

/// Of elements by index, and of a block.
#define KERNBENCH_TL_ATOMIC(result, name)                                                                   \
  result name(Ptr, const Tensor& index, const Arg& value, const Tensor& mask = {}, Sem sem = Sem::acq_rel); \
  result name(const Block&, const Arg& value, const Tensor& mask = {}, Sem sem = Sem::acq_rel)

class Context {
 public:
  /// `backend` must outlive the context and every tensor made by it.
  explicit Context(PeBackend& backend, const Program& program = {});

  // ---- Who am I -------------------------------------------------------------------------------------------------
  /// Axis 0: this PE among the launched PEs of its cube; axis 1: its cube among those of its SIP; axis 2: its rank.
  int64_t program_id(int axis, KERNBENCH_TL_HERE) const;
  int64_t num_programs(int axis, KERNBENCH_TL_HERE) const;
  /// This PE's SIP among the SIPs of the launch, and their number.
  int64_t rank() const { return program_.rank; }
  int64_t world_size() const { return program_.ranks; }
  /// This PE among all PEs of the launch, and their number: what work is split by.
  int64_t index() const { return program_.index; }
  int64_t size() const { return program_.size; }
  /// All PEs of the launch and the grids that they stand in. KernelFault where it is not known (a kernel run by hand).
  const LaunchShape& launch() const;
  /// "sip0.cube0.pe0".
  const std::string& pe_id() const;

  // ---- The cube's shared SRAM -----------------------------------------------------------------------------------
  /// Pointer to its first byte, for loads, stores and composites; all PEs of the cube share it, and who uses which part
  /// is the kernel's to say. KernelFault where the cube has none.
  Ptr sram(DType dtype = DType::f32, KERNBENCH_TL_HERE) const;
  /// Its size without the rings of queues at its end; 0 where the cube has none.
  uint64_t sram_bytes() const;

  // ---- Memory: pe_dma -------------------------------------------------------------------------------------------
  /// A block in memory for a composite: nothing is moved by this call.
  static Block ref(Ptr ptr, const Dims& shape, int64_t ld = 0, KERNBENCH_TL_HERE) {
    return {ptr, shape, ld, file, line};
  }

  /// Memory to TCM; a strided block is one command. Misaligned, out-of-range and never-written reads are KernelFaults
  /// (never-written ones when the data arrives).
  Loaded load(const Block& from, KERNBENCH_TL_HERE);
  Loaded load(Ptr from, const Dims& shape, KERNBENCH_TL_HERE) {
    return load(from.block(shape, 0, file, line), file, line);
  }
  Loaded load_async(const Block& from, KERNBENCH_TL_HERE);
  Loaded load_async(Ptr from, const Dims& shape, KERNBENCH_TL_HERE) {
    return load_async(from.block(shape, 0, file, line), file, line);
  }
  /// Elements whose mask (any type, the block's shape) is 0 are not read and are `other`. The block must lie in memory
  /// as a whole. A pending mask makes the result pending.
  Loaded load(const Block& from, const Tensor& mask, double other = 0, KERNBENCH_TL_HERE);
  Loaded load_async(const Block& from, const Tensor& mask, double other = 0, KERNBENCH_TL_HERE);

  /// TCM to memory; shapes and types must be equal (tl.cast before). Elements whose mask is 0 stay as they are.
  Event store(const Block& to, const Tensor& value, KERNBENCH_TL_HERE);
  Event store(Ptr to, const Tensor& value, KERNBENCH_TL_HERE) {
    return store(to.block(value.shape(), 0, file, line), value, file, line);
  }
  Event store_async(const Block& to, const Tensor& value, KERNBENCH_TL_HERE);
  Event store_async(Ptr to, const Tensor& value, KERNBENCH_TL_HERE) {
    return store_async(to.block(value.shape(), 0, file, line), value, file, line);
  }
  Event store(const Block& to, const Tensor& value, const Tensor& mask, KERNBENCH_TL_HERE);
  Event store_async(const Block& to, const Tensor& value, const Tensor& mask, KERNBENCH_TL_HERE);

  // ---- Gather and scatter: pe_dma (access contract §16) ---------------------------------------------------------
  // `width` elements from ptr + index[i] · stride on (stride 0: width), for each i whose mask (none: each) is not 0.
  // Index (i32, i64) and mask must be real when the call is made. One command, a transaction for each memory.
  // Misaligned and out-of-range elements are KernelFaults.

  /// Of index's shape, with `width` behind it if that is more than 1. What the mask leaves out is `other`.
  Loaded gather(Ptr from, const Tensor& index, const Tensor& mask = {}, double other = 0, int64_t width = 1,
                int64_t stride = 0, KERNBENCH_TL_HERE) {
    return gather_impl(from, index, mask, other, width, stride, async_, {file, line});
  }
  Loaded gather_async(Ptr from, const Tensor& index, const Tensor& mask = {}, double other = 0, int64_t width = 1,
                      int64_t stride = 0, KERNBENCH_TL_HERE) {
    return gather_impl(from, index, mask, other, width, stride, true, {file, line});
  }
  /// `value` has that shape. Where an index stands twice the later element stays.
  Event scatter(Ptr to, const Tensor& index, const Tensor& value, const Tensor& mask = {}, int64_t width = 1,
                int64_t stride = 0, KERNBENCH_TL_HERE) {
    return scatter_impl(to, index, value, mask, width, stride, async_, {file, line});
  }
  Event scatter_async(Ptr to, const Tensor& index, const Tensor& value, const Tensor& mask = {}, int64_t width = 1,
                      int64_t stride = 0, KERNBENCH_TL_HERE) {
    return scatter_impl(to, index, value, mask, width, stride, true, {file, line});
  }

  // ---- Atomics: pe_dma's write channel (access contract §17) ----------------------------------------------------
  // On elements ptr + index[i], or those of a block. Of u32 and i32 all, of f32 add, max, min and xchg, of f16 and bf16
  // add. `value` is a tensor of that shape or an immediate; index and mask as of a gather. Elements that stand twice
  // are done twice, in index order. A release (the default, acq_rel, is one) is submitted when all that the kernel has
  // written before is complete, while the kernel goes on.

  /// atomic_…: the old values, 0 where the mask leaves elements out; `value` must be real. red_…: nothing comes back,
  /// and `value` may be pending; then so is what it is added to.
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
  /// Any of them by name.
  Loaded atomic(const char* op, Ptr, const Tensor& index, const Arg& value, const Tensor& mask, Sem);
  Loaded atomic(const char* op, const Block&, const Arg& value, const Tensor& mask, Sem);
  /// `value` where memory holds what is expected; u32 and i32. Both must be real.
  Loaded atomic_cas(Ptr, const Tensor& index, const Arg& expected, const Arg& value, Sem sem = Sem::acq_rel);
  Loaded atomic_cas(const Block&, const Arg& expected, const Arg& value, Sem sem = Sem::acq_rel);
  Event red(const char* op, Ptr, const Tensor& index, const Arg& value, const Tensor& mask, Sem);
  Event red(const char* op, const Block&, const Arg& value, const Tensor& mask, Sem);

  // Flags: elements of u32 or i32 in memory.
  /// A red xchg that releases.
  Event signal(Ptr flag, int64_t value, KERNBENCH_TL_HERE);
  /// Polls by loads, pe_cpu's poll_ns after one has not found it, until the flag compares so with the value; the kernel
  /// is then behind all that released before on it. KernelFault if no pending operation can change the flag.
  void wait_until(Ptr flag, Cmp cmp, int64_t value, KERNBENCH_TL_HERE);

  // ---- Matrix: pe_gemm ------------------------------------------------------------------------------------------
  /// A[m, k] · B[k, n], accumulated in f32, or in i32 where both are integers; the result has that type unless `out`
  /// says another. Transposed views cost no copy. A and B have one element type, or one of them is an 8-bit or packed
  /// type (weights); of packed types (i4, e2m1) the dimension along which rows are dense counts pairs. Not of u32 and
  /// i64.
  Tensor dot(const Tensor& a, const Tensor& b, std::optional<DType> out = std::nullopt, KERNBENCH_TL_HERE);
  Tensor dot_async(const Tensor& a, const Tensor& b, std::optional<DType> out = std::nullopt, KERNBENCH_TL_HERE);
  /// acc + A · B; acc is [m, n] of the type that is accumulated in.
  Tensor dot(const Tensor& a, const Tensor& b, const Tensor& acc, std::optional<DType> out = std::nullopt,
             KERNBENCH_TL_HERE);
  /// A · B [+ acc] of operands in OCP's MX formats: lhs [m, k] and rhs [k, n] of e2m1 (pairs along k), f8e4m3 or f8e5m2
  /// with scales of u8 (e8m0) [m, k / 32] and [n, k / 32], as Triton has them; or of f16 or bf16 without. MATH commands
  /// make scaled operands f16 where the other is, else bf16; then one GEMM. `none()` stands for no scale, no
  /// accumulator.
  Tensor dot_scaled(const Tensor& lhs, const Tensor& lhs_scale, const Tensor& rhs, const Tensor& rhs_scale,
                    const Tensor& acc = {}, std::optional<DType> out = std::nullopt, KERNBENCH_TL_HERE);
  static Tensor none() { return {}; }
  /// x · scale as floats of type `to`: of i4 and e2m1 twice as many values along the last axis, of other types as many.
  /// `scale`: a number, or a tensor of x's rank of which each element stands for equally many along the last axis:
  /// floats, or u8 for e8m0. One MATH command.
  Tensor dequantize(const Tensor& x, const Arg& scale, DType to, KERNBENCH_TL_HERE);

  // ---- Composites: pe_scheduler ---------------------------------------------------------------------------------
  /// Submits and returns at once. The handle is the result in TCM, or stands for the block in memory (to wait for).
  Tensor composite(const Composite& c, KERNBENCH_TL_HERE);

  // ---- Messages: pe_ipcq (collectives contract §10, §11) ----------------------------------------------------------
  // Ports are those of KernelSpec::queues. Faults, each with the kernel's line, the PE and the port: no such port; a
  // message of another byte count, shape or dtype than is expected; a value that is not contiguous or not in TCM; a
  // recv_any of a port with a receive outstanding; at the PE's end a message that was not received.

  /// The names of this PE's ports, in declared order.
  std::vector<std::string> ports() const;
  /// What the tensor holds now goes to the PE at the other end of the port, pending or not. send() returns when the
  /// message's last segment has a slot at the receiver; send_async() at once, and its event is done when the message
  /// has left this PE. Messages of a port arrive in order.
  void send(const std::string& port, const Tensor& value, KERNBENCH_TL_HERE);
  Event send_async(const std::string& port, const Tensor& value, KERNBENCH_TL_HERE);
  /// An empty message.
  void send(const std::string& port, KERNBENCH_TL_HERE);
  Event send_async(const std::string& port, KERNBENCH_TL_HERE);
  /// The port's next message, of which shape and dtype must be these. Its elements can be read as a load's; where a
  /// byte was pending at the sender the whole handle is.
  Loaded recv(const std::string& port, const Dims& shape, DType dtype, KERNBENCH_TL_HERE);
  Loaded recv_async(const std::string& port, const Dims& shape, DType dtype, KERNBENCH_TL_HERE);
  /// The port's next message, which must be empty.
  void recv(const std::string& port, KERNBENCH_TL_HERE);
  /// The next message of the first port that has one, in turn behind the port that the last recv_any took; and which it
  /// was.
  struct FromAny {
    Loaded value;
    std::string port;
  };
  FromAny recv_any(const std::vector<std::string>& ports, const Dims& shape, DType dtype, KERNBENCH_TL_HERE);
  /// Receives a message of the block's shape and dtype and stores it there: one call. The event is done when the store
  /// is. Needs room in TCM for the message meanwhile.
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
  /// Waits for all of them; the record of the next command that is not a message names their ops in its dependency_ids:
  /// Phase 2 has them done before it, also where no address says so (data contract §3; ADR-0020 D5). Ops that a message
  /// made are not named.
  template <class... Awaited>
  void follow(const Awaited&... first) {
    wait(first...);
    (follow_one(first), ...);
  }
  /// Waits for the tensor, then works out its elements in Phase 1, by running the ops that it depends on and no others,
  /// so that the kernel may branch on them. A pe_cpu's materialize_* attributes bound how much that may be; beyond them
  /// it is a KernelFault. Costs pe_cpu's overhead; nothing for data that is there. The kernel's KernelSpec must say
  /// `materializes = true`. The whole handle is then real, and so are copies, views and stores of it.
  Loaded materialize(const Tensor& t, KERNBENCH_TL_HERE);
  /// This context with every call asynchronous: `auto e = tl.async().exp(x); …; tl.wait(e);`
  Context async() const;
  /// Called by who runs the kernel, after its return: waits for what is in flight and checks loads without a wait.
  void finish();

  // ---- Scalar work: pe_cpu --------------------------------------------------------------------------------------
  /// The kernel's own C++ takes no time by itself: this says that it takes so many cycles of pe_cpu, cycles / freq_ghz
  /// ns, from 0 to 1e12. (What reading elements of a Loaded takes is said by pe_cpu's read_cycles.)
  void elapse(double cycles, KERNBENCH_TL_HERE);
  /// For who runs compiled kernels: what their arithmetic takes (pe_cpu's scalar_cycles and index_cycles), and the
  /// kernel's clock.
  ScalarCycles scalar_cycles() const;
  double now_ns() const;

  // ---- Math: pe_math --------------------------------------------------------------------------------------------
  // Operands: tensors of one element type and immediates, broadcast as numpy does.
  // A call for each row of elementwise_ops.inc, which says what it gives: `kernbench list ops`. Comparisons give masks:
  // u8, 0 or 1. where(mask, a, b): a where the mask, of any type, is not 0.
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

  /// Elements converted to another type (rounded to nearest even; to integers: toward zero, saturating).
  Tensor cast(const Tensor& x, DType to, KERNBENCH_TL_HERE);
  /// A dense copy of a view.
  Tensor copy(const Tensor& x, KERNBENCH_TL_HERE);
  /// As Tensor::reshape, with a copy where the view needs one.
  Tensor reshape(const Tensor& x, const Dims& shape, KERNBENCH_TL_HERE);

  /// Reductions along an axis (negative: from the end), which is dropped, or kept as 1. all_axes: over all elements.
  /// sum and prod of integers under 32 bits give i32; argmax and argmin give i32, the first of equals; xor_sum is of
  /// integers.
  Tensor sum(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor max(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor min(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor argmax(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor argmin(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor prod(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor xor_sum(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  /// Two commands.
  struct WithIndices {
    Tensor values, indices;
  };
  WithIndices max_with_indices(const Tensor& x, int axis, bool keepdims = false, KERNBENCH_TL_HERE) {
    return {max(x, axis, keepdims, file, line), argmax(x, axis, keepdims, file, line)};
  }
  WithIndices min_with_indices(const Tensor& x, int axis, bool keepdims = false, KERNBENCH_TL_HERE) {
    return {min(x, axis, keepdims, file, line), argmin(x, axis, keepdims, file, line)};
  }
  /// By a combiner of one's own, which should be associative: from the first element to the last, rounded to the
  /// element type once at the end. `combine` is called once, with two tl::Expr, and returns what they become.
  template <class F>
  Tensor reduce(const Tensor& x, int axis, F combine, bool keepdims = false, KERNBENCH_TL_HERE) {
    return combined("reduce", x, axis, combine(Expr::a(), Expr::b()), keepdims, {file, line});
  }
  /// The same of a tuple of 2 to 4 tensors of one shape, of any types: `combine` is called with N values that came
  /// before and the N next ones, and returns std::array<tl::Expr, N>; all it compares, chooses or adds must be floats,
  /// or all integers. A command for each member of the result.
  template <size_t N, class F>
  std::array<Tensor, N> reduce(const Tensor (&x)[N], int axis, F combine, bool keepdims = false, KERNBENCH_TL_HERE) {
    return combined_tuple("reduce", x, axis, combine, keepdims, {file, line});
  }
  /// Of floats, along one axis: one command.
  Tensor softmax(const Tensor& x, int axis = -1, KERNBENCH_TL_HERE);

  /// Scans along an axis, `reverse` from its end: element i is what elements up to i make. Types as those of sum.
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

  /// Sorted along an axis; equal elements keep their order, NaN counts as the greatest. argsort gives the indices
  /// (i32).
  Tensor sort(const Tensor& x, int axis = -1, bool descending = false, KERNBENCH_TL_HERE);
  Tensor argsort(const Tensor& x, int axis = -1, bool descending = false, KERNBENCH_TL_HERE);
  /// The k largest along an axis, the greatest first.
  Tensor topk(const Tensor& x, int64_t k, int axis = -1, KERNBENCH_TL_HERE);

  /// Tensors of one type and, but along the axis, one shape, one behind the other.
  Tensor cat(const std::vector<Tensor>& parts, int axis = 0, KERNBENCH_TL_HERE);
  /// a and b as elements 0 and 1 of a new last axis; split() takes such an axis apart again, without a command.
  Tensor join(const Tensor& a, const Tensor& b, KERNBENCH_TL_HERE);
  std::pair<Tensor, Tensor> split(const Tensor& x, KERNBENCH_TL_HERE);
  /// a[0], b[0], a[1], b[1], … along the last axis.
  Tensor interleave(const Tensor& a, const Tensor& b, KERNBENCH_TL_HERE);
  Tensor flip(const Tensor& x, int axis = -1, KERNBENCH_TL_HERE);
  /// x[…, index[…, i, …], …] along an axis; beside it index (integers) and x have one shape. An index outside is a
  /// fault.
  Tensor gather(const Tensor& x, const Tensor& index, int axis, KERNBENCH_TL_HERE);
  /// How many elements of x (integers) are 0, 1, … bins - 1: i32 [bins]. Other values count nowhere.
  Tensor histogram(const Tensor& x, int64_t bins, KERNBENCH_TL_HERE);
  /// Views, as Tensor's.
  static Tensor permute(const Tensor& x, const std::vector<int>& order, KERNBENCH_TL_HERE) {
    return x.permute(order, file, line);
  }
  static Tensor broadcast_to(const Tensor& x, const Dims& shape, KERNBENCH_TL_HERE) {
    return x.broadcast_to(shape, file, line);
  }

  // Philox 4x32 as Triton 3 draws it, bit for bit: one number an offset (integers of any type; of i64 all 64 bits
  // count). The seed lies within ±2^53.
  /// u32; randint4x: the generator's four words, a command each.
  Tensor randint(int64_t seed, const Tensor& offsets, int rounds = 10, KERNBENCH_TL_HERE);
  std::array<Tensor, 4> randint4x(int64_t seed, const Tensor& offsets, int rounds = 10, KERNBENCH_TL_HERE);
  /// f32: uniform in [0, 1); normal, by Box and Muller.
  Tensor rand(int64_t seed, const Tensor& offsets, int rounds = 10, KERNBENCH_TL_HERE);
  Tensor randn(int64_t seed, const Tensor& offsets, int rounds = 10, KERNBENCH_TL_HERE);

  /// A tensor of the kernel's own values (rounded, or wrapped, to the type; row-major), which are real at once: they
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

  /// A line on standard error: the kernel's line, the PE, the text, and the first 64 elements. What is pending is a
  /// MATH command, and is said by Phase 2, in the order of effects.
  void device_print(const std::string& text, const Tensor& x, KERNBENCH_TL_HERE);
  /// A fault that says so unless all elements of the condition are other than 0; of a pending one in Phase 2.
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
  /// The command and, where old values come back, their handle.
  std::pair<Ticket, Tensor> atomic_impl(const std::string& op, bool returns_old, const Elements&,
                                        const std::vector<Arg>& operands, const Tensor& mask, Sem, SourceLine where);
  static Elements elements_of(const Block&);
  Elements elements_of(const Ptr&, const Tensor& index, const std::string& call, SourceLine where, int64_t width = 1,
                       int64_t stride = 0);
  std::shared_ptr<RangedOp> ranges_of(const Elements&, const Tensor& mask, const std::string& call, SourceLine where);
  Event send_impl(const std::string& port, const Tensor* value, bool async, SourceLine where);
  Tensor recv_impl(const std::vector<std::string>& ports, const Dims& shape, DType dtype, bool async,
                   std::string* taken, SourceLine where);
  Event copy_impl(const std::string& port, const Block& to, bool async, SourceLine where);
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
