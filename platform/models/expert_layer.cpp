// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/expert_layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::models {

using host::Layout;
using host::Tensor;

namespace {

constexpr int64_t kFewestToSpread = 4;  // rows of an expert; fewer are multiplied where they lie
constexpr int64_t kTileOfRouter = 256;  // tile size along k; the router's products have few rows and columns

std::string numbered(const char* name, size_t i) {
  return name + ("." + std::to_string(i));
}

int64_t ranks_of_group(const LayerSizes& s) {
  return s.ranks / s.groups;
}

/// Each rank of a group separately; a group of one rank as it is.
std::vector<std::vector<uint32_t>> each_rank(const LayerSizes& s, const ExpertGroup& group) {
  if (ranks_of_group(s) == 1) return {group.ranks};
  std::vector<std::vector<uint32_t>> all;
  for (int64_t r = 0; r < ranks_of_group(s); ++r)
    all.push_back({group.ranks.empty() ? static_cast<uint32_t>(r) : group.ranks[static_cast<size_t>(r)]});
  return all;
}

size_t number_of(const std::vector<uint32_t>& rank) {
  return rank.empty() ? 0 : rank.front();
}

}  // namespace

Way way_of_experts(const Way& way, const std::vector<uint32_t>& ranks) {
  return {false, ranks, way.unit};
}

std::vector<ExpertGroup> expert_groups(const LayerSizes& s, const Way& way) {
  std::vector<int64_t> order = s.expert_order;
  if (order.empty()) {
    order.resize(static_cast<size_t>(s.experts));
    std::iota(order.begin(), order.end(), 0);
  }
  if (s.groups == 1) return {{order, way.ranks}};
  std::vector<ExpertGroup> all;
  const int64_t each = s.experts / s.groups;
  for (int64_t g = 0; g < s.groups; ++g) {
    ExpertGroup group{{order.begin() + g * each, order.begin() + (g + 1) * each}, {}};
    for (int64_t r = g * ranks_of_group(s); r < (g + 1) * ranks_of_group(s); ++r)
      group.ranks.push_back(way.ranks.empty() ? static_cast<uint32_t>(r) : way.ranks[static_cast<size_t>(r)]);
    all.push_back(group);
  }
  return all;
}

std::vector<Temporary> temporaries_of_experts(const LayerSizes& s, const Way& way, DType dtype) {
  std::vector<Temporary> all;
  const auto add = [&](const std::string& name, int64_t rows, int64_t columns, const Layout& layout, DType type) {
    all.push_back({name, {rows, columns}, type, layout});
  };
  if (!(way.stream() == way.rows())) add("x1_rows", s.rows, s.dim, way.rows(), dtype);
  add("normed2", s.rows, s.dim, way.rows(), dtype);
  add("logits", s.rows, s.experts, way.rows(), dtype);
  add("choice", s.rows, s.per_token, way.rows(), DType::i32);
  add("choice_copies", s.rows, s.per_token, Layout().on(way.ranks), DType::i32);
  add("weight", s.rows, s.per_token, way.rows(), dtype);
  const std::vector<ExpertGroup> groups = expert_groups(s, way);
  for (size_t g = 0; g < groups.size(); ++g) {
    const Way of = way_of_experts(way, groups[g].ranks);
    const int64_t rows = s.rows * std::min(s.per_token, groups[g].count());
    add(numbered("slot", g), s.rows, s.per_token, of.rows(), DType::i32);
    add(numbered("sorted", g), rows, s.dim, of.rows(), dtype);
    add(numbered("expert_operand", g), rows, s.dim, of.operand(), dtype);
    add(numbered("expert_hidden", g), rows, s.hidden, of.operand(columns_over(ranks_of_group(s), way.unit)), dtype);
    for (const auto& rank : each_rank(s, groups[g])) {
      const Way of_rank = way_of_experts(way, rank);
      add(numbered("expert_product", number_of(rank)), rows, s.dim, of_rank.operand(), dtype);
      add(numbered("expert_out", number_of(rank)), rows, s.dim, of_rank.rows(), dtype);
    }
  }
  const Layout combined = s.ranks > 1 ? way.rows(host::rank_partial().rank()) : way.rows();
  add("combined", s.rows, s.dim, combined, dtype);
  if (!(way.stream() == combined)) add("combined_sum", s.rows, s.dim, way.stream(), dtype);
  return all;
}

void check_choices(const std::string& name, const HostTensor& choices, int64_t experts) {
  const std::vector<int32_t> all = choices.ints();
  const auto k = static_cast<size_t>(choices.shape[1]);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto row = all.begin() + static_cast<int64_t>(i / k * k), here = all.begin() + static_cast<int64_t>(i);
    if (all[i] < 0 || all[i] >= experts)
      throw InputError(fmt::format("{}: row {}: found expert {}, expected 0 to {}", name, i / k, all[i], experts - 1));
    if (std::find(row, here, all[i]) != here)
      throw InputError(fmt::format("{}: row {}: found expert {} twice, expected different ones", name, i / k, all[i]));
  }
}

ExpertLayer::ExpertLayer(host::Context& h, const LayerSizes& s, const Way& way, std::function<void(const char*)> part)
    : h_(h),
      s_(s),
      way_(way),
      groups_(expert_groups(s, way)),
      temporaries_(temporaries_of_experts(s, way, h.dtype())),
      part_(std::move(part)) {}

Tensor ExpertLayer::made(const std::string& name, int64_t rows) {
  const auto t = std::find_if(temporaries_.begin(), temporaries_.end(), [&](const auto& o) { return o.name == name; });
  if (t == temporaries_.end()) throw std::logic_error("a layer of experts makes no tensor " + name);
  return h_.tensor(t->dtype, {rows < 0 ? t->shape[0] : rows, t->shape[1]}, t->layout, name);
}

Tensor ExpertLayer::laid_out(const Tensor& x, const std::string& name) {
  const Tensor y = made(name, x.shape()[0]);
  h_.redistribute(x, y);
  return y;
}

std::vector<ExpertLayer::Rows> ExpertLayer::route(const Tensor& x, const LayerWeights& w, const Routing& routing,
                                                  Tensor* weight) {
  const host::On on = host::streams_of(h_, way_.ranks);
  const Tensor rows = x.layout() == way_.rows() ? x : laid_out(x, "x1_rows");
  const Tensor normed = made("normed2"), logits = made("logits"), chosen = made("choice");
  h_.launch(on, "rmsnorm", {{"eps", s_.eps}}, {{"x", rows}, {"w", w.norm2}, {"y", normed}});
  std::map<std::string, Tensor> of_router = {{"x", normed}, {"w", w.router}, {"y", logits}};
  if (w.router_bias.places()) of_router["bias"] = w.router_bias;
  h_.launch(on, "tp_linear", {{"tile_k", kTileOfRouter}}, of_router);
  *weight = made("weight");
  const bool given = routing.given.places() != nullptr;
  std::map<std::string, Tensor> tensors = {{"logits", logits}, {"choice", chosen}, {"weight", *weight}};
  if (given) tensors["given"] = routing.given;
  h_.launch(on, given ? "moe_route" : "moe_top_k", {{"of_chosen", s_.weights_of_chosen}}, tensors);
  const Tensor copies = laid_out(chosen, "choice_copies");
  std::vector<Rows> groups(groups_.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].in = made(numbered("sorted", g));
    groups[g].slot = made(numbered("slot", g));
    host::KernelParams local = {{"experts", groups_[g].count()}};
    if (s_.expert_order.empty()) {
      local.emplace_back("first", groups_[g].experts.front());
    } else {
      local.emplace_back("local", fmt::format("{}", fmt::join(groups_[g].experts, ",")));
    }
    h_.launch(host::streams_of(h_, groups_[g].ranks), "moe_sort", local,
              {{"x", normed}, {"choice", copies}, {"buffer", groups[g].in}, {"slot", groups[g].slot}});
  }
  const HostTensor choice = h_.read(chosen);
  if (routing.told) routing.told(choice);
  std::vector<int64_t> counts(static_cast<size_t>(s_.experts));
  for (const int32_t e : choice.ints()) ++counts[static_cast<size_t>(e)];
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].first = {0};
    for (const int64_t e : groups_[g].experts)
      groups[g].first.push_back(groups[g].first.back() + counts[static_cast<size_t>(e)]);
  }
  return groups;
}

bool ExpertLayer::is_spread(const Rows& rows) const {
  const auto none = [&](size_t e) { return rows.first[e] == rows.first[e + 1]; };
  int64_t chosen = 0;
  for (size_t e = 0; e + 1 < rows.first.size(); ++e) chosen += none(e) ? 0 : 1;
  return rows.count() >= kFewestToSpread * chosen;
}

std::vector<ExpertLayer::Out> ExpertLayer::multiply(size_t group, const Rows& rows, const LayerWeights& w) {
  const bool spread = is_spread(rows);
  std::vector<Out> all;
  for (const auto& rank : each_rank(s_, groups_[group]))
    all.push_back({rank, made(numbered("expert_out", number_of(rank))), {}});
  if (rows.count() == 0) return all;
  const std::string of_x = numbered("expert_operand", group), of_hidden = numbered("expert_hidden", group);
  const auto of_product = [&](const Out& out) { return numbered("expert_product", number_of(out.rank)); };
  const auto some = [&](const Tensor& t, int64_t first, int64_t count) { return h_.slice(t, 0, first, count); };
  host::KernelParams gate = {{"activation", s_.activation}};
  if (s_.activation == "swiglu_oai") gate.emplace_back("limit", s_.activation_limit);
  host::KernelParams down;
  for (host::KernelParams* params : {&gate, &down}) {
    if (s_.integer_rows) params->emplace_back("activations", "i8");
  }
  Tensor x, hidden;
  if (!spread) {
    x = laid_out(some(rows.in, 0, rows.count()), of_x);
    hidden = made(of_hidden, rows.count());
    for (Out& out : all) out.product = made(of_product(out), rows.count());
  }
  for (size_t e = 0; e + 1 < rows.first.size(); ++e) {
    const int64_t first = rows.first[e], count = rows.first[e + 1] - first;
    if (count == 0) continue;
    const MlpWeights& expert = w.experts[static_cast<size_t>(groups_[group].experts[e])];
    const Tensor its_x = spread ? laid_out(some(rows.in, first, count), of_x) : some(x, first, count);
    const Tensor its_hidden = spread ? made(of_hidden, count) : some(hidden, first, count);
    const bool biased = expert.gate_bias.places() != nullptr;
    std::map<std::string, Tensor> of_gate = {{"x", its_x}, {"y", its_hidden}};
    if (biased) of_gate.insert({{"bias", expert.gate_bias}, {"up_bias", expert.up_bias}});
    host::linear_of_few_rows(h_, host::streams_of(h_, groups_[group].ranks), of_gate, expert.gate, gate, expert.up);
    for (const Out& out : all) {  // per rank, to avoid a sum over the ranks for each expert
      const Tensor product = spread ? made(of_product(out), count) : some(out.product, first, count);
      std::map<std::string, Tensor> of_down = {{"x", its_hidden}, {"y", product}};
      if (biased && &out == &all.front()) of_down["bias"] = expert.down_bias;  // added once to the sum
      host::linear_of_few_rows(h_, host::streams_of(h_, out.rank), of_down, expert.down, down);
      if (spread) h_.redistribute(product, some(out.rows, first, count));
    }
  }
  for (const Out& out : all) {
    if (!spread) h_.redistribute(out.product, some(out.rows, 0, rows.count()));
  }
  return all;
}

void ExpertLayer::run(const Tensor& x, const Tensor& y, const LayerWeights& w, const Routing& routing) {
  part_("router");
  Tensor weight;
  const std::vector<Rows> groups = route(x, w, routing, &weight);
  part_("experts");
  const Tensor combined = made("combined");
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const Out& out : multiply(g, groups[g], w))
      h_.launch(host::streams_of(h_, out.rank), "moe_combine", {},
                {{"buffer", out.rows}, {"slot", groups[g].slot}, {"weight", weight}, {"y", combined}});
  }
  if (s_.ranks > 1) part_("all_reduce");
  const Tensor sum = combined.layout() == way_.stream() ? combined : laid_out(combined, "combined_sum");
  part_("experts");
  h_.launch(host::streams_of(h_, way_.ranks), "elementwise", {{"op", "add"}}, {{"x", x}, {"y", sum}, {"z", y}});
}

}  // namespace kernbench::models
