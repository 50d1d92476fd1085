// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_math.h"

#include <fmt/format.h>

#include "kernbench/phase2/op/math_op.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::pe {

namespace {

/// Index in math_ops().
size_t index_of(const MathOp& op) {
  return static_cast<size_t>(&op - math_ops().data());
}

}  // namespace

PeMath::PeMath(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : ComputeEngine(name, config, checked(parameters), Stage::math),
      lanes_(parameters.lanes),
      freq_ghz_(parameters.freq_ghz),
      cycles_(math_ops().size()) {
  static const std::vector<KnownKey> names = names_of_math_ops();
  for (size_t i = 0; i < names.size(); ++i) cycles_[i] = names[i].in(parameters.cycles);
}

/// In the order of math_ops().
std::vector<KnownKey> names_of_math_ops() {
  std::vector<KnownKey> names;
  for (const MathOp& op : math_ops()) names.push_back({std::string(op.name), std::string(op.cycles_as)});
  return names;
}

double PeMath::cycles(const std::string& name, const MathOp* op) {
  if (!op) op = find_math_op(name);
  const std::optional<double> listed = op ? cycles_[index_of(*op)] : std::nullopt;
  if (!listed) not_listed_.insert(name);
  return listed.value_or(Parameters::kCyclesWhereNotListed);
}

std::vector<std::string> PeMath::notes() const {
  std::vector<std::string> lines;
  for (const std::string& op : not_listed_)
    lines.push_back(fmt::format("pe_math.cycles lacks {}: taken as {}", op, Parameters::kCyclesWhereNotListed));
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
    sum = command.combines.empty() ? cycles(command.op, command.math_op) : cycles(command.combines);
    sum *= static_cast<double>(command.steps);
  }
  const double groups = static_cast<double>((elements + lanes_ - 1) / lanes_);
  return {groups * sum / freq_ghz_, static_cast<double>(elements), 0};
}

KERNBENCH_REGISTER_COMPONENT(PeMath)

}  // namespace kernbench::pe
