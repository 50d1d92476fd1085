// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/seeded_input.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/memory/bulk_bytes.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench {

const TensorSpec* KernelSpec::tensor(const std::string& tensor_name) const {
  for (const TensorSpec& t : tensors) {
    if (t.name == tensor_name) return &t;
  }
  return nullptr;
}

KernelRegistry& KernelRegistry::instance() {
  static KernelRegistry registry;
  return registry;
}

void KernelRegistry::add(KernelSpec spec) {
  const std::string name = spec.name;
  if (!kernels_.emplace(name, std::move(spec)).second) conflicts_.push_back(name);
}

void KernelRegistry::replace(KernelSpec spec) {
  const std::string name = spec.name;
  kernels_[name] = std::move(spec);
}

const KernelSpec* KernelRegistry::find(const std::string& name) const {
  const auto it = kernels_.find(name);
  return it == kernels_.end() ? nullptr : &it->second;
}

const KernelSpec& KernelRegistry::at(const std::string& name) const {
  if (std::find(conflicts_.begin(), conflicts_.end(), name) != conflicts_.end())
    throw BadParam("more than one kernel is registered as '" + name + "'");
  if (const KernelSpec* spec = find(name)) return *spec;
  std::vector<std::string> names;
  for (const auto& [n, spec] : kernels_) names.push_back(n);
  throw BadParam(fmt::format("there is no kernel '{}'{} there are {}", name, did_you_mean(name, names), joined(names)));
}

std::vector<const KernelSpec*> KernelRegistry::all() const {
  std::vector<const KernelSpec*> specs;
  for (const auto& [name, spec] : kernels_) specs.push_back(&spec);
  return specs;
}

namespace {

/// The field that the author of a tensor's spec forgot; empty: none.
std::string left_out(const TensorSpec& t) {
  if (!t.shape) return "shape";
  if (!t.dtype) return "dtype";
  return t.init.kind != Init::Kind::uniform && !t.init.k ? "init.k" : "";
}

}  // namespace

void check_size(const std::string& what, const TensorSpec& t, const Params& params) {
  if (const std::string field = left_out(t); !field.empty())
    throw BadParam(what + ": tensor " + t.name + ": its spec has no " + field);
  const Dims shape = t.shape(params);
  double bytes = static_cast<double>(size_of(t.dtype(params)));
  for (int64_t d : shape) bytes *= static_cast<double>(d);
  if (bytes > 70368744177664.0)
    throw BadParam(what + ": tensor " + t.name + " of shape " + shape.to_string() + " is too large");
}

Params kernel_params(const KernelSpec& spec, const std::vector<std::pair<std::string, std::string>>& given) {
  if (!spec.function) throw BadParam("kernel " + spec.name + ": its spec has no function");
  Params params = parse_params("kernel " + spec.name, spec.params, given);
  for (const TensorSpec& t : spec.tensors) {
    check_size("kernel " + spec.name, t, params);
    const bool replicated = t.policy ? t.policy->cube == Split::replicate || t.policy->pe == Split::replicate
                                     : t.placement == Placement::replicate;
    if (t.is_output() && replicated)
      throw BadParam("kernel " + spec.name + ": output " + t.name +
                     " is placed in copies, of which none is the result");
  }
  return params;
}

void SeededElements::write(int64_t first, int64_t count, uint8_t* out) const {
  random_elements(dtype, stream, scale, static_cast<uint64_t>(first), static_cast<size_t>(count), out);
}

std::optional<SeededElements> seeded_elements(const TensorSpec& tensor, const Params& params, uint64_t seed) {
  if (tensor.fill || tensor.init.kind == Init::Kind::index) return {};
  SeededElements e{tensor.dtype(params), seed_for(seed, tensor.name), 1};
  if (tensor.init.kind == Init::Kind::weights) e.scale = 1 / std::sqrt(static_cast<double>(tensor.init.k(params)));
  return e;
}

HostTensor make_input(const TensorSpec& tensor, const Params& params, uint64_t seed) {
  if (tensor.fill) return tensor.fill(params, seed);
  HostTensor t;  // the bytes are generated once, below
  t.dtype = tensor.dtype(params);
  t.shape = tensor.shape(params);
  if (const auto elements = seeded_elements(tensor, params, seed)) {
    t.bytes = bulk_bytes(static_cast<uint64_t>(t.elements()) * size_of(t.dtype));
    elements->write(0, t.elements(), t.bytes.data());
    return t;
  }
  const uint64_t stream = seed_for(seed, tensor.name);
  const auto limit = static_cast<uint64_t>(tensor.init.k(params));
  std::vector<int32_t> values(static_cast<size_t>(t.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t word = random_word(stream, i);
    values[i] = word % 8 == 0 ? -1 : static_cast<int32_t>((word >> 8) % limit);
  }
  return HostTensor::from(t.dtype, t.shape, values);
}

}  // namespace kernbench
