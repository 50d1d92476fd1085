// SPDX-License-Identifier: Apache-2.0
// sum += the rows of x, which PEs add one after the other: each row under a lock of two flags. Who wants it takes a
// ticket, waits until that is served, and serves the next one when it is done.
#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::ticket_lock_kernel {
namespace {

void ticket_lock(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  if (x.empty()) return;
  const tl::Ptr next = args["lock"].ptr;
  const tl::Ptr served = next + 1;
  const tl::Block sum = args["sum"];
  for (int64_t r = 0; r < x.shape[0]; ++r) {
    const auto row = tl.load(x.block().rows(r, 1)).reshape(sum.shape());
    const auto ticket = tl.atomic_add(next.block({1}), 1).item<int64_t>();
    tl.wait_until(served, tl::Cmp::eq, ticket);
    tl.store(sum, tl.load(sum) + row);
    tl.signal(served, ticket + 1);
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const std::vector<int32_t> x = in.at("x").ints();
  std::vector<int32_t> sum = in.at("sum").ints(), lock = in.at("lock").ints();
  for (size_t i = 0; i < x.size(); ++i) sum[i % sum.size()] += x[i];
  for (int32_t& v : lock) v += static_cast<int32_t>(p.integer("rows"));
  return {{"sum", {HostTensor::from(DType::i32, {p.integer("cols")}, sum), {}}},
          {"lock", {HostTensor::from(DType::i32, {2}, lock), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "ticket_lock";
  s.help = "sum += each row of x, one PE at a time, under a ticket lock of an atomic and a flag";
  s.params = {ParamSpec::size("rows", 32, "rows of x, split over the PEs"), ParamSpec::size("cols", 64, "columns")};
  const auto i32 = [](const Params&) { return DType::i32; };
  s.tensors = {{"x", TensorSpec::Role::in, dims({"rows", "cols"}), i32, Placement::rows, Init::uniform()},
               zeroed("sum", dims({"cols"}), DType::i32),
               zeroed(
                   "lock", [](const Params&) { return Dims{2}; }, DType::i32)};
  s.function = ticket_lock;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::ticket_lock_kernel
