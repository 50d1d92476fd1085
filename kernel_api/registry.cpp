#include "kernbench/kernel_api/registry.h"

#include <cmath>

namespace kernbench {

namespace {

/// splitmix64: a few lines, the same bits everywhere, and streams for any seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// In [-1, 1), 24 bits.
  float symmetric() { return static_cast<float>(static_cast<int64_t>(next() >> 40) - (1 << 23)) / (1 << 23); }
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

uint64_t hash_of(const std::string& text) {
  uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a
  for (char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return h;
}

}  // namespace

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

const KernelSpec* KernelRegistry::find(const std::string& name) const {
  const auto it = kernels_.find(name);
  return it == kernels_.end() ? nullptr : &it->second;
}

const KernelSpec& KernelRegistry::at(const std::string& name) const {
  if (const KernelSpec* spec = find(name)) return *spec;
  std::string known;
  for (const auto& [n, spec] : kernels_) known += (known.empty() ? "" : ", ") + n;
  throw BadParam("there is no kernel '" + name + "'; there are " + known);
}

std::vector<const KernelSpec*> KernelRegistry::all() const {
  std::vector<const KernelSpec*> specs;
  for (const auto& [name, spec] : kernels_) specs.push_back(&spec);
  return specs;
}

Params kernel_params(const KernelSpec& spec, const std::vector<std::pair<std::string, std::string>>& given) {
  Params params = parse_params(spec.name, spec.params, given);
  for (const TensorSpec& t : spec.tensors) {
    const Dims shape = t.shape(params);
    double bytes = static_cast<double>(size_of(t.dtype(params)));
    for (int64_t d : shape) bytes *= static_cast<double>(d);
    if (bytes > 70368744177664.0) {
      throw BadParam("kernel " + spec.name + ": tensor " + t.name + " of shape " + shape.to_string() + " is too large");
    }
  }
  return params;
}

HostTensor make_input(const TensorSpec& tensor, const Params& params, uint64_t seed) {
  const DType dtype = tensor.dtype(params);
  const Dims shape = tensor.shape(params);
  Random random(seed * 0x2545f4914f6cdd1dull ^ hash_of(tensor.name));
  const auto n = static_cast<size_t>(shape.elements());
  if (tensor.init.kind == Init::Kind::index) {
    const auto limit = static_cast<uint64_t>(tensor.init.k(params));
    std::vector<int32_t> values(n);
    for (int32_t& v : values) v = random.below(8) == 0 ? -1 : static_cast<int32_t>(random.below(limit));
    return HostTensor::from(dtype, shape, values);
  }
  if (!is_float(dtype)) {
    std::vector<int32_t> values(n);
    for (int32_t& v : values) v = static_cast<int32_t>(random.below(16)) - (dtype == DType::u8 ? 0 : 8);
    return HostTensor::from(dtype, shape, values);
  }
  float scale = 1;
  if (tensor.init.kind == Init::Kind::weights) {
    scale = static_cast<float>(1 / std::sqrt(static_cast<double>(tensor.init.k(params))));
  }
  std::vector<float> values(n);
  for (float& v : values) v = scale * random.symmetric();
  return HostTensor::from(dtype, shape, values);
}

}  // namespace kernbench
