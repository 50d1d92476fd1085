// SPDX-License-Identifier: Apache-2.0
// y = x * s, where the row s lies in the memory of one PE: that PE multicasts it to the memories of all PEs, each of
// which then reads its own copy. Without the multicast, the links of that one memory carry s once for each PE.
#include <algorithm>

#include "kernbench/kernel_api/collectives/schedules.h"
#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::share_row_kernel {
namespace {

void share_row(tl::Context& tl, const tl::Args& args) {
  const tl::View& copy = args["copies"];
  if (tl.index() == 0) {
    std::vector<tl::Ptr> all;
    for (uint32_t pe = 0; pe < args.shards(); ++pe) all.push_back(args.shard("copies", pe).ptr);
    tl.multicast(all, tl.load(args["s"]));
  }
  ccl::barrier(tl, "all");  // PE 0 reaches it when its multicast is done
  if (args["y"].empty()) return;
  const tl::Block x = args["x"], y = args["y"];
  const auto s = tl.load(copy.ptr, {copy.shape[1]});
  for (int64_t i = 0; i < x.shape()[0]; ++i) tl.store_async(y.rows(i, 1), tl.load(x.rows(i, 1)) * s);
}

int64_t pes(const Params& p) {
  return p.launch() == nullptr ? 1 : static_cast<int64_t>(p.launch()->pes.size());
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "share_row";
  s.help = "y = x * s by rows; s is multicast to the memories of all PEs";
  s.params = {ParamSpec::size("rows", 256, "rows of x, split over the PEs"),
              ParamSpec::size("cols", 1024, "columns of x, elements of s"), ParamSpec::dtypes({DType::f32})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), input("s", {"cols"}, Placement::single),
               output("copies", {"cols"}, Placement::rows), output("y", {"rows", "cols"}, Placement::rows)};
  s.tensors[2].shape = [](const Params& p) { return Dims{pes(p), p.integer("cols")}; };
  s.queues = ccl::uses_barrier("all");
  s.function = share_row;
  s.reference = [](const Params& p, const TensorMap& in) {
    const Floats x = in.at("x").floats(), row = in.at("s").floats();
    const int64_t rows = p.integer("rows"), cols = p.integer("cols");
    Floats copies, y;
    for (int64_t i = 0; i < pes(p); ++i) copies.insert(copies.end(), row.begin(), row.end());
    for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * row[i % row.size()]);
    return std::map<std::string, Expected>{{"copies", {HostTensor::from(DType::f32, {pes(p), cols}, copies), {}}},
                                           {"y", {HostTensor::from(DType::f32, {rows, cols}, y), {}}}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::share_row_kernel
