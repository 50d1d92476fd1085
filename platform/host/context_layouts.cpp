// SPDX-License-Identifier: Apache-2.0
// Tensors in other layouts: Context::redistribute() and its helpers.
#include <algorithm>

#include "kernbench/kernel_api/collectives/redistribution.h"
#include "kernbench/platform/host/context_parts.h"

namespace kernbench::host {

Tensor Context::redistribute(const Tensor& x, const Layout& layout, const std::string& name, const char* file,
                             int line) {
  return at(file, line, [&] {
    check(x);
    if (layout.partial()) throw InputError("redistribute: to a partial layout: expected one without pending sums");
    if (x.layout() == layout && &x.places()->owner() == x.places().get()) return x;
    const Tensor y = tensor(x.dtype(), x.shape(), layout,
                            name.empty() ? x.name() + "_" + std::to_string(parts_->tensors_made++) : name, file, line);
    redistribute(x, y, file, line);
    return y;
  });
}

void Context::redistribute(const Tensor& x, const Tensor& y, const char* file, int line) {
  at(file, line, [&] {
    const On on = ranks_of({x, y});
    launch(on, "redistribute", {{"partial", x.layout().partial()}, {"rings", rings(on, x, y)}}, {{"x", x}, {"y", y}},
           "all", file, line);
  });
}

/// The neighbours in the rings, as text: the kernel's queues are created before it gets its tensors.
std::string Context::rings(const On& on, const Tensor& x, const Tensor& y) const {
  ShardPlan from = x.places()->plan(), to = y.places()->plan();
  std::vector<LayoutPlace> places;
  const auto keep = [&](ShardPlan& plan) {
    std::vector<Shard> some;
    for (size_t p = 0; p < pes_.pes.size(); ++p) {
      const auto has = [&](const Stream& s) { return s.rank == pes_.rank[p]; };
      if (std::any_of(on.streams().begin(), on.streams().end(), has)) some.push_back(plan.shards[p]);
    }
    plan.shards = std::move(some);
  };
  keep(from);
  keep(to);
  for (size_t p = 0; p < pes_.pes.size(); ++p) {
    const auto has = [&](const Stream& s) { return s.rank == pes_.rank[p]; };
    if (std::any_of(on.streams().begin(), on.streams().end(), has)) places.push_back(pes_.place[p]);
  }
  return ccl::Redistribution(from, x.layout().partial(), to, places).rings();
}

std::string Context::redistribution(const Tensor& x, const Layout& layout, const char* file, int line) const {
  return at(file, line, [&] {
    check(x);
    const ShardPlan y = plan_shards(layout, x.dtype(), x.shape(), pes_.place, pes_.grids);
    return ccl::Redistribution(x.places()->plan(), x.layout().partial(), y, pes_.place).to_string(pes_.place);
  });
}

On Context::ranks_of(const std::vector<Tensor>& tensors) const {
  std::vector<Stream> all;
  for (uint32_t r = 0; r < pes_.ranks; ++r) {
    const bool has = std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
      return !t.places()->ranges(r, TensorPlaces::Copies::all).empty();
    });
    if (has) all.push_back({r, 0});
  }
  return all;
}

}  // namespace kernbench::host
