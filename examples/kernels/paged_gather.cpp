// SPDX-License-Identifier: Apache-2.0
// The keys or values of sequences whose pages lie anywhere in a pool, one behind the other: y[s, b] = pool[table[s,
// b]], a page an element of the gather. Page -1 gives zeros.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::paged_gather_kernel {
namespace {

constexpr int64_t kElements = 16384;  // of a block

void paged_gather(tl::Context& tl, const tl::Args& args) {
  const tl::View& to = args["y"];
  if (to.empty()) return;
  const tl::Ptr pool = args.whole("pool").ptr;
  const int64_t width = args.integer("page") * args.integer("dim");
  const int64_t pages = to.shape[0] * args.integer("blocks");  // of this PE's sequences
  const int64_t step = std::max<int64_t>(1, kElements / width);
  for (int64_t first = 0; first < pages; first += step) {
    const int64_t count = std::min(step, pages - first);
    const auto table = tl.load(args["table"].ptr + first, {count});
    tl.store_async(to.ptr + first * width, gather_rows(tl, pool, table, width));
  }
}

Dims whole(const Params& p) {
  return {p.integer("seqs"), p.integer("blocks") * p.integer("page"), p.integer("dim")};
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  return {{"y", {rows_by_index(in.at("pool"), in.at("table"), whole(p)), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "paged_gather";
  s.help = "y[s] = concatenation of the pages of a shared pool that table[s] lists; zeros where it is -1";
  s.params = {ParamSpec::size("pages", 256, "pages of the pool, split over the PEs"),
              ParamSpec::size("page", 16, "tokens of a page"),
              ParamSpec::size("dim", 64, "elements of a token"),
              ParamSpec::size("seqs", 16, "sequences, split over the PEs"),
              ParamSpec::size("blocks", 8, "pages of a sequence"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {{"table", TensorSpec::Role::in, dims({"seqs", "blocks"}), [](const Params&) { return DType::i32; },
                Placement::rows, Init::index(value_of("pages"))},
               input("pool", {"pages", "page", "dim"}, Placement::rows),
               {"y", TensorSpec::Role::out, whole, own_dtype, Placement::rows, {}}};
  s.function = paged_gather;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::paged_gather_kernel
