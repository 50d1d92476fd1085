// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/kernel_reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernbench/phase2/op/ranged_op.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe.h"

namespace kernbench::pe {
namespace {

std::vector<uint32_t> initiators_of(const std::vector<const Pe*>& pes) {
  std::vector<uint32_t> all;
  for (const Pe* p : pes) all.push_back(p->dma);
  return all;
}

bool same_ranges(const OpDesc& a, const OpDesc& b) {
  const auto same = [](const MovedRange& x, const MovedRange& y) {
    return x.addr == y.addr && x.nbytes == y.nbytes && x.offset == y.offset;
  };
  const std::vector<MovedRange>&of_a = a.ranged->ranges, &of_b = b.ranged->ranges;
  return a.op == b.op && a.output.dtype == b.output.dtype &&
         std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same);
}

}  // namespace

KernelReductions::Operation::Operation(System& system, std::vector<const Pe*> all,
                                       const std::shared_ptr<OpDesc>& source)
    : on_the_way(system, initiators_of(all), source->ranged->ranges.front().addr, source->ranged->ranges.front().nbytes,
                 source->output.dtype),
      pes(std::move(all)),
      sources(pes.size()),
      first(source),
      to_come(pes.size()),
      effects_left(pes.size()) {}

bool KernelReductions::Operation::takes_effect(OpDesc& source) {
  if (--effects_left > 0) return false;
  for (const std::shared_ptr<OpDesc>& s : sources) source.on_the_way->values.push_back(s->operands.front());
  source.on_the_way->order = on_the_way.value_order();
  return true;
}

std::shared_ptr<KernelReductions::Operation> KernelReductions::operation_of(const Pe& pe,
                                                                            const std::shared_ptr<OpDesc>& desc) {
  OnTheWay& r = *desc->on_the_way;
  if (r.sources.size() == 1) {
    desc->on_the_way = nullptr;
    return nullptr;
  }
  size_t& come = come_[{r.group, &pe}];
  r.operation = come;
  std::deque<Kept>& operations = groups_[r.group];
  if (r.operation >= operations.size()) {
    std::vector<const Pe*> sources;
    for (const int64_t place : r.sources) sources.push_back(pes_.at(static_cast<size_t>(place)));
    std::sort(sources.begin(), sources.end(), [](const Pe* a, const Pe* b) { return a->dma < b->dma; });
    const std::shared_ptr<Operation> made(new Operation(system_, std::move(sources), desc));
    operations.push_back({made, made});
  }
  Kept& kept = operations[r.operation];
  const std::shared_ptr<Operation> o = kept.all.lock();
  const auto at = o ? std::find(o->pes.begin(), o->pes.end(), &pe) : std::vector<const Pe*>::const_iterator();
  const std::string name = fmt::format("operation {} of group {}", r.operation, r.group);
  if (!o || at == o->pes.end() || o->pes.size() != r.sources.size())
    throw AccessError(name + ": another source names other sources");
  if (!same_ranges(*o->first, *desc))
    throw AccessError(name + ": expected the op, the type and the place of its other sources");
  o->sources[static_cast<size_t>(at - o->pes.begin())] = desc;
  ++come;
  if (--o->to_come == 0) kept.open = nullptr;
  return o;
}

std::vector<std::string> KernelReductions::waiting() const {
  std::vector<std::string> all;
  for (const auto& [group, operations] : groups_) {
    for (size_t n = 0; n < operations.size(); ++n) {
      const std::shared_ptr<Operation> o = operations[n].all.lock();
      if (o && o->on_the_way.begun() && !o->on_the_way.missing().empty())
        all.push_back(
            fmt::format("reduction {}: operation {} has not come from {}", group, n, o->on_the_way.missing()));
    }
  }
  return all;
}

}  // namespace kernbench::pe
