// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/launch_plan.h"

#include <algorithm>
#include <optional>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::host {
namespace {

/// Primes that mark parameters: if one appears in a computed shape, that dimension is the parameter.
constexpr int64_t kMarks[] = {1000003, 1000033, 1000037, 1000039, 1000081, 1000099, 1000117, 1000121,
                              1000133, 1000151, 1000159, 1000171, 1000183, 1000187, 1000193, 1000199};

using Texts = std::vector<std::pair<std::string, std::string>>;

bool is_given(const Texts& given, const std::string& name) {
  return std::any_of(given.begin(), given.end(), [&](const auto& g) { return g.first == name; });
}

void check_names(const KernelSpec& kernel, const TensorPointers& tensors) {
  std::string legal;
  for (const TensorSpec& t : kernel.tensors) legal += (legal.empty() ? "" : ", ") + t.name;
  const std::string what = "launch of " + kernel.name + ": ";
  for (const auto& [name, tensor] : tensors) {
    if (!kernel.tensor(name)) throw InputError(what + "it has no tensor '" + name + "'; it has " + legal);
    if (!tensor) throw InputError(what + "tensor " + name + " is none");
  }
  const auto has = [&](const std::string& name) { return tensors.count(name) > 0; };
  for (const TensorSpec& t : kernel.tensors) {
    if (!may_lack(t, has) && !has(t.name)) throw InputError(what + "tensor " + t.name + " is not given");
  }
}

/// Derives size parameters from the given tensors' shapes; `optional`: also those that may be 0.
void read_sizes(const KernelSpec& kernel, const Params& base, const TensorPointers& tensors, bool optional,
                Texts& given) {
  Params marked = base;
  std::map<int64_t, std::string> marks;
  for (const ParamSpec& p : kernel.params) {
    if (p.type != ParamType::integer || (p.min < 1 && !optional) || is_given(given, p.name) ||
        marks.size() == std::size(kMarks))
      continue;
    const int64_t mark = kMarks[marks.size()];
    marks[mark] = p.name;
    marked.set(p.name, mark);
  }
  for (const TensorSpec& t : kernel.tensors) {
    const Dims shape = t.shape(marked);
    const Dims& found = tensors.at(t.name)->shape();
    if (shape.rank() != found.rank()) continue;
    for (int i = 0; i < shape.rank(); ++i) {
      const auto mark = marks.find(shape[i]);
      if (mark != marks.end() && !is_given(given, mark->second))
        given.emplace_back(mark->second, std::to_string(found[i]));
    }
  }
}

/// A size of 0 may select other shapes (flash_decode's page). It stays 0 if the shapes then match.
void imply_sizes(const KernelSpec& kernel, const Params& base, const TensorPointers& tensors, Texts& given) {
  Texts plain = given;
  read_sizes(kernel, base, tensors, false, plain);
  bool fit = false;
  try {
    const Params params = parse_params("kernel " + kernel.name, kernel.params, plain);
    fit = std::all_of(kernel.tensors.begin(), kernel.tensors.end(),
                      [&](const TensorSpec& t) { return t.shape(params) == tensors.at(t.name)->shape(); });
  } catch (const BadParam&) {
    // Optional sizes may supply the missing values.
  }
  if (fit)
    given = std::move(plain);
  else
    read_sizes(kernel, base, tensors, true, given);
}

/// The first legal type that matches all tensors.
void imply_type(const KernelSpec& kernel, const Params& base, const TensorPointers& tensors, Texts& given) {
  for (const ParamSpec& p : kernel.params) {
    if (p.type != ParamType::dtype || is_given(given, p.name)) continue;
    for (const std::string& choice : p.choices) {
      Params tried = base;
      tried.set(p.name, *parse_dtype(choice));
      const bool fits = std::all_of(kernel.tensors.begin(), kernel.tensors.end(),
                                    [&](const TensorSpec& t) { return t.dtype(tried) == tensors.at(t.name)->dtype(); });
      if (!fits) continue;
      given.emplace_back(p.name, choice);
      break;
    }
  }
}

bool has_param(const KernelSpec& kernel, const std::string& name) {
  return std::any_of(kernel.params.begin(), kernel.params.end(), [&](const ParamSpec& p) { return p.name == name; });
}

}  // namespace

std::shared_ptr<const KernelSpec> launched_kernel(const KernelSpec& kernel, const TensorPointers& tensors) {
  check_names(kernel, tensors);
  if (tensors.size() == kernel.tensors.size()) return {std::shared_ptr<void>(), &kernel};  // as registered
  return std::make_shared<const KernelSpec>(
      with_optional(kernel, [&](const std::string& name) { return tensors.count(name) > 0; }));
}

Params launch_params(const KernelSpec& kernel, const KernelParams& given, const TensorPointers& tensors) {
  Texts all;
  for (const auto& [name, value] : given) all.emplace_back(name, value.text());
  const Params base = parse_params("kernel " + kernel.name, kernel.params, all);
  if (kernel.any_shape) {
    if (has_param(kernel, "n") && !is_given(all, "n"))
      all.emplace_back("n",
                       std::to_string(std::max<int64_t>(1, tensors.at(kernel.tensors.front().name)->most_elements())));
  } else {
    imply_sizes(kernel, base, tensors, all);
  }
  imply_type(kernel, base, tensors, all);
  Params params = parse_params("kernel " + kernel.name, kernel.params, all);
  for (const TensorSpec& t : kernel.tensors) {
    const TensorPlaces& found = *tensors.at(t.name);
    const DType dtype = t.dtype(params);
    if (found.dtype() == dtype && (kernel.any_shape || found.shape() == t.shape(params))) continue;
    throw InputError("launch of " + kernel.name + ": tensor " + t.name + ": found " +
                     std::string(kernbench::name_of(found.dtype())) + " " + found.shape().to_string() + " (" +
                     found.name() + "), the kernel has " + std::string(kernbench::name_of(dtype)) +
                     (kernel.any_shape ? std::string(" of any shape") : " " + t.shape(params).to_string()));
  }
  return params;
}

}  // namespace kernbench::host
