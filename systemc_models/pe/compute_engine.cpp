#include "kernbench/systemc_models/pe/compute_engine.h"

#include <algorithm>

namespace kernbench {

ComputeEngine::ComputeEngine(sc_core::sc_module_name name, const ComponentConfig& config,
                             const ComputeParameters& parameters, Stage stage)
    : Engine(name, config, parameters), stream_operands_(parameters.stream_operands) {
  add_unit(stage, 1, true);
}

Engine::Work ComputeEngine::work(PeItem& item) {
  const Compute c = compute(item);
  if (item.token || !stream_operands_) return {overhead_ns() + c.ns, 0, c.flops, c.peak_ns};
  const uint64_t in = item.command->in_bytes, out = item.command->out_bytes;
  double ns = c.ns;
  if (in) ns = std::max(ns, pe().tcm->access_ns(in, false));
  if (out) ns = std::max(ns, pe().tcm->access_ns(out, true));
  return {overhead_ns() + ns, in + out, c.flops, c.peak_ns};
}

}  // namespace kernbench
