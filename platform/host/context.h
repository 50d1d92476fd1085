// SPDX-License-Identifier: Apache-2.0
// API of programs (collectives rules §13): tensors over the ranks; streams of launches, copies and delays; events. A
// rank is a SIP chosen by --ranks and --device.
//
//   void tp_mlp(host::Context& h) {
//     auto x = h.input("x"), w1 = h.input("w1"), …;
//     auto u = h.tensor(x.dtype(), {tokens, hidden}, host::rank_shard(1).cube(host::shard(0)).pe(host::shard(0)));
//     h.launch(h.ranks(), "tp_linear", {{"activation", "gelu"}}, {{"x", x}, {"w", w1}, {"y", u}});
//     …
//   }
//
// The program is a C++ function in its own thread beside the simulation, from t = 0 on. Its own code takes no time.
// Calls only enqueue operations; synchronize(), read() and the return of the program block.
//
// Errors:
// - InputError, BadParam (exit status 2): tensors or parameters of a launch that do not fit the kernel, unknown ranks
//   or streams, no memory for a tensor, a freed tensor.
// - RunError (1): a fault of a kernel, a launch on a PE that still runs another kernel, a read of a partial or pending
//   tensor, a wait for an event that is never recorded, streams that wait for each other.
// Errors of a call begin with the program's line.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/kernel_api/here.h"
#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/check/races.h"
#include "kernbench/platform/host/launch_plan.h"
#include "kernbench/platform/host/streams.h"
#include "kernbench/platform/host/tensor.h"
#include "kernbench/platform/launch/address_mode.h"

namespace kernbench {
class Platform;
}  // namespace kernbench

namespace kernbench::host {

/// A handle of a tensor of the program; copies refer to the same tensor.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<const TensorPlaces> places) : places_(std::move(places)) {}
  const std::string& name() const { return places_->name(); }
  DType dtype() const { return places_->dtype(); }
  const Dims& shape() const { return places_->shape(); }
  const Layout& layout() const { return places_->layout(); }
  const std::shared_ptr<const TensorPlaces>& places() const { return places_; }

 private:
  std::shared_ptr<const TensorPlaces> places_;
};

/// Placement of an operation: one stream of each of its ranks.
class On {
 public:
  On(const Stream& s) : streams_{s} {}                               // NOLINT: a single stream converts to a list
  On(std::vector<Stream> streams) : streams_(std::move(streams)) {}  // NOLINT
  const std::vector<Stream>& streams() const { return streams_; }

 private:
  std::vector<Stream> streams_;
};

struct ContextOptions {
  LaunchMode launch = LaunchMode::automatic;
  /// Inputs are uploaded through the fabric before the program's first operation, and outputs downloaded after its
  /// last; upload(), download() and read() use the fabric too. Otherwise copies take no time.
  bool timed_transfer = false;
  AddressMode addresses = AddressMode::physical;
  CommandHistory* history = nullptr;  ///< informed of launches, for race detection; may be null
  std::function<void(const ProgramTensor&)>
      place_late{};  ///< places the value of an input that bring_in() makes room for
};

/// Condition of read().
enum class ReadAfter : uint8_t {
  all,     ///< all enqueued operations
  writers  ///< operations that write the tensor, according to the kernels' specs, and uploads
};
inline constexpr ReadAfter writers = ReadAfter::writers;

class Context {
 public:
  /// Creates the tensors of the spec; the platform must outlive it. PEs: indices in compiled order, not empty.
  /// InputError, BadParam.
  Context(Platform&, const ProgramSpec&, Params, std::vector<size_t> pes, ContextOptions = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // ---- Parameters and time
  const Params& params() const { return params_; }
  int64_t integer(const std::string& name) const { return params_.integer(name); }
  bool flag(const std::string& name) const { return params_.flag(name); }
  DType dtype(const std::string& name = "dtype") const { return params_.dtype(name); }
  /// Current time of the program, ns.
  double now_ns() const;

  // ---- Ranks and streams
  uint32_t num_ranks() const { return pes_.ranks; }
  /// Stream 0 of all ranks.
  On ranks() const;
  /// Stream 0 of one rank.
  On rank(uint32_t r, KERNBENCH_TL_HERE) const;
  /// A further stream of a rank.
  Stream stream(uint32_t rank, KERNBENCH_TL_HERE);

  // ---- Tensors
  /// Whether the run has this tensor; only for tensors that the program's spec declares optional.
  bool has(const std::string& name) const;
  /// Of the program's spec. Role in_out is both: it holds its value at the start and is read back at the end.
  Tensor input(const std::string& name, KERNBENCH_TL_HERE) const;
  Tensor output(const std::string& name, KERNBENCH_TL_HERE) const;
  /// A new tensor; its bytes are unwritten.
  Tensor tensor(DType, const Dims& shape, const Layout&, const std::string& name = "", KERNBENCH_TL_HERE);
  /// A new tensor with a value in place: no copy, no time.
  Tensor tensor(const HostTensor& value, const Layout&, const std::string& name = "", KERNBENCH_TL_HERE);
  /// A new tensor of the same type, shape and layout below the ranks, partial over them.
  Tensor partial_like(const Tensor&, const std::string& name = "", KERNBENCH_TL_HERE);
  /// A view of the elements [first, first + count) along an axis (negative: from the last): the same bytes.
  Tensor slice(const Tensor&, int axis, int64_t first, int64_t count, KERNBENCH_TL_HERE) const;
  /// A view of the same elements in another shape.
  Tensor view(const Tensor&, const Dims& shape, KERNBENCH_TL_HERE) const;
  /// x in another layout: x itself if it has that layout, else a new tensor. A launch on the ranks of both fills it, by
  /// copies or messages between PEs (docs/programs.md). A partial x is summed, in order of the ranks.
  Tensor redistribute(const Tensor& x, const Layout&, const std::string& name = "", KERNBENCH_TL_HERE);
  /// The same into an existing tensor.
  void redistribute(const Tensor& x, const Tensor& y, KERNBENCH_TL_HERE);
  /// Description of a redistribution, as lines of text: senders, paths, and bytes compared with the minimum of any
  /// algorithm.
  std::string redistribution(const Tensor& x, const Layout&, KERNBENCH_TL_HERE) const;
  /// Frees a tensor made by tensor(), after its enqueued operations. Its views become invalid; a later use of one
  /// reports where it was freed.
  void free(const Tensor&, KERNBENCH_TL_HERE);

  /// Places an input of the spec that is not in memory. This copies nothing and takes no time. The input may reuse the
  /// room of freed tensors.
  void bring_in(const std::string& input, KERNBENCH_TL_HERE);
  /// Frees an input of the spec, after its enqueued operations.
  void take_out(const std::string& input, KERNBENCH_TL_HERE);

  // ---- Operations: enqueued, in the order of these calls
  /// A kernel on the ranks' PEs: all of the program's, or `pes` of them (all, leaders, ids). Absent parameters are
  /// derived from the tensors (launch_plan.h).
  void launch(const On&, const std::string& kernel, const KernelParams& params,
              const std::map<std::string, Tensor>& tensors, const std::string& pes = "all", KERNBENCH_TL_HERE);
  /// Writes a value into each copy. Default: on all ranks.
  void upload(const Tensor&, const HostTensor& value, KERNBENCH_TL_HERE);
  void upload(const On&, const Tensor&, const HostTensor& value, KERNBENCH_TL_HERE);
  /// Takes the time of a copy to the host; read() also returns the value.
  void download(const Tensor&, KERNBENCH_TL_HERE);
  void download(const On&, const Tensor&, KERNBENCH_TL_HERE);
  /// ns ≥ 0.
  void delay(const On&, double ns, KERNBENCH_TL_HERE);
  /// A new event. It is recorded at most once.
  Event event(const std::string& name = "");
  void record(const Event&, const Stream&, KERNBENCH_TL_HERE);
  /// Later operations in these streams begin when the event is done, in each stream separately.
  void wait(const Event&, const On&, KERNBENCH_TL_HERE);

  // ---- Blocking
  /// Waits for all enqueued operations; for those of a stream; for an event.
  void synchronize();
  void synchronize(const Stream&, KERNBENCH_TL_HERE);
  void synchronize(const Event&, KERNBENCH_TL_HERE);
  /// Then downloads the tensor and returns its value. RunError if it is partial or pending.
  HostTensor read(const Tensor&, ReadAfter = ReadAfter::all, KERNBENCH_TL_HERE);

  // ---- For who runs it
  const ProgramSpec& spec() const { return spec_; }
  const ProgramPes& pes() const { return pes_; }
  const Streams& streams() const { return streams_; }
  const TensorPlaces& places(const std::string& tensor) const;
  /// Bytes of all tensors, with copies.
  uint64_t stored_bytes() const;
  /// Maximum of that, and its part in copies: parts that more than one PE has.
  struct Stored {
    uint64_t bytes = 0, copies = 0;
  };
  const Stored& most_stored() const;
  /// Places an input, before the simulation.
  void place(const std::string& input, const HostTensor& value);
  /// Places zeros; only one shard uses memory of this computer.
  void place_zeros(const std::string& input);
  /// The same for a value that is generated in place, once for each rank.
  void place(const std::string& input, const ElementSource&);
  /// Runs the program in a thread, from its first to its last instant; fault() has its error.
  void run();
  bool complete() const { return complete_; }
  const std::exception_ptr& fault() const;
  struct PeTimes {
    bool launched = false;
    double start_ns = 0, end_ns = 0, scalar_ns = 0;  ///< first start, last end, sum
  };
  const std::vector<PeTimes>& pe_times() const;
  /// End of the last operation, ns.
  double end_ns() const { return end_ns_; }
  const std::string& launch_note() const { return launch_note_; }
  LaunchMode launch_mode() const { return launch_mode_; }

 private:
  friend class Scope;
  struct Parts;
  Tensor named(const std::string& name, TensorSpec::Role) const;
  void check(const On&) const;
  void check(const Tensor&) const;
  void refuse_input(const std::string& what, const Tensor& written) const;
  void give_back_freed();
  void block_until(const std::function<bool()>& condition);
  template <class Work>
  auto at(const char* file, int line, const Work& work) const;
  void copy(Operation::Kind, const On&, const Tensor&, std::shared_ptr<const HostTensor> value,
            const SourceLine& where);
  std::string rings(const On&, const Tensor& x, const Tensor& y) const;
  /// Stream 0 of the ranks that have parts of the tensors.
  On ranks_of(const std::vector<Tensor>&) const;
  void operation_ended();

  Platform& platform_;
  const ProgramSpec& spec_;
  const Params params_;
  const ContextOptions options_;
  const ProgramPes pes_;
  Streams streams_;
  std::shared_ptr<std::function<bool()>> may_change_memory_;  ///< queried by kernels that poll flags
  const std::unique_ptr<Parts> parts_;                        ///< its tensors, launches and copies (context_parts.h)
  mutable SourceLine last_call_;                              ///< of the program; line 0: none
  bool waiting_ = false, complete_ = false;
  double end_ns_ = 0;
  std::string launch_note_;
  LaunchMode launch_mode_ = LaunchMode::direct;
};

/// Frees tensors made during its lifetime.
class Scope {
 public:
  explicit Scope(Context&, KERNBENCH_TL_HERE);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Context& context_;
  size_t first_;
  SourceLine made_at_;
};

}  // namespace kernbench::host
