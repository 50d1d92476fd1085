// SPDX-License-Identifier: Apache-2.0
// Implementation of handles: one Core per kernel invocation. Internal to kernel_api.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/kernel_api/pointer.h"
#include "kernbench/kernel_api/tensor.h"

namespace kernbench::tl::detail {

/// A buffer and its producer. The last Tensor over it frees the TCM. While commands in flight use the buffer, the
/// release waits for them, so that no DMA writes to memory with a new owner.
struct Handle {
  std::shared_ptr<Core> core;
  uint64_t id = 0;
  TensorRef buffer;  ///< dense, as allocated; for a composite's output in memory, its place there
  bool owns_tcm = false;
  std::shared_ptr<Handle> home;  ///< the handle that contains it (assembly.h); null: none
  bool is_load = false;
  bool materialized = false;               ///< its pending bytes were computed in Phase 1
  std::shared_ptr<const OpDesc> producer;  ///< null until submitted
  Ticket ticket = 0;
  bool arrived = false;              ///< the producer is known to be done, and a load is checked
  std::shared_ptr<Handle> mask;      ///< for a masked load, kept until its arrival is checked
  mutable std::vector<Ticket> uses;  ///< commands submitted asynchronously that read or write the buffer

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();
};

/// Options of a math op beyond its operands.
struct MathOptions {
  bool reduction = false;
  bool keepdims = false;
  int axis = 0;
  const Dims* shape = nullptr;       ///< result's shape if operands do not determine it (full, arange)
  const DType* out_dtype = nullptr;  ///< result's type if it differs from the operands'
  std::string argument;              ///< OpDesc::argument
  bool async = false;
};

class Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(PeBackend& backend) : backend_(backend) {}
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  PeBackend& backend() { return backend_; }

  /// A new dense TCM buffer. KernelFault if TCM is exhausted.
  std::shared_ptr<Handle> allocate(DType dtype, const Dims& shape, SourceLine where);
  /// The next allocated handle becomes a part of `home`, from its element `first` on. Null: an independent handle.
  void place_next(std::shared_ptr<Handle> home, int64_t first);
  /// A handle for a result in memory.
  std::shared_ptr<Handle> in_memory(const TensorRef& where);

  /// Submits the command and, unless `async`, waits. `made` (may be null) is the handle of the result.
  Ticket submit(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<Handle>& made,
                const std::vector<std::shared_ptr<Handle>>& operands, bool async);
  /// Submits a receive into the handle and, unless `async`, waits for it.
  void receive(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<QueueOp>& op,
               const std::shared_ptr<Handle>& made, bool async);
  /// Keeps the tensor's TCM until the command is done.
  void used_by(const Tensor& t, Ticket ticket);
  /// Blocks until the handle's producer is done. KernelFault for a load whose source was never written.
  void wait(const std::shared_ptr<Handle>& h);
  void wait(Ticket t) { backend_.wait(t); }
  /// Like wait(); then computes the pending bytes of the handle.
  void materialize(const Tensor& t, SourceLine where);
  /// Waits for operands that are loads in flight. Another command may use them only after their arrival.
  void settle(const Tensor& t);
  /// Blocks until all submitted commands are done, and checks loads that the kernel did not wait for.
  void finish();

  Tensor math(std::string_view op, const std::vector<Arg>& operands, const MathOptions& options, SourceLine where);
  /// Like math(), with checked operands, for ops whose result's shape and type need more than the operands.
  Tensor command(std::string_view op, const std::vector<Arg>& operands, const Dims& shape, DType type,
                 const MathOptions& options, SourceLine where);
  /// The tensor with broadcast repetitions as real elements: the tensor itself if it has none, else a copy.
  Tensor without_repeats_of(const Tensor& t, bool async, SourceLine where);
  /// A handle with these bytes, real immediately. It costs a call, but no command of an engine.
  Tensor constant(DType dtype, const Dims& shape, Bytes bytes, SourceLine where);
  /// Whether the tensor's elements can be read now.
  bool is_real(const Tensor& t);
  /// Nonnegative number of axis `axis` of t. KernelFault if it does not exist.
  static int axis_of(const Tensor& t, int axis, std::string_view op, SourceLine where);
  /// The operand as commands use it: settled, and with dimensions of stride 0 reduced to 1.
  Operand operand_of(const Arg& a, std::string_view op);
  void require_tcm(const Tensor& t, std::string_view op, SourceLine where) const;
  /// The mask as an operand. KernelFault if its shape differs from the block's.
  void settle_mask(const Tensor& mask, const Block& block, const std::string& call, SourceLine where);

  static const std::shared_ptr<Handle>& handle_of(const Tensor& t);
  static Tensor tensor_of(std::shared_ptr<Handle> h) { return Tensor(std::move(h)); }

  /// Called by the handle's destructor.
  void release(Handle& h);

 private:
  /// A buffer without a handle that commands in flight still use.
  struct Retired {
    TensorRef buffer;
    std::vector<Ticket> uses;
    std::shared_ptr<const OpDesc> load;  ///< set if a load that the kernel did not wait for writes it
  };
  /// Frees the oldest retired buffers that are idle. Returns whether there were any.
  bool sweep();
  /// Like sweep(), but waits for the oldest one if necessary. Returns false if nothing is retired.
  bool reclaim();
  void finish_retired(const Retired& r);
  bool in_use(std::vector<Ticket>& uses) const;
  void used_by(const std::shared_ptr<Handle>&, Ticket);
  void keep_in_flight(const std::shared_ptr<Handle>& load);
  void check_arrival(const TensorRef& buffer, const OpDesc& load);
  void check_masked_arrival(const OpDesc& load);
  /// Checks operands in memory of a completed composite, once for each composite.
  void check_sources(const OpDesc& composite);

  PeBackend& backend_;
  uint64_t next_id_ = 1;
  std::shared_ptr<Handle> next_home_;
  int64_t next_first_ = 0;
  std::deque<Retired> retired_;
  std::vector<std::weak_ptr<Handle>> loads_in_flight_;  ///< may include completed ones
  size_t most_loads_ = 16;                              ///< at this size, completed ones are removed
  struct Unchecked {
    std::shared_ptr<const OpDesc> composite;
    Ticket ticket = 0;
  };
  std::vector<Unchecked> unchecked_;  ///< composites whose operands may be unwritten
};

/// KernelFault that begins with the kernel's line, if it is known (not 0).
[[noreturn]] void fault(const SourceLine& where, const std::string& what);
/// "made by op 'add' at gemm.cpp:42".
std::string made_by(const OpDesc& producer);
/// A rank-2 view in the form of GEMM: rows dense, or the stored matrix with `transpose` toggled. KernelFault if the
/// view has neither form.
TensorRef matrix_of(const Tensor& t, bool* transpose, SourceLine where);
/// The block at its physical address. KernelFault unless it lies within its pointer's bounds (masked access: only
/// selected elements count; null mask: all), is aligned, and lies in one memory or one virtual mapping.
TensorRef physical_block(PeBackend& backend, const Block& b, const Tensor* mask, const std::string& call,
                         SourceLine where);
/// Byte offsets, from the block's first element, of the elements that the mask selects. The mask has the block's shape
/// and is real.
std::vector<uint64_t> selected_offsets(const MemoryImage&, const TensorRef& mask, const TensorRef& block);
/// KernelFault if any byte was never written.
void check_written(PeBackend& backend, const TensorRef& source, const std::string& call, SourceLine where);

}  // namespace kernbench::tl::detail
