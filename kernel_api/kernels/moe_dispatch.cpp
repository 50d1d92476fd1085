// The tokens of a layer of experts, expert by expert: buffer[e · capacity + r] = the r-th token, in the order of all
// tokens, that chooses expert e. Each PE sends its own tokens by scatters, to buffers that all PEs share out, and adds
// to counts by atomics. Choice -1, and what is beyond an expert's capacity, is dropped: slot -1.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels {
namespace {

/// The slots of choices [tokens, k], one behind the other, as far as they are given.
std::vector<int32_t> slots_of(const std::vector<int32_t>& choices, int64_t experts, int64_t capacity) {
  std::vector<int64_t> taken(static_cast<size_t>(experts));
  std::vector<int32_t> slots;
  for (const int32_t e : choices) {
    if (e < -1 || e >= experts)
      throw KernelFault("moe_dispatch: expert " + std::to_string(e) + " is outside -1 … " +
                        std::to_string(experts - 1));
    const bool has_room = e >= 0 && taken[static_cast<size_t>(e)]++ < capacity;
    slots.push_back(has_room ? static_cast<int32_t>(e * capacity + taken[static_cast<size_t>(e)] - 1) : -1);
  }
  return slots;
}

void moe_dispatch(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  if (x.empty()) return;
  const int64_t k = args.integer("k");
  const int64_t first = x.offset[0] * k;
  const int64_t own = x.shape[0] * k;
  // Ranks count the tokens of other PEs before these, too.
  const auto all = tl.load(args["choice"].ptr, {first + own}).to_vector<int32_t>();
  const std::vector<int32_t> slots = slots_of(all, args.integer("experts"), args.integer("capacity"));
  const tl::Ptr buffer = args.whole("buffer").ptr;
  const tl::Loaded tokens = tl.load(x);
  std::vector<int32_t> chosen(all.begin() + first, all.end()), slot(slots.begin() + first, slots.end());
  std::vector<uint8_t> sent, counted;
  for (int64_t i = 0; i < own; ++i) {
    sent.push_back(slot[static_cast<size_t>(i)] >= 0);
    counted.push_back(chosen[static_cast<size_t>(i)] >= 0);
  }
  const auto index = tl.tensor(slot, {x.shape[0], k}, DType::i32);
  const auto mask = tl.tensor(sent, {x.shape[0], k}, DType::u8);
  const Dims rows = x.shape[1] > 1 ? Dims{x.shape[0], 1, x.shape[1]} : x.shape;
  for (int64_t j = 0; j < k; ++j)
    tl.scatter_async(buffer, index.slice(1, j, 1), tokens.reshape(rows), mask.slice(1, j, 1), x.shape[1]);
  tl.async().red_add(args["counts"].ptr, tl.tensor(chosen, {own}, DType::i32), 1, tl.tensor(counted, {own}, DType::u8),
                     tl::Sem::relaxed);
  tl.store_async(args["slot"], index);
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t k = p.integer("k"), dim = p.integer("dim"), capacity = p.integer("capacity");
  const std::vector<int32_t> choices = in.at("choice").ints();
  const std::vector<int32_t> slots = slots_of(choices, p.integer("experts"), capacity);
  const Floats x = in.at("x").floats();
  Floats buffer = in.at("buffer").floats();
  std::vector<int32_t> counts = in.at("counts").ints();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (choices[i] >= 0) ++counts[static_cast<size_t>(choices[i])];
    if (slots[i] >= 0) std::copy_n(x.begin() + static_cast<int64_t>(i) / k * dim, dim, buffer.begin() + slots[i] * dim);
  }
  return {{"buffer", {HostTensor::from(p.dtype(), {p.integer("experts") * capacity, dim}, buffer), {}}},
          {"counts", {HostTensor::from(DType::i32, {p.integer("experts")}, counts), {}}},
          {"slot", {HostTensor::from(DType::i32, {p.integer("tokens"), k}, slots), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "moe_dispatch";
  s.help = "buffer = tokens in the order of the experts that they choose, by scatters; counts by atomics";
  s.params = {ParamSpec::size("tokens", 256, "split over the PEs"),
              ParamSpec::size("dim", 64, "elements of a token"),
              ParamSpec::size("experts", 8, "experts"),
              ParamSpec::size("k", 2, "experts that a token chooses"),
              ParamSpec::size("capacity", 64, "tokens of an expert"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  const auto i32 = [](const Params&) { return DType::i32; };
  const auto slots = [](const Params& p) {
    return Dims{p.integer("experts") * p.integer("capacity"), p.integer("dim")};
  };
  TensorSpec buffer = zeroed("buffer", slots, DType::f32);
  buffer.dtype = own_dtype;
  buffer.placement = Placement::rows;
  buffer.fill = [slots](const Params& p, uint64_t) { return HostTensor(p.dtype(), slots(p)); };
  s.tensors = {input("x", {"tokens", "dim"}, Placement::rows),
               {"choice", TensorSpec::Role::in, dims({"tokens", "k"}), i32, Placement::replicate,
                Init::index(value_of("experts"))},
               buffer,
               zeroed("counts", dims({"experts"}), DType::i32),
               {"slot", TensorSpec::Role::out, dims({"tokens", "k"}), i32, Placement::rows, {}}};
  s.function = moe_dispatch;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels
