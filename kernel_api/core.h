// SPDX-License-Identifier: Apache-2.0
// What stands behind handles: one Core per kernel invocation. Internal to kernel_api.
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

/// A buffer and who makes it. TCM is given back when the last Tensor over it dies; while commands that use the buffer
/// are in flight, giving back waits for them, so that no DMA lands in memory that has been handed on.
struct Handle {
  std::shared_ptr<Core> core;
  uint64_t id = 0;
  TensorRef buffer;  ///< dense, as allocated; in a memory for a composite's output there
  bool owns_tcm = false;
  std::shared_ptr<Handle> home;  ///< of which it is a part (assembly.h); null: it stands for itself
  bool is_load = false;
  bool materialized = false;               ///< its pending bytes were made real
  std::shared_ptr<const OpDesc> producer;  ///< null until submitted
  Ticket ticket = 0;
  bool arrived = false;              ///< the producer is known to be done, and for a load: checked
  std::shared_ptr<Handle> mask;      ///< of a masked load, kept until its arrival is checked
  mutable std::vector<Ticket> uses;  ///< commands submitted asynchronously that read or write the buffer

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();
};

/// How a math op is to be run beyond its operands.
struct MathOptions {
  bool reduction = false;
  bool keepdims = false;
  int axis = 0;
  const Dims* shape = nullptr;       ///< result's shape where operands do not say (full, arange)
  const DType* out_dtype = nullptr;  ///< result's type where it is not the operands'
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

  /// A fresh dense TCM buffer. KernelFault when TCM is exhausted.
  std::shared_ptr<Handle> allocate(DType dtype, const Dims& shape, SourceLine where);
  /// The next handle that is allocated is a part of `home`, from its element `first` on; null: it stands for itself.
  void place_next(std::shared_ptr<Handle> home, int64_t first);
  /// A handle for a result that lies in memory.
  std::shared_ptr<Handle> in_memory(const TensorRef& where);

  /// Submits and, unless `async`, waits. `made` (may be null) is the handle that the command makes.
  Ticket submit(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<Handle>& made,
                const std::vector<std::shared_ptr<Handle>>& operands, bool async);
  /// Submits a receive into the handle and, unless `async`, waits for it.
  void receive(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<QueueOp>& op,
               const std::shared_ptr<Handle>& made, bool async);
  /// The tensor's room in TCM is not given away before the command is done.
  void used_by(const Tensor& t, Ticket ticket);
  /// Blocks until the handle's producer is done; a load whose source was never written is a KernelFault.
  void wait(const std::shared_ptr<Handle>& h);
  void wait(Ticket t) { backend_.wait(t); }
  /// As wait(), and then makes what is pending of the handle real.
  void materialize(const Tensor& t, SourceLine where);
  /// Operands that are loads in flight must have arrived before another command may use them.
  void settle(const Tensor& t);
  /// Blocks until all that was submitted is done, and checks loads that nobody waited for.
  void finish();

  Tensor math(std::string_view op, const std::vector<Arg>& operands, const MathOptions& options, SourceLine where);
  /// As math(), of operands that are checked, for ops whose result's shape and type the operands alone do not say.
  Tensor command(std::string_view op, const std::vector<Arg>& operands, const Dims& shape, DType type,
                 const MathOptions& options, SourceLine where);
  /// The tensor with every repetition of broadcasting made real: itself where it has none, else a copy.
  Tensor without_repeats_of(const Tensor& t, bool async, SourceLine where);
  /// A handle of these bytes, real at once: a call, and no command of an engine.
  Tensor constant(DType dtype, const Dims& shape, Bytes bytes, SourceLine where);
  /// Whether what the tensor holds can be read now.
  bool is_real(const Tensor& t);
  /// Axis `axis` of t from 0. KernelFault where there is none.
  static int axis_of(const Tensor& t, int axis, std::string_view op, SourceLine where);
  /// The operand as a command takes it: settled, and with dimensions of stride 0 reduced to 1.
  Operand operand_of(const Arg& a, std::string_view op);
  void require_tcm(const Tensor& t, std::string_view op, SourceLine where) const;
  /// A mask's operand, ready to be used. KernelFault where its shape is not the block's.
  void settle_mask(const Tensor& mask, const Block& block, const std::string& call, SourceLine where);

  static const std::shared_ptr<Handle>& handle_of(const Tensor& t);
  static Tensor tensor_of(std::shared_ptr<Handle> h) { return Tensor(std::move(h)); }

  /// Called by a dying handle.
  void release(Handle& h);

 private:
  /// A buffer whose handle is gone but which commands in flight still use.
  struct Retired {
    TensorRef buffer;
    std::vector<Ticket> uses;
    std::shared_ptr<const OpDesc> load;  ///< set if a load that nobody waited for writes it
  };
  /// Gives back the oldest retired buffers as far as they are idle; whether there were any.
  bool sweep();
  /// As sweep(), but waits for the oldest one if need be. False: nothing is retired.
  bool reclaim();
  void finish_retired(const Retired& r);
  bool in_use(std::vector<Ticket>& uses) const;
  void used_by(const std::shared_ptr<Handle>&, Ticket);
  void keep_in_flight(const std::shared_ptr<Handle>& load);
  void check_arrival(const TensorRef& buffer, const OpDesc& load);
  void check_masked_arrival(const OpDesc& load);
  /// Operands in memory of a composite that is done; each composite is checked once.
  void check_sources(const OpDesc& composite);

  PeBackend& backend_;
  uint64_t next_id_ = 1;
  std::shared_ptr<Handle> next_home_;
  int64_t next_first_ = 0;
  std::deque<Retired> retired_;
  std::vector<std::weak_ptr<Handle>> loads_in_flight_;  ///< with some that are over already
  size_t most_loads_ = 16;                              ///< at so many entries, those that are over are taken out
  struct Unchecked {
    std::shared_ptr<const OpDesc> composite;
    Ticket ticket = 0;
  };
  std::vector<Unchecked> unchecked_;  ///< composites whose operands may turn out never written
};

/// KernelFault with the kernel's line in front, if that is known (not 0).
[[noreturn]] void fault(const SourceLine& where, const std::string& what);
/// "made by op 'add' at gemm.cpp:42".
std::string made_by(const OpDesc& producer);
/// A rank-2 view as GEMM takes it: rows dense, or `transpose` toggled and the stored matrix returned. KernelFault for a
/// view that is neither.
TensorRef matrix_of(const Tensor& t, bool* transpose, SourceLine where);
/// The block at its physical place. KernelFault unless it lies within its pointer's bounds (of a masked access: as far
/// as the mask, null for none, selects it), is aligned, and lies in one memory, or in one virtual mapping.
TensorRef physical_block(PeBackend& backend, const Block& b, const Tensor* mask, const std::string& call,
                         SourceLine where);
/// Bytes from a block's first element to each that the mask selects; its shape is the block's, and it is real.
std::vector<uint64_t> selected_offsets(const MemoryImage&, const TensorRef& mask, const TensorRef& block);
/// KernelFault if any byte was never written.
void check_written(PeBackend& backend, const TensorRef& source, const std::string& call, SourceLine where);

}  // namespace kernbench::tl::detail
