#include "kernbench/systemc_models/pe/compute_engine.h"

#include <algorithm>

namespace kernbench {

ComputeEngine::ComputeEngine(sc_core::sc_module_name name, const ComponentConfig& config,
                             const ComputeParameters& parameters, Stage stage)
    : Engine(name, config, parameters), stream_operands_(parameters.stream_operands) {
  add_unit(stage, 1, true);
}

ServiceParts ComputeEngine::parts(const PeItem& item, const Compute& c) const {
  ServiceParts p;
  p.compute_ns = c.ns;
  if (item.token || !stream_operands_) return p;
  const uint64_t in = item.command->in_bytes, out = item.command->out_bytes;
  if (in) p.read_ns = pe().tcm->access_ns(in, false);
  if (out) p.write_ns = pe().tcm->access_ns(out, true);
  return p;
}

Engine::Work ComputeEngine::work(PeItem& item) {
  const Compute c = compute(item);
  const bool streams = !item.token && stream_operands_;
  const uint64_t bytes = streams ? item.command->in_bytes + item.command->out_bytes : 0;
  return {overhead_ns() + parts(item, c).longest_ns(), bytes, c.flops, c.peak_ns};
}

}  // namespace kernbench
