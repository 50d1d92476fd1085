// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/heads.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels {

Heads::Heads(const Params& p)
    : heads(p.integer("heads")),
      kv(p.integer("kv_heads")),
      dim(p.integer("dim")),
      parts(p.integer("parts")),
      seq(p.values().count("seq") > 0 ? p.integer("seq") : 0),
      group(heads / kv),
      heads_of_part(heads / parts),
      kv_of_part(kv / parts) {}

int64_t Heads::first_head(const tl::Context& tl, const std::string& kernel) const {
  if (parts == 1) return 0;
  if (parts != tl.world_size())
    throw KernelFault(kernel + ": " + std::to_string(parts) + " parts on " + std::to_string(tl.world_size()) +
                      " ranks, expected one each");
  return tl.rank() * kv_of_part;
}

int64_t Heads::heads_at(const tl::View& x, const std::string& kernel) const {
  const int64_t begin = x.offset[1] % part_width(), end = begin + x.shape[1];
  const int64_t turned = std::max<int64_t>(0, std::min(end, (heads_of_part + kv_of_part) * dim) - begin);
  if (turned > 0 && (begin % dim != 0 || turned % dim != 0)) throw KernelFault(kernel + ": a head is split");
  if (end > part_width()) throw KernelFault(kernel + ": a PE has columns of two parts");
  return turned / dim;
}

PlaceInRank place_in_rank(const tl::Context& tl) {
  const LaunchShape& launch = tl.launch();
  const auto& all = launch.memo.get<std::vector<PlaceInRank>>("places in ranks", [&] {
    std::map<int64_t, int64_t> pes_of;
    std::vector<PlaceInRank> places;
    for (const LaunchShape::Place& p : launch.pes) places.push_back({pes_of[p.rank]++, 0});
    for (size_t i = 0; i < places.size(); ++i) places[i].pes = pes_of[launch.pes[i].rank];
    return places;
  });
  return all[static_cast<size_t>(tl.index())];
}

std::vector<ParamSpec> head_params() {
  std::vector<ParamSpec> params = {
      ParamSpec::size("heads", 4, "heads of q"), ParamSpec::size("kv_heads", 2, "heads of k and of v; divides heads"),
      ParamSpec::size("dim", 32, "elements of a head"),
      ParamSpec::size("parts", 1, "number of consecutive groups of heads, one a rank; divides kv_heads")};
  params[2].max = 512;
  return params;
}

ParamSpec window_param() {
  ParamSpec p = ParamSpec::size("window", 0, "sliding window: keys that a query sees, including its own; 0: all");
  p.min = 0;
  return p;
}

ParamSpec score_scale_param() {
  return ParamSpec::number("score_scale", 0, 0, 1e6, "scale of the scores q k; 0: 1 / sqrt(dim)");
}

double scale_of_scores(const Params& p) {
  const double given = p.number("score_scale");
  return given > 0 ? given : 1 / std::sqrt(static_cast<double>(p.integer("dim")));
}

ParamSpec rotary_param() {
  ParamSpec p = ParamSpec::size("rotary", 0, "rotated elements of each head, the first ones; 0: all");
  p.min = 0;
  return p;
}

int64_t turned_of_head(const Params& p) {
  return p.integer("rotary") > 0 ? p.integer("rotary") : p.integer("dim");
}

void check_rotary(const Params& p) {
  const int64_t rotary = p.integer("rotary"), dim = p.integer("dim");
  if (rotary > dim || rotary % 2 != 0)
    throw BadParam("rotary: found " + std::to_string(rotary) + ", expected an even number, at most dim, " +
                   std::to_string(dim));
}

TensorSpec sink_spec() {
  TensorSpec t = input("sink", {"heads"}, Placement::replicate);
  t.optional = true;
  return t;
}

tl::Tensor sink_beside(tl::Context& tl, const tl::Args& args, const Heads& h, int64_t kv_head, const tl::Tensor& top) {
  const tl::View& sink = args["sink"];
  const tl::Tensor of_group = tl.load(sink.ptr + (kv_head * h.group - sink.offset[0]), {h.group, 1});
  return tl.exp(tl.cast(of_group, DType::f32) - top);
}

double sink_beside(const TensorMap& in, int64_t head, double top) {
  const auto sink = in.find("sink");
  return sink == in.end() ? 0 : std::exp(sink->second.floats()[static_cast<size_t>(head)] - top);
}

void check_heads(const Params& p) {
  const auto divides = [&](const char* what, const char* of) {
    if (p.integer(of) % p.integer(what) != 0)
      throw BadParam(std::string(what) + ": found " + std::to_string(p.integer(what)) + ", expected a divisor of " +
                     of + ", " + std::to_string(p.integer(of)));
  };
  divides("kv_heads", "heads");
  divides("parts", "kv_heads");
}

void check_parts(const Params& p) {
  const int64_t parts = p.integer("parts");
  if (parts == 1 || p.launch() == nullptr) return;
  std::set<int64_t> ranks;
  for (const LaunchShape::Place& pe : p.launch()->pes) ranks.insert(pe.rank);
  if (parts != static_cast<int64_t>(ranks.size()))
    throw BadParam("parts: found " + std::to_string(parts) + ", expected 1 or one for each rank of the launch, " +
                   std::to_string(ranks.size()));
}

}  // namespace kernbench::kernels
