// SPDX-License-Identifier: Apache-2.0
// Sorts the tokens of a layer with experts by expert: buffer[e · capacity + r] is the r-th token, in the order of all
// tokens, that chose expert e. Each PE scatters its own tokens to buffers that are distributed over all PEs, and counts
// them with atomics. Choice -1, and choices beyond an expert's capacity, are dropped: slot -1. moe_sort drops no token:
// the tokens of an expert follow those of the expert before.
#include <algorithm>
#include <charconv>
#include <numeric>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/expert_choices.h"
#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::kernels::moe_dispatch_kernel {
namespace {

/// The slots of choices [tokens, k], concatenated, as far as they exist.
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

constexpr int64_t kElements = 1 << 18;  // of the tokens that are sent at once

/// Sends this PE's tokens to their `slots` and returns these: [tokens, k].
tl::Tensor send(tl::Context& tl, const tl::Args& args, const std::vector<int32_t>& slots) {
  const tl::View& x = args["x"];
  const int64_t k = args.integer("k"), step = std::max<int64_t>(1, kElements / x.shape[1]);
  const tl::Ptr buffer = args.whole("buffer").ptr;
  tl::Tensor index, mask;
  for (int64_t first = 0; first < x.shape[0]; first += step) {
    const int64_t count = std::min(step, x.shape[0] - first);
    const tl::Loaded tokens = tl.load(x.block().rows(first, count));
    if (first == 0) {
      std::vector<uint8_t> sent;
      for (const int32_t slot : slots) sent.push_back(slot >= 0);
      index = tl.tensor(slots, {x.shape[0], k}, DType::i32);
      mask = tl.tensor(sent, {x.shape[0], k}, DType::u8);
    }
    const tl::Tensor to = index.slice(0, first, count), is_sent = mask.slice(0, first, count);
    const Dims rows = x.shape[1] > 1 ? Dims{count, 1, x.shape[1]} : Dims{count, 1};
    for (int64_t j = 0; j < k; ++j)
      tl.scatter_async(buffer, to.slice(1, j, 1), tokens.reshape(rows), is_sent.slice(1, j, 1), x.shape[1]);
  }
  return index;
}

void moe_dispatch(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  if (x.empty()) return;
  const int64_t k = args.integer("k");
  const int64_t first = x.offset[0] * k;
  const int64_t own = x.shape[0] * k;
  // Ranks also count the earlier tokens of other PEs.
  const auto all = tl.load(args["choice"].ptr, {first + own}).to_vector<int32_t>();
  const std::vector<int32_t> slots = slots_of(all, args.integer("experts"), args.integer("capacity"));
  std::vector<int32_t> chosen(all.begin() + first, all.end());
  std::vector<uint8_t> counted;
  for (const int32_t e : chosen) counted.push_back(e >= 0);
  const tl::Tensor index = send(tl, args, {slots.begin() + first, slots.end()});
  tl.async().red_add(args["counts"].ptr, tl.tensor(chosen, {own}, DType::i32), 1, tl.tensor(counted, {own}, DType::u8),
                     tl::Sem::relaxed);
  tl.store_async(args["slot"], index);
}

constexpr int32_t kMostExperts = 1 << 20;

/// The local experts: `count` from `first` on, or those that have a place. `places`: by expert; -1: none.
struct LocalExperts {
  int64_t first = 0, count = 0;
  std::vector<int32_t> places;
  int64_t place(int32_t e) const {
    if (places.empty()) return e >= first && e - first < count ? e - first : -1;
    return e >= 0 && static_cast<size_t>(e) < places.size() ? places[static_cast<size_t>(e)] : -1;
  }
};

LocalExperts local_experts(const Params& p) {
  const std::string& text = p.choice("local");
  if (text.empty()) return {p.integer("first"), p.integer("experts"), {}};
  LocalExperts here;
  for (const std::string& word : parts_between(',', text)) {
    int32_t e = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), e);
    const bool is_number = error == std::errc() && end == word.data() + word.size() && e >= 0 && e < kMostExperts;
    if (!is_number || (!here.places.empty() && here.place(e) >= 0))
      throw KernelFault("moe_sort: local: found '" + text + "', expected numbers of different experts, as 0,5,2");
    const auto n = static_cast<size_t>(e);
    if (n >= here.places.size()) here.places.resize(n + 1, -1);
    here.places[n] = static_cast<int32_t>(here.count++);
  }
  if (here.count != p.integer("experts"))
    throw KernelFault("moe_sort: local: found " + std::to_string(here.count) + " experts, expected " +
                      std::to_string(p.integer("experts")));
  return here;
}

/// The slots of all choices [tokens, k], expert by expert; -1 for experts that are not local.
std::vector<int32_t> sorted_slots(const std::vector<int32_t>& choices, const LocalExperts& here) {
  std::vector<int32_t> next(static_cast<size_t>(here.count) + 1), slots;
  for (const int32_t e : choices) {
    if (e < -1) throw KernelFault("moe_sort: expert " + std::to_string(e) + " is below -1");
    if (const int64_t place = here.place(e); place >= 0) ++next[static_cast<size_t>(place) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (const int32_t e : choices) {
    const int64_t place = here.place(e);
    slots.push_back(place < 0 ? -1 : next[static_cast<size_t>(place)]++);
  }
  return slots;
}

void moe_sort(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  if (x.empty()) return;
  const int64_t k = args.integer("k"), first = x.offset[0] * k;
  const auto all = tl.load(args["choice"].ptr, {x.whole[0] * k}).to_vector<int32_t>();
  const std::vector<int32_t> slots = sorted_slots(all, local_experts(args.params()));
  const auto own = slots.begin() + first;
  tl.store_async(args["slot"], send(tl, args, {own, own + x.shape[0] * k}));
}

/// `buffer` with the tokens in their slots.
Floats sent(const TensorMap& in, const std::vector<int32_t>& slots, int64_t k, int64_t dim) {
  const Floats x = in.at("x").floats();
  Floats buffer = in.at("buffer").floats();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] >= 0) std::copy_n(x.begin() + static_cast<int64_t>(i) / k * dim, dim, buffer.begin() + slots[i] * dim);
  }
  return buffer;
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t k = p.integer("k"), dim = p.integer("dim"), capacity = p.integer("capacity");
  const std::vector<int32_t> choices = in.at("choice").ints();
  const std::vector<int32_t> slots = slots_of(choices, p.integer("experts"), capacity);
  std::vector<int32_t> counts = in.at("counts").ints();
  for (const int32_t e : choices) {
    if (e >= 0) ++counts[static_cast<size_t>(e)];
  }
  const Floats buffer = sent(in, slots, k, dim);
  return {{"buffer", {HostTensor::from(p.dtype(), {p.integer("experts") * capacity, dim}, buffer), {}}},
          {"counts", {HostTensor::from(DType::i32, {p.integer("experts")}, counts), {}}},
          {"slot", {HostTensor::from(DType::i32, {p.integer("tokens"), k}, slots), {}}}};
}

std::map<std::string, Expected> sort_reference(const Params& p, const TensorMap& in) {
  const int64_t k = p.integer("k");
  const std::vector<int32_t> slots = sorted_slots(in.at("choice").ints(), local_experts(p));
  const HostTensor& buffer = in.at("buffer");
  return {{"buffer", {HostTensor::from(p.dtype(), buffer.shape, sent(in, slots, k, p.integer("dim"))), {}}},
          {"slot", {HostTensor::from(DType::i32, {p.integer("tokens"), k}, slots), {}}}};
}

/// Tensors of both kernels: x, choice, a buffer of zeros distributed over all PEs, slot.
std::vector<TensorSpec> tensors(const std::function<Dims(const Params&)>& slots) {
  const auto i32 = [](const Params&) { return DType::i32; };
  TensorSpec buffer = zeroed("buffer", slots, DType::f32);
  buffer.dtype = own_dtype;
  buffer.placement = Placement::rows;
  buffer.fill = [slots](const Params& p, uint64_t) { return HostTensor(p.dtype(), slots(p)); };
  return {input("x", {"tokens", "dim"}, Placement::rows),
          {"choice", TensorSpec::Role::in, dims({"tokens", "k"}), i32, Placement::replicate,
           Init::index(value_of("experts"))},
          buffer,
          {"slot", TensorSpec::Role::out, dims({"tokens", "k"}), i32, Placement::rows, {}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "moe_dispatch";
  s.help = "buffer = tokens sorted by their experts, by scatters; counts by atomics";
  s.params = {ParamSpec::size("tokens", 256, "tokens, split over the PEs"),
              ParamSpec::size("dim", 64, "elements of a token"),
              ParamSpec::size("experts", 8, "experts"),
              ParamSpec::size("k", 2, "experts of a token"),
              ParamSpec::size("capacity", 64, "capacity of an expert, in tokens"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = tensors([](const Params& p) {
    return Dims{p.integer("experts") * p.integer("capacity"), p.integer("dim")};
  });
  s.tensors.insert(s.tensors.begin() + 3, zeroed("counts", dims({"experts"}), DType::i32));
  s.function = moe_dispatch;
  s.reference = reference;
  return s;
}

KernelSpec sort_spec() {
  KernelSpec s;
  s.name = "moe_sort";
  s.help = "buffer = tokens sorted by their local experts";
  ParamSpec first = ParamSpec::size("first", 0, "number of the first local expert");
  first.min = 0;
  s.params = {ParamSpec::size("tokens", 256, "tokens, split over the PEs"),
              ParamSpec::size("dim", 64, "elements of a token"),
              ParamSpec::size("experts", 8, "local experts; the slots of others are -1"),
              first,
              ParamSpec::text("local", "", "numbers of different experts, as 0,5,2",
                              "numbers of the local experts, in the order of their slots; default: from first on"),
              ParamSpec::size("k", 2, "different experts of a token"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = tensors([](const Params& p) {
    return Dims{p.integer("tokens") * std::min(p.integer("k"), p.integer("experts")), p.integer("dim")};
  });
  s.tensors[1].fill = [](const Params& p, uint64_t seed) {
    return drawn_choices(p.integer("tokens"), p.integer("k"), p.integer("first") + p.integer("experts"),
                         seed_for(seed, "choice"));
  };
  s.function = moe_sort;
  s.reference = sort_reference;
  return s;
}

const RegisterKernel registered{spec()}, registered_sort{sort_spec()};

}  // namespace
}  // namespace kernbench::kernels::moe_dispatch_kernel
