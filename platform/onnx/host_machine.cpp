// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/host_machine.h"

#include <string>

#include "kernbench/kernel_api/first_fit_allocator.h"
#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/graph/pending_values.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

constexpr uint64_t kTensorStride = uint64_t{1} << 40;  // address distance between tensors
constexpr uint64_t kHostTcm = uint64_t{1} << 30;

/// A PE without timing: commands take effect at once.
class HostPe : public PeBackend {
 public:
  uint32_t pe_index() const override { return 0; }
  const std::string& pe_id() const override { return id_; }
  uint32_t cube_index() const override { return 0; }

  Ticket submit(const std::shared_ptr<OpDesc>& desc) override {
    stamp(*desc);
    values_.apply(desc, memory_);
    return ++tickets_;
  }
  void wait(Ticket) override {}
  bool done(Ticket) const override { return true; }

  void materialize(const std::shared_ptr<OpDesc>& desc) override {
    stamp(*desc);
    if (!desc->data) {
      auto what = std::make_shared<Materialization>();
      Bytes bytes(desc->output.nbytes());
      values_.read(memory_, MemoryImage::key_of(desc->output), desc->output.addr, bytes.data(), bytes.size(), 0, {},
                   what.get());
      desc->data = std::make_shared<const Bytes>(std::move(bytes));
      desc->materialized = std::move(what);
    }
    apply_effect(desc, memory_);
  }

  uint64_t tcm_alloc(uint64_t n) override {
    const auto addr = tcm_.allocate(n);
    if (!addr) throw KernelFault("a row does not fit the host's TCM");
    return *addr;
  }
  void tcm_free(uint64_t addr) override {
    memory_.erase({Space::tcm, 0}, addr, tcm_.find(addr)->size);
    tcm_.free(addr);
  }

  void check_range(Space, uint64_t, uint64_t) const override {}  // empty, because pointers carry bounds
  MemoryImage& memory() override { return memory_; }

  Bytes read(uint64_t addr, uint64_t n) {
    Bytes bytes(n);
    values_.read(memory_, {Space::hbm, kNoPe}, addr, bytes.data(), n);
    return bytes;
  }

 private:
  void stamp(OpDesc& desc) {
    desc.pe = 0;
    desc.seq = commands_++;
    desc.submit_ns = static_cast<double>(commands_);
  }
  std::string id_ = "the host";
  MemoryImage memory_;
  PendingValues values_;
  FirstFitAllocator tcm_{0, kHostTcm};
  uint64_t commands_ = 0;
  Ticket tickets_ = 0;
};

/// Adds a tensor of that many elements at an address range of its own.
void add(tl::LaunchArgs& args, const std::string& name, DType dtype, int64_t elements, uint64_t addr) {
  const Dims shape{elements};
  const tl::View view{tl::Ptr(Space::hbm, addr, dtype), shape, Dims{0}, shape};
  args.add(name, {view}, view, static_cast<uint64_t>(elements) * size_of(dtype), true);
}

/// Throws Refusal, or the kernel's own faults.
void run_row(const Launch& l, tl::Context& tl, const tl::Args& args) {
  Pe pe(tl, args, *l.op, l.followers);
  try {
    l.op->row->run(pe);
  } catch (const std::out_of_range&) {
    throw Refusal("an input has fewer elements than are read");
  }
}

}  // namespace

void run_on_pe(const Launch& l, tl::Context& tl, const tl::Args& args) {
  try {
    run_row(l, tl, args);
  } catch (const Refusal& r) {
    throw KernelFault(described(*l.op->node) + ": " + r.what());
  }
}

std::vector<TensorData> work_out(const Op& op, const std::vector<std::shared_ptr<const TensorData>>& inputs) {
  HostPe host;
  Params params;
  params.set(kTcmBytes, static_cast<int64_t>(kHostTcm));
  auto args = std::make_shared<tl::LaunchArgs>(std::move(params));
  uint64_t addr = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || inputs[i]->bytes.empty()) continue;
    addr += kTensorStride;
    host.memory().write_shared({Space::hbm, kNoPe}, addr,
                               {inputs[i], inputs[i]->bytes.data(), inputs[i]->bytes.size()});
    add(*args, "in" + std::to_string(i), inputs[i]->dtype(), inputs[i]->elements(), addr);
  }
  std::vector<TensorData> results(op.outputs.size());
  std::vector<uint64_t> at(op.outputs.size(), 0);
  bool any = false;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!op.has_output(i)) continue;
    results[i] = {op.out(i).type, op.out(i).shape, {}};
    if (results[i].elements() == 0) continue;
    any = true;
    at[i] = addr += kTensorStride;
    add(*args, "out" + std::to_string(i), results[i].dtype(), results[i].elements(), addr);
  }
  if (!any) return results;
  try {
    tl::Context tl(host);
    run_row({&op, {}, nullptr}, tl, tl::Args(args, 0));
    tl.finish();
  } catch (const KernelFault& f) {
    throw Refusal(f.what());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (at[i] > 0)
      results[i].bytes = host.read(at[i], static_cast<uint64_t>(results[i].elements()) * size_of(results[i].dtype()));
  }
  return results;
}

}  // namespace kernbench::onnx
