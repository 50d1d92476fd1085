#include "kernbench/systemc_models/pe/pe_math.h"

#include <fmt/format.h>

#include "kernbench/phase2/op/math_op.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

PeMath::PeMath(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : ComputeEngine(name, config, checked(parameters), Stage::math),
      lanes_(parameters.lanes),
      freq_ghz_(parameters.freq_ghz),
      cycles_(parameters.cycles) {
  for (const MathOp& op : math_ops()) {
    const auto it = cycles_.find(std::string(op.name));
    of_op_.push_back(it == cycles_.end() ? std::nullopt : std::optional<double>(it->second));
  }
}

std::vector<std::string> names_of_math_ops() {
  std::vector<std::string> names;
  for (const MathOp& op : math_ops()) names.emplace_back(op.name);
  return names;
}

double PeMath::cycles(const PeCommand& command) {
  if (!command.combines.empty()) return cycles(command.combines);
  if (!command.math_op) return cycles(command.op);
  const std::optional<double>& known = of_op_[static_cast<size_t>(command.math_op - math_ops().data())];
  return known ? *known : cycles(command.op);
}

double PeMath::cycles(const std::string& op) {
  const auto it = cycles_.find(op);
  if (it != cycles_.end()) return it->second;
  not_listed_.insert(op);
  return Parameters::kCyclesWhereNotListed;
}

std::vector<std::string> PeMath::notes() const {
  std::vector<std::string> lines;
  for (const std::string& op : not_listed_)
    lines.push_back(fmt::format("pe_math.cycles leaves out {}: taken as {}", op, Parameters::kCyclesWhereNotListed));
  return lines;
}

double PeMath::cycles(const std::vector<std::string>& ops) {
  double sum = 0;
  for (const std::string& op : ops) sum += cycles(op);
  return sum;
}

int64_t math_elements(const PeItem& item) {
  return item.token ? item.tile_m * item.tile_n : item.command->elements;
}

ComputeEngine::Compute PeMath::compute(const PeItem& item) {
  const int64_t elements = math_elements(item);
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
    const PeCommand& command = *item.command;
    sum = cycles(command) * static_cast<double>(command.steps);
  }
  const double groups = static_cast<double>((elements + lanes_ - 1) / lanes_);
  return {groups * sum / freq_ghz_, static_cast<double>(elements), 0};
}

KERNBENCH_REGISTER_COMPONENT(PeMath)

}  // namespace kernbench
