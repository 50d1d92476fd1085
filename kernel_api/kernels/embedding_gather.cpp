// SPDX-License-Identifier: Apache-2.0
// y[i] = table[idx[i]]. One gather for a block of indices reads from the memories of all PEs, which hold the table.
// Index -1 gives zeros.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::embedding_gather_kernel {
namespace {

constexpr int64_t kElements = 16384;  // per block

void embedding_gather(tl::Context& tl, const tl::Args& args) {
  const tl::View& to = args["y"];
  if (to.empty()) return;
  const tl::Ptr table = args.whole("table").ptr;
  const tl::Block y = to;
  const int64_t cols = to.shape[1];
  const int64_t step = std::max<int64_t>(1, kElements / cols);
  for (int64_t first = 0; first < to.shape[0]; first += step) {
    const int64_t count = std::min(step, to.shape[0] - first);
    const auto index = tl.load(args["idx"].ptr + first, {count});
    tl.store_async(y.rows(first, count), gather_rows(tl, table, index, cols).reshape({count, cols}));
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  return {{"y", {rows_by_index(in.at("table"), in.at("idx"), {p.integer("tokens"), p.integer("dim")}), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "embedding_gather";
  s.help = "y[i] = table[idx[i]] by gathers from a table that is split over all PEs; zeros where idx is -1";
  s.params = {ParamSpec::size("vocab", 4096, "rows of the table, split over the PEs"),
              ParamSpec::size("dim", 128, "columns of table and y"),
              ParamSpec::size("tokens", 1024, "rows of y, split over the PEs"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8})};
  s.tensors = {{"idx", TensorSpec::Role::in, dims({"tokens"}), [](const Params&) { return DType::i32; },
                Placement::rows, Init::index(value_of("vocab"))},
               input("table", {"vocab", "dim"}, Placement::rows),
               output("y", {"tokens", "dim"}, Placement::rows)};
  s.function = embedding_gather;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::embedding_gather_kernel
