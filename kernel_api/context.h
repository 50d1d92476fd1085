// The context of a running kernel: every call here is a command of the PE (kernels name it `tl`).
//
// Each call costs pe_cpu's overhead in the kernel, then runs on one engine: loads and stores on pe_dma, dot on pe_gemm,
// everything else on pe_math. A call returns when its command is done, an _async call (and every call through async())
// right after submission; wait() blocks and costs nothing. Order between commands of one PE needs no waits for data:
// each takes effect at its submission, loads at their completion, and a load in flight is waited for before another
// command uses its handle. Calls that cannot work are KernelFaults with the kernel's line, shapes and types of all
// operands.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/composite.h"
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

/// Axis for reductions over all elements.
inline constexpr std::optional<int> all_axes = std::nullopt;

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
  /// Its size; 0 where the cube has none.
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

  // ---- Matrix: pe_gemm ------------------------------------------------------------------------------------------
  /// A[m, k] · B[k, n] of one element type, accumulated in f32 (floats) or i32 (integers); the result has that type
  /// unless `out` says another. Transposed views cost no copy.
  Tensor dot(const Tensor& a, const Tensor& b, std::optional<DType> out = std::nullopt, KERNBENCH_TL_HERE);
  Tensor dot_async(const Tensor& a, const Tensor& b, std::optional<DType> out = std::nullopt, KERNBENCH_TL_HERE);

  // ---- Composites: pe_scheduler ---------------------------------------------------------------------------------
  /// Submits and returns at once. The handle is the result in TCM, or stands for the block in memory (to wait for).
  Tensor composite(const Composite& c, KERNBENCH_TL_HERE);

  // ---- Messages: pe_ipcq (collectives contract §10, §11) ----------------------------------------------------------
  // Ports are those of KernelSpec::queues. Faults, each with the kernel's line, the PE and the port: no such port; a
  // message of another byte count, shape or dtype than is expected; a value that is not contiguous or not in TCM; a
  // recv_any of a port with a receive outstanding; at the PE's end a message that nobody has received.

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
  void wait(const Tensor& t);
  void wait(const Event& e);
  template <class First, class Second, class... Rest>
  void wait(const First& first, const Second& second, const Rest&... rest) {
    wait(first);
    wait(second, rest...);
  }
  /// Waits for the tensor, then works out its elements in Phase 1, by running the ops that it depends on and no others,
  /// so that the kernel may branch on them. A pe_cpu's materialize_* attributes bound how much that may be; beyond them
  /// it is a KernelFault. Costs pe_cpu's overhead; nothing for data that is there. The kernel's KernelSpec must say
  /// `materializes = true`. The whole handle is then real, and so are copies, views and stores of it.
  Loaded materialize(const Tensor& t, KERNBENCH_TL_HERE);
  /// This context with every call asynchronous: `auto e = tl.async().exp(x); …; tl.wait(e);`
  Context async() const;
  /// Called by who runs the kernel, after its return: waits for what is in flight and checks loads nobody waited for.
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
  Tensor add(const Arg& a, const Arg& b) { return op("add", {a, b}); }
  Tensor sub(const Arg& a, const Arg& b) { return op("sub", {a, b}); }
  Tensor mul(const Arg& a, const Arg& b) { return op("mul", {a, b}); }
  Tensor div(const Arg& a, const Arg& b) { return op("div", {a, b}); }
  Tensor maximum(const Arg& a, const Arg& b) { return op("maximum", {a, b}); }
  Tensor minimum(const Arg& a, const Arg& b) { return op("minimum", {a, b}); }
  Tensor fma(const Arg& a, const Arg& b, const Arg& c) { return op("fma", {a, b, c}); }  ///< a · b + c
  Tensor clamp(const Arg& x, const Arg& low, const Arg& high) { return op("clamp", {x, low, high}); }
  Tensor exp(const Arg& x) { return op("exp", {x}); }
  Tensor log(const Arg& x) { return op("log", {x}); }
  Tensor sqrt(const Arg& x) { return op("sqrt", {x}); }
  Tensor rsqrt(const Arg& x) { return op("rsqrt", {x}); }
  Tensor sigmoid(const Arg& x) { return op("sigmoid", {x}); }
  Tensor tanh(const Arg& x) { return op("tanh", {x}); }
  Tensor erf(const Arg& x) { return op("erf", {x}); }
  Tensor relu(const Arg& x) { return op("relu", {x}); }
  Tensor gelu(const Arg& x) { return op("gelu", {x}); }
  Tensor silu(const Arg& x) { return op("silu", {x}); }
  Tensor floor(const Arg& x) { return op("floor", {x}); }
  Tensor abs(const Arg& x) { return op("abs", {x}); }
  Tensor neg(const Arg& x) { return op("neg", {x}); }
  /// Comparisons give masks: u8, 0 or 1.
  Tensor eq(const Arg& a, const Arg& b) { return op("eq", {a, b}); }
  Tensor ne(const Arg& a, const Arg& b) { return op("ne", {a, b}); }
  Tensor lt(const Arg& a, const Arg& b) { return op("lt", {a, b}); }
  Tensor le(const Arg& a, const Arg& b) { return op("le", {a, b}); }
  Tensor gt(const Arg& a, const Arg& b) { return op("gt", {a, b}); }
  Tensor ge(const Arg& a, const Arg& b) { return op("ge", {a, b}); }
  /// a where the mask (any type) is not 0, else b.
  Tensor where(const Arg& mask, const Arg& a, const Arg& b) { return op("where", {mask, a, b}); }
  /// Any elementwise op by name.
  Tensor op(const char* name, std::initializer_list<Arg> operands);

  /// Elements converted to another type (rounded to nearest even; to integers: toward zero, saturating).
  Tensor cast(const Tensor& x, DType to, KERNBENCH_TL_HERE);
  /// A dense copy of a view.
  Tensor copy(const Tensor& x, KERNBENCH_TL_HERE);
  /// As Tensor::reshape, with a copy where the view needs one.
  Tensor reshape(const Tensor& x, const Dims& shape, KERNBENCH_TL_HERE);

  /// Reductions along an axis (negative: from the end), which is dropped, or kept as 1. all_axes: over all elements.
  /// sum of i8, u8, i16 gives i32; argmax gives i32, the first of equals.
  Tensor sum(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor max(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor min(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor argmax(const Tensor& x, std::optional<int> axis = all_axes, bool keepdims = false, KERNBENCH_TL_HERE);
  Tensor softmax(const Tensor& x, int axis = -1, KERNBENCH_TL_HERE);

  Tensor full(const Dims& shape, double value, DType dtype, KERNBENCH_TL_HERE);
  Tensor zeros(const Dims& shape, DType dtype, KERNBENCH_TL_HERE) { return full(shape, 0, dtype, file, line); }
  /// start, start + step, … below `end`.
  Tensor arange(double start, double end, double step = 1, DType dtype = DType::i32, KERNBENCH_TL_HERE);

  /// ⌈a / b⌉.
  static constexpr int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

 private:
  friend class Assembly;
  Loaded load_impl(const Block& from, const Tensor* mask, double other, bool async, SourceLine where);
  Event send_impl(const std::string& port, const Tensor* value, bool async, SourceLine where);
  Tensor recv_impl(const std::vector<std::string>& ports, const Dims& shape, DType dtype, bool async,
                   std::string* taken, SourceLine where);
  Event copy_impl(const std::string& port, const Block& to, bool async, SourceLine where);
  Event store_impl(const Block& to, const Tensor& value, const Tensor* mask, bool async, SourceLine where);
  Tensor dot_impl(const Tensor& a, const Tensor& b, std::optional<DType> out, bool async, SourceLine where);
  Tensor reduce(const char* op, const Tensor& x, std::optional<int> axis, bool keepdims, SourceLine where);

  std::shared_ptr<detail::Core> core_;
  Program program_;
  bool async_ = false;
};

}  // namespace kernbench::tl
