#include "kernbench/systemc_models/pe/pe_math.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

PeMath::PeMath(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Engine(name, config, checked(parameters)),
      lanes_(parameters.lanes),
      freq_ghz_(parameters.freq_ghz),
      cycles_(parameters.cycles) {
  add_unit(Stage::math, 1, true);
}

double PeMath::cycles(const std::string& op) const {
  const auto it = cycles_.find(op);
  return it == cycles_.end() ? 1 : it->second;
}

double PeMath::cycles(const std::vector<std::string>& ops) const {
  double sum = 0;
  for (const std::string& op : ops) sum += cycles(op);
  return sum;
}

Engine::Work PeMath::work(PeItem& item) {
  const int64_t elements = item.token ? item.tile_m * item.tile_n : item.command->elements;
  double sum;
  if (item.token) {
    const CompositePlan& plan = item.command->plan;
    if (plan.math_cycles[0] < 0) {
      plan.math_cycles[0] = cycles(plan.per_tile);
      plan.math_cycles[1] = cycles(plan.per_output_tile);
      plan.math_cycles[2] = cycles(plan.once);
    }
    sum = plan.math_cycles[0];
    if (item.last_k) sum += plan.math_cycles[1];
    if (item.last_output) sum += plan.math_cycles[2];
  } else {
    sum = cycles(item.command->op);
  }
  const double groups = static_cast<double>((elements + lanes_ - 1) / lanes_);
  return {overhead_ns() + groups * sum / freq_ghz_, 0, static_cast<double>(elements)};
}

KERNBENCH_REGISTER_COMPONENT(PeMath)

}  // namespace kernbench
