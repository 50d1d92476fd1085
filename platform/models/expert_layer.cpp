#include "kernbench/platform/models/expert_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::models {

using host::Layout;
using host::Tensor;

namespace {

std::string of_group(const char* name, size_t group) {
  return name + ("." + std::to_string(group));
}
std::string of_rank(const char* name, uint32_t rank) {
  return name + ("." + std::to_string(rank));
}

/// Of a group, whose ranks these are.
Way way_of(const Way& way, const std::vector<uint32_t>& ranks) {
  return {way.prefill, ranks};
}

int64_t ranks_of_group(const LayerSizes& s) {
  return s.ranks / s.groups;
}

/// One by one; of one rank as the layer has it.
std::vector<std::vector<uint32_t>> each_of(const LayerSizes& s, const std::vector<uint32_t>& ranks) {
  if (ranks_of_group(s) == 1) return {ranks};
  std::vector<std::vector<uint32_t>> all;
  for (int64_t r = 0; r < ranks_of_group(s); ++r)
    all.push_back({ranks.empty() ? static_cast<uint32_t>(r) : ranks[static_cast<size_t>(r)]});
  return all;
}

uint32_t first_of(const std::vector<uint32_t>& ranks) {
  return ranks.empty() ? 0 : ranks.front();
}

Layout summands(const Layout& layout, int64_t ranks) {
  return ranks > 1 ? layout.over_ranks(host::rank_partial().rank()) : layout;
}

}  // namespace

std::vector<ExpertGroup> expert_groups(const LayerSizes& s, const Way& way) {
  if (s.groups == 1) return {{0, s.experts, way.ranks}};
  std::vector<ExpertGroup> all;
  for (int64_t g = 0; g < s.groups; ++g) {
    ExpertGroup group{g * (s.experts / s.groups), s.experts / s.groups, {}};
    for (int64_t r = g * ranks_of_group(s); r < (g + 1) * ranks_of_group(s); ++r)
      group.ranks.push_back(way.ranks.empty() ? static_cast<uint32_t>(r) : way.ranks[static_cast<size_t>(r)]);
    all.push_back(group);
  }
  return all;
}

std::vector<Temporary> temporaries_of_experts(const LayerSizes& s, const Way& way, DType dtype) {
  std::vector<Temporary> all;
  if (way.prefill) {
    all.push_back({"normed2", {s.rows, s.dim}, dtype, way.stream()});
    all.push_back({"normed2_operand", {s.rows, s.dim}, dtype, way.operand()});
  } else {
    all.push_back({"logits_by_columns", {s.rows, s.experts}, dtype, way.operand()});
    all.push_back({"x1_rows", {s.rows, s.dim}, dtype, way.rows()});
  }
  all.push_back({"logits", {s.rows, s.experts}, dtype, way.rows()});
  all.push_back({"choice_rows", {s.rows, s.per_token}, DType::i32, way.rows()});
  all.push_back({"choice", {s.rows, s.per_token}, DType::i32, Layout().on(way.ranks)});
  all.push_back({"weight", {s.rows, s.per_token}, dtype, way.rows()});
  const std::vector<ExpertGroup> groups = expert_groups(s, way);
  for (size_t g = 0; g < groups.size(); ++g) {
    const Way of = way_of(way, groups[g].ranks);
    const int64_t rows = s.rows * std::min(s.per_token, groups[g].count);
    const auto add = [&](const std::string& name, int64_t columns, const Layout& layout) {
      all.push_back({name, {rows, columns}, dtype, layout});
    };
    const Layout wide = of.operand(columns_over(ranks_of_group(s)));
    all.push_back({of_group("slot", g), {s.rows, s.per_token}, DType::i32, of.rows()});
    add(of_group("sorted", g), s.dim, of.rows());
    add(of_group("expert_operand", g), s.dim, of.operand());
    add(of_group("expert_hidden", g), s.hidden, wide);
    if (way.prefill) {
      add(of_group("expert_up", g), s.hidden, wide);
      add(of_group("expert_out", g), s.dim, summands(of.rows(), ranks_of_group(s)));
      continue;
    }
    for (const auto& rank : each_of(s, groups[g].ranks)) {
      add(of_rank("expert_sum", first_of(rank)), s.dim, way_of(way, rank).operand());
      add(of_rank("expert_out", first_of(rank)), s.dim, way_of(way, rank).rows());
    }
  }
  all.push_back({"combined", {s.rows, s.dim}, dtype, summands(way.rows(), s.ranks)});
  if (s.ranks > 1 || !way.prefill) all.push_back({"combined_sum", {s.rows, s.dim}, dtype, way.stream()});
  return all;
}

void check_choices(const std::string& name, const HostTensor& choices, int64_t experts) {
  const std::vector<int32_t> all = choices.ints();
  const auto k = static_cast<size_t>(choices.shape[1]);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto row = all.begin() + static_cast<int64_t>(i / k * k), here = all.begin() + static_cast<int64_t>(i);
    if (all[i] < 0 || all[i] >= experts)
      throw InputError(
          fmt::format("{}: row {}: found expert {}, expected 0 to {}", name, i / k, all[i], experts - 1));
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

Tensor ExpertLayer::logits(const Tensor& x, const LayerWeights& w, Tensor* rows) {
  const host::On on = host::streams_of(h_, way_.ranks);
  if (!way_.prefill) {  // experts norm what they get
    const Tensor by_columns = made("logits_by_columns");
    h_.launch(on, "decode_linear", {{"eps", s_.eps}},
              {{"x", x}, {"w", w.router}, {"norm", w.norm2}, {"y", by_columns}});
    *rows = laid_out(x, "x1_rows");
    return laid_out(by_columns, "logits");
  }
  *rows = made("normed2");
  h_.launch(on, "rmsnorm", {{"eps", s_.eps}}, {{"x", x}, {"w", w.norm2}, {"y", *rows}});
  const Tensor all = made("logits");
  host::linear_2d(h_, laid_out(*rows, "normed2_operand"), w.router, all);
  return all;
}

std::vector<ExpertLayer::Rows> ExpertLayer::route(const Tensor& x, const LayerWeights& w, const Routing& routing,
                                                  Tensor* weight) {
  Tensor rows;
  const Tensor all = logits(x, w, &rows), chosen = made("choice_rows");
  *weight = made("weight");
  std::map<std::string, Tensor> tensors = {{"logits", all}, {"choice", chosen}, {"weight", *weight}};
  if (routing.given.places()) tensors["given"] = routing.given;
  h_.launch(host::streams_of(h_, way_.ranks), routing.given.places() ? "moe_route" : "moe_top_k",
            {{"of_chosen", s_.weights_of_chosen}}, tensors);
  const Tensor choice = laid_out(chosen, "choice");
  std::vector<Rows> groups(groups_.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].in = made(of_group("sorted", g));
    groups[g].slot = made(of_group("slot", g));
    h_.launch(host::streams_of(h_, groups_[g].ranks), "moe_sort",
              {{"first", groups_[g].first}, {"experts", groups_[g].count}},
              {{"x", rows}, {"choice", choice}, {"buffer", groups[g].in}, {"slot", groups[g].slot}});
  }
  const HostTensor choices = h_.read(choice);
  if (routing.told) routing.told(choices);
  std::vector<int64_t> counts(static_cast<size_t>(s_.experts));
  for (const int32_t e : choices.ints()) ++counts[static_cast<size_t>(e)];
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto first = counts.begin() + groups_[g].first;
    groups[g].first = {0};
    std::partial_sum(first, first + groups_[g].count, std::back_inserter(groups[g].first));
  }
  return groups;
}

void ExpertLayer::multiply_prefill(size_t group, Rows* rows, const LayerWeights& w) {
  const host::On on = host::streams_of(h_, groups_[group].ranks);
  const Tensor out = made(of_group("expert_out", group));
  rows->out = {{groups_[group].ranks, out}};
  for (size_t e = 0; e + 1 < rows->first.size(); ++e) {
    const int64_t first = rows->first[e], count = rows->first[e + 1] - first;
    if (count == 0) continue;
    const Tensor x = laid_out(h_.slice(rows->in, 0, first, count), of_group("expert_operand", group));
    const Tensor gate = made(of_group("expert_hidden", group), count), up = made(of_group("expert_up", group), count);
    gated_mlp(h_, on, s_.activation, w.experts[static_cast<size_t>(groups_[group].first) + e], x, gate, up,
              h_.slice(out, 0, first, count));
  }
}

void ExpertLayer::multiply_decode(size_t group, Rows* rows, const LayerWeights& w) {
  const std::vector<uint32_t>& ranks = groups_[group].ranks;
  for (const auto& rank : each_of(s_, ranks)) rows->out.push_back({rank, rows->in});
  if (rows->count() == 0) return;
  // Rows of all experts go to where they are multiplied at once, and back.
  const Tensor x = laid_out(h_.slice(rows->in, 0, 0, rows->count()), of_group("expert_operand", group));
  const Tensor hidden = made(of_group("expert_hidden", group), rows->count());
  for (Rows::Out& out : rows->out) out.rows = made(of_rank("expert_sum", first_of(out.ranks)), rows->count());
  for (size_t e = 0; e + 1 < rows->first.size(); ++e) {
    const int64_t first = rows->first[e], count = rows->first[e + 1] - first;
    if (count == 0) continue;
    const MlpWeights& expert = w.experts[static_cast<size_t>(groups_[group].first) + e];
    const auto part = [&](const Tensor& t) { return h_.slice(t, 0, first, count); };
    h_.launch(host::streams_of(h_, ranks), "decode_linear", {{"activation", s_.activation}, {"eps", s_.eps}},
              {{"x", part(x)}, {"w", expert.gate}, {"up", expert.up}, {"norm", w.norm2}, {"y", part(hidden)}});
    // By each rank alone: what they have are summands, which are added up when the experts' are.
    for (const Rows::Out& out : rows->out)
      h_.launch(host::streams_of(h_, out.ranks), "decode_linear", {},
                {{"x", part(hidden)}, {"w", expert.down}, {"y", part(out.rows)}});
  }
  for (Rows::Out& out : rows->out) out.rows = laid_out(out.rows, of_rank("expert_out", first_of(out.ranks)));
}

Tensor ExpertLayer::combine(const std::vector<Rows>& groups, const Tensor& weight) {
  const Tensor combined = made("combined");
  for (const Rows& rows : groups) {
    for (const Rows::Out& out : rows.out)
      h_.launch(host::streams_of(h_, out.ranks), "moe_combine", {},
                {{"buffer", out.rows}, {"slot", rows.slot}, {"weight", weight}, {"y", combined}});
  }
  if (s_.ranks > 1) part_("all_reduce");
  return s_.ranks > 1 || !way_.prefill ? laid_out(combined, "combined_sum") : combined;
}

void ExpertLayer::run(const Tensor& x, const Tensor& y, const LayerWeights& w, const Routing& routing) {
  part_("router");
  Tensor weight;
  std::vector<Rows> groups = route(x, w, routing, &weight);
  part_("experts");
  for (size_t g = 0; g < groups.size(); ++g) {
    if (way_.prefill)
      multiply_prefill(g, &groups[g], w);
    else
      multiply_decode(g, &groups[g], w);
  }
  const Tensor sum = combine(groups, weight);
  part_("experts");
  h_.launch(host::streams_of(h_, way_.ranks), "elementwise", {{"op", "add"}}, {{"x", x}, {"y", sum}, {"z", y}});
}

}  // namespace kernbench::models
