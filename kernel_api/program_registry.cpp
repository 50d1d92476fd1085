// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/program_registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/text/text.h"

namespace kernbench {

const ProgramTensor* ProgramSpec::tensor(const std::string& tensor_name) const {
  for (const ProgramTensor& t : tensors) {
    if (t.name == tensor_name) return &t;
  }
  return nullptr;
}

std::vector<const TensorSpec*> ProgramSpec::tensor_specs() const {
  std::vector<const TensorSpec*> v;
  for (const ProgramTensor& t : tensors) v.push_back(&t);
  return v;
}

ProgramRegistry& ProgramRegistry::instance() {
  static ProgramRegistry registry;
  return registry;
}

void ProgramRegistry::add(ProgramSpec spec) {
  const std::string name = spec.name;
  if (!programs_.emplace(name, std::move(spec)).second) conflicts_.push_back(name);
}

const ProgramSpec& ProgramRegistry::at(const std::string& name) const {
  if (std::find(conflicts_.begin(), conflicts_.end(), name) != conflicts_.end())
    throw BadParam("more than one program is registered as '" + name + "'");
  const auto it = programs_.find(name);
  if (it != programs_.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& [n, spec] : programs_) names.push_back(n);
  throw BadParam(fmt::format("there is no program '{}'{} there are {}", name, did_you_mean(name, names),
                             names.empty() ? "none" : joined(names)));
}

std::vector<const ProgramSpec*> ProgramRegistry::all() const {
  std::vector<const ProgramSpec*> specs;
  for (const auto& [name, spec] : programs_) specs.push_back(&spec);
  return specs;
}

Params program_params(const ProgramSpec& spec, const std::vector<std::pair<std::string, std::string>>& given) {
  if (!spec.function) throw BadParam("program " + spec.name + ": its spec has no function");
  Params params = parse_params("program " + spec.name, spec.params, given);
  for (const ProgramTensor& t : spec.tensors) check_size("program " + spec.name, t, params);
  return params;
}

}  // namespace kernbench
