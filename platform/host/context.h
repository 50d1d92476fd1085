// What a program is written with (collectives contract §13): tensors over the ranks, streams of launches, copies and
// delays, events. A rank is a SIP of those that --ranks and --device leave.
//
//   void tp_mlp(host::Context& h) {
//     auto x = h.input("x"), w1 = h.input("w1"), …;
//     auto u = h.tensor(x.dtype(), {tokens, hidden}, host::rank_shard(1).cube(host::shard(0)).pe(host::shard(0)));
//     h.launch(h.ranks(), "tp_linear", {{"activation", "gelu"}}, {{"x", x}, {"w", w1}, {"y", u}});
//     …
//   }
//
// The program is a C++ function in a thread of its own beside the simulation, from t = 0 on; its own code costs
// nothing. What it enqueues happens later: it blocks in synchronize() and read() alone, and at its return.
//
// Faults. InputError, BadParam (exit status 2): a launch whose tensors or parameters do not fit the kernel, ranks or
// streams that are not there, a tensor without room or one that was freed. RunError (1): a fault of a kernel, a launch
// that meets a PE which still runs another, a partial or pending tensor that is read, an event that is waited for and
// never recorded, streams that wait for each other. What a call does not like begins with the program's line.
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

/// A tensor of the program; copies of the handle are the same tensor.
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

/// Where an operation stands: one stream of each of its ranks.
class On {
 public:
  On(const Stream& s) : streams_{s} {}                               // NOLINT: a stream stands wherever some do
  On(std::vector<Stream> streams) : streams_(std::move(streams)) {}  // NOLINT
  const std::vector<Stream>& streams() const { return streams_; }

 private:
  std::vector<Stream> streams_;
};

struct ContextOptions {
  LaunchMode launch = LaunchMode::automatic;
  /// Inputs are uploaded before the program's first operation and outputs downloaded after its last, through the
  /// fabric, and so is what upload(), download() and read() move; else copies take no time.
  bool timed_transfer = false;
  AddressMode addresses = AddressMode::physical;
  CommandHistory* history = nullptr;  ///< told of launches, for the search for races; may be null
};

/// What read() waits for.
enum class ReadAfter : uint8_t {
  all,     ///< all that has been enqueued
  writers  ///< what writes the tensor, by what the kernels' specs say of their tensors, and uploads
};
inline constexpr ReadAfter writers = ReadAfter::writers;

class Context {
 public:
  /// Makes the tensors of the spec; the platform outlives it. The PEs: indices in compiled order, not empty.
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
  /// When the program is here, ns.
  double now_ns() const;

  // ---- Ranks and streams
  uint32_t num_ranks() const { return pes_.ranks; }
  /// Stream 0 of every rank.
  On ranks() const;
  /// Stream 0 of one.
  On rank(uint32_t r, KERNBENCH_TL_HERE) const;
  /// One more stream of a rank.
  Stream stream(uint32_t rank, KERNBENCH_TL_HERE);

  // ---- Tensors
  /// Whether the run has this tensor, which the program's spec calls optional.
  bool has(const std::string& name) const;
  Tensor input(const std::string& name, KERNBENCH_TL_HERE) const;
  Tensor output(const std::string& name, KERNBENCH_TL_HERE) const;
  /// A new one; its bytes are unwritten.
  Tensor tensor(DType, const Dims& shape, const Layout&, const std::string& name = "", KERNBENCH_TL_HERE);
  /// A new one with a value that is already there: no copy, no time.
  Tensor tensor(const HostTensor& value, const Layout&, const std::string& name = "", KERNBENCH_TL_HERE);
  /// A new one of the same type, shape and layout below the ranks, partial over them.
  Tensor partial_like(const Tensor&, const std::string& name = "", KERNBENCH_TL_HERE);
  /// The elements [first, first + count) along an axis (negative: from the last), where they are: the same bytes.
  Tensor slice(const Tensor&, int axis, int64_t first, int64_t count, KERNBENCH_TL_HERE) const;
  /// The same elements, where they are, in another shape.
  Tensor view(const Tensor&, const Dims& shape, KERNBENCH_TL_HERE) const;
  /// x in another layout: x itself where it has it, else a new tensor, which a launch on the ranks of both fills, by
  /// copies or from PE to PE (docs/programs.md). A partial x is summed up, in order of the ranks.
  Tensor redistribute(const Tensor& x, const Layout&, const std::string& name = "", KERNBENCH_TL_HERE);
  /// Into one that is there.
  void redistribute(const Tensor& x, const Tensor& y, KERNBENCH_TL_HERE);
  /// What it would do, in lines of text: by whom what goes how, and bytes beside the least that any way moves.
  std::string redistribution(const Tensor& x, const Layout&, KERNBENCH_TL_HERE) const;
  /// A tensor that tensor() has made gives its bytes back when what has been enqueued with it is done. Its views go
  /// with it, and who uses one of them later is told where it was freed.
  void free(const Tensor&, KERNBENCH_TL_HERE);

  // ---- Operations: enqueued, in the order of these calls
  /// A kernel on the ranks' PEs: all of the program's, or `pes` of them (all, leaders, ids). Parameters that are not
  /// given follow from the tensors (launch_plan.h).
  void launch(const On&, const std::string& kernel, const KernelParams& params,
              const std::map<std::string, Tensor>& tensors, const std::string& pes = "all", KERNBENCH_TL_HERE);
  /// A value into every copy. On all ranks where nothing is said.
  void upload(const Tensor&, const HostTensor& value, KERNBENCH_TL_HERE);
  void upload(const On&, const Tensor&, const HostTensor& value, KERNBENCH_TL_HERE);
  /// The time of a copy to the host; read() gives the value too.
  void download(const Tensor&, KERNBENCH_TL_HERE);
  void download(const On&, const Tensor&, KERNBENCH_TL_HERE);
  /// ns ≥ 0.
  void delay(const On&, double ns, KERNBENCH_TL_HERE);
  /// A new event. It is recorded once.
  Event event(const std::string& name = "");
  void record(const Event&, const Stream&, KERNBENCH_TL_HERE);
  /// What is enqueued behind it in these streams begins when the event is done; in each by itself.
  void wait(const Event&, const On&, KERNBENCH_TL_HERE);

  // ---- Blocking
  /// Until all that has been enqueued is done; what is in that stream; the event.
  void synchronize();
  void synchronize(const Stream&, KERNBENCH_TL_HERE);
  void synchronize(const Event&, KERNBENCH_TL_HERE);
  /// Then downloads the tensor and gives its value. RunError where it is partial or pending.
  HostTensor read(const Tensor&, ReadAfter = ReadAfter::all, KERNBENCH_TL_HERE);

  // ---- For who runs it
  const ProgramSpec& spec() const { return spec_; }
  const ProgramPes& pes() const { return pes_; }
  const Streams& streams() const { return streams_; }
  const TensorPlaces& places(const std::string& tensor) const;
  /// Of all tensors that there are, with copies.
  uint64_t stored_bytes() const;
  /// The most that it has been, and what of that were copies: parts that more than one PE has.
  struct Stored {
    uint64_t bytes = 0, copies = 0;
  };
  const Stored& most_stored() const;
  /// Puts an input in place, before the simulation.
  void place(const std::string& input, const HostTensor& value);
  /// Zeros, which take no memory of this computer but for one shard.
  void place_zeros(const std::string& input);
  /// The same of what is made where it lies, once for each rank.
  void place(const std::string& input, const ElementSource&);
  /// In a thread, from its first to its last instant; what went wrong is kept in fault().
  void run();
  bool complete() const { return complete_; }
  const std::exception_ptr& fault() const;
  struct PeTimes {
    bool launched = false;
    double start_ns = 0, end_ns = 0, scalar_ns = 0;  ///< first start, last end, sum
  };
  const std::vector<PeTimes>& pe_times() const;
  /// When the last operation ended, ns.
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
  /// Stream 0 of the ranks that have some of the tensors.
  On ranks_of(const std::vector<Tensor>&) const;
  void operation_ended();

  Platform& platform_;
  const ProgramSpec& spec_;
  const Params params_;
  const ContextOptions options_;
  const ProgramPes pes_;
  Streams streams_;
  std::shared_ptr<std::function<bool()>> may_change_memory_;  ///< told to kernels that poll flags
  const std::unique_ptr<Parts> parts_;                        ///< its tensors, launches and copies (context_parts.h)
  mutable SourceLine last_call_;                              ///< of the program; line 0: none
  bool waiting_ = false, complete_ = false;
  double end_ns_ = 0;
  std::string launch_note_;
  LaunchMode launch_mode_ = LaunchMode::direct;
};

/// Frees the tensors that are made while it is there.
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
