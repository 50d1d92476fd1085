// SPDX-License-Identifier: Apache-2.0
// y[i] = table[idx[i]], computed by PEs with a part of the table. Rows of another part, and index -1, give zeros. If
// ranks split the table, the sum of their y is the complete embedding.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::embedding_kernel {
namespace {

constexpr int64_t kIndices = 1024;  // loaded at once
constexpr int64_t kColumns = 8192;  // of a row, moved at once

void embedding(tl::Context& tl, const tl::Args& args) {
  const tl::View& to = args["y"];
  if (to.empty()) return;
  const tl::View& table = args["table"];
  const tl::View& idx = args["idx"];
  const tl::Block y = to;
  const int64_t cols = to.shape[1];
  for (int64_t first = 0; first < to.shape[0]; first += kIndices) {
    const int64_t count = std::min(kIndices, to.shape[0] - first);
    const auto index = tl.load(idx.ptr + first, {count});
    for (int64_t i = 0; i < count; ++i) {
      const auto token = static_cast<int64_t>(index(i));
      if (token < -1 || token >= table.whole[0]) {
        throw KernelFault("embedding: index " + std::to_string(token) + " at position " +
                          std::to_string(idx.offset[0] + first + i) + " is outside -1 … " +
                          std::to_string(table.whole[0] - 1));
      }
      const int64_t row = token - (table.empty() ? 0 : table.offset[0]);
      const bool here = token >= 0 && !table.empty() && row >= 0 && row < table.shape[0];
      for (int64_t j = 0; j < cols; j += kColumns) {
        const int64_t width = std::min(kColumns, cols - j);
        const tl::Block out = y.tile(first + i, j, 1, width);
        if (here) {
          tl.store_async(out, tl.load(table.block().tile(row, j, 1, width)));
        } else {
          tl.store_async(out, tl.zeros({1, width}, y.dtype()));
        }
      }
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  return {{"y", {rows_by_index(in.at("table"), in.at("idx"), {p.integer("tokens"), p.integer("dim")}), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "embedding";
  s.help = "y[i] = table[idx[i]] if the local part of the table has that row, else zeros";
  s.params = {ParamSpec::size("vocab", 1024, "rows of the table"),
              ParamSpec::size("dim", 128, "columns of table and y"),
              ParamSpec::size("tokens", 256, "rows of y, split over the PEs"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {{"idx", TensorSpec::Role::in, dims({"tokens"}), [](const Params&) { return DType::i32; },
                Placement::rows, Init::index(value_of("vocab"))},
               input("table", {"vocab", "dim"}, Placement::replicate),
               output("y", {"tokens", "dim"}, Placement::rows)};
  s.function = embedding;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::embedding_kernel
