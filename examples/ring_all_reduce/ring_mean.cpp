// SPDX-License-Identifier: Apache-2.0
// A collective of one's own: every PE of the launch gets the mean of all their vectors. The sums go around a ring block
// by block (reduce_scatter), each PE divides the block that ends with it, and the results go around once more
// (all_gather).
#include <cmath>

#include "kernbench/kernel_api/collectives/schedules.h"
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"

namespace {
using namespace kernbench;

// Who is joined with whom, and by which ports, is the kernel's to say: here a ring, from `next` to `prev`.
const ccl::Collective ring{ccl::Op::all_reduce, "rank+cube+pe", "ring"};

void ring_mean(tl::Context& tl, const tl::Args& args) {
  const int64_t pes = tl.size(), block = args.integer("n") / pes;
  const auto x = tl.load(args["x"]).reshape({pes, block});
  const ccl::Group group = ccl::make_group(tl.launch(), ring, tl.index());
  const auto own = [&](int64_t b) { return x.slice(0, (b + pes) % pes, 1).reshape({block}); };
  const auto store = [&](int64_t b, const tl::Tensor& v) {
    return tl.store_async(args["y"].ptr + (b + pes) % pes * block, v);
  };

  tl::Tensor sum = own(group.me - 1);
  for (int64_t step = 0; step + 1 < pes; ++step) {
    tl.send_async("next", sum);  // posted: the PE goes on at once
    sum = own(group.me - step - 2) + tl.recv("prev", {block}, DType::f32);
  }
  tl::Tensor mean = sum * (1.0 / static_cast<double>(pes));  // of block me
  for (int64_t step = 0; step + 1 < pes; ++step) {
    tl.send_async("next", mean);
    store(group.me - step, mean);
    mean = tl.recv("prev", {block}, DType::f32);
  }
  store(group.me + 1, mean);  // a PE ends when its last store is done
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const auto n = static_cast<size_t>(p.integer("n"));
  const std::vector<float> x = in.at("x").floats();
  const size_t pes = x.size() / n;
  std::vector<float> y(x.size()), scale(x.size());
  for (size_t i = 0; i < n; ++i) {
    double sum = 0, size = 0;
    for (size_t at = i; at < x.size(); at += n) {
      sum += x[at];
      size += std::abs(x[at]);
    }
    for (size_t at = i; at < x.size(); at += n) {
      y[at] = static_cast<float>(sum / static_cast<double>(pes));
      scale[at] = static_cast<float>(size / static_cast<double>(pes));
    }
  }
  return {{"y", {HostTensor::from(DType::f32, in.at("x").shape, y), scale}}};
}

KernelSpec spec() {
  KernelSpec k;
  k.name = "ring_mean";
  k.help = "y = the mean of all PEs' x";
  k.params = {ParamSpec::size("n", 4096, "elements of a PE, a multiple of the number of PEs")};
  const auto shape = [](const Params& p) {  // one row a PE of the launch, once that is known
    return Dims{p.launch() ? static_cast<int64_t>(p.launch()->pes.size()) : 1, p.integer("n")};
  };
  const auto f32 = [](const Params&) { return DType::f32; };
  k.tensors = {{"x", TensorSpec::Role::in, shape, f32, Placement::rows, Init::uniform()},
               {"y", TensorSpec::Role::out, shape, f32, Placement::rows, {}}};
  k.function = ring_mean;
  k.reference = reference;
  k.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    const auto pes = static_cast<int64_t>(p->launch()->pes.size());
    if (p->integer("n") % pes != 0) throw BadParam("n: expected a multiple of the " + std::to_string(pes) + " PEs");
  };
  k.queues = [](const Params&, const LaunchShape& launch) { return ccl::connections(launch, ring); };
  k.wiring = "ring (next-prev)";
  return k;
}

const RegisterKernel registered{spec()};
}  // namespace

KERNBENCH_PLUGIN("ring_mean")
