// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/compute_engine.h"

#include "kernbench/systemc_models/core/own_class.h"

namespace kernbench::pe {

ComputeEngine::ComputeEngine(sc_core::sc_module_name name, const ComponentConfig& config,
                             const ComputeParameters& parameters, Stage stage, bool needs_slot)
    : Engine(name, config, parameters), stream_operands_(parameters.stream_operands) {
  add_unit(stage, 1, needs_slot);
}

template <class AccessNs>
ServiceParts ComputeEngine::parts(const PeItem& item, const Compute& c, AccessNs access_ns) const {
  ServiceParts p;
  p.compute_ns = c.ns;
  if (!streams(item)) return p;
  const uint64_t in = item.command->in_bytes, out = item.command->out_bytes;
  if (in) p.read_ns = access_ns(in, false);
  if (out) p.write_ns = access_ns(out, true);
  return p;
}

Engine::Work ComputeEngine::work(PeItem& item) {
  const Compute c = compute(item);
  checked_ns(*this, "compute(): ns", c.ns);
  const double from = timeline().now_ns() + overhead_ns();
  parts_ = parts(item, c, [&](uint64_t nbytes, bool write) { return tcm_->ask(item, nbytes, write, from); });
  const uint64_t bytes = streams(item) ? item.command->in_bytes + item.command->out_bytes : 0;
  return {overhead_ns() + parts_.longest_ns(), bytes, c.flops, c.peak_ns};
}

double ComputeEngine::service_ns(const PeItem& item, const TcmRole& tcm) {
  const auto alone = [&](uint64_t nbytes, bool write) { return tcm.access_ns(nbytes, write); };
  return overhead_ns() + parts(item, compute(item), alone).longest_ns();
}

}  // namespace kernbench::pe
