// SPDX-License-Identifier: Apache-2.0
// A kernel's parameters: their declarations, and the checked values of one run.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

enum class ParamType { integer, number, boolean, choice, dtype, text };

using ParamValue = std::variant<int64_t, double, bool, std::string, DType>;

struct ParamSpec {
  std::string name;
  ParamType type = ParamType::integer;
  std::string help;
  ParamValue default_value;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  ///< choice and dtype: the legal names; text: a description of the legal values
  /// A size that is split evenly over the PEs, each of which works independently. A smaller machine with a
  /// proportionally smaller size then takes about the same simulated time (`kernbench tune` relies on this).
  bool split_over_pes = false;
  /// A tuning parameter: another value changes how the kernel computes, not its results. Remedies may change it.
  bool is_tuning = false;

  /// A size or count: at least 1, at most 2^40.
  static ParamSpec size(std::string name, int64_t default_value, std::string help);
  /// The same with split_over_pes; at most one parameter of a kernel.
  static ParamSpec size_over_pes(std::string name, int64_t default_value, std::string help);
  static ParamSpec number(std::string name, double default_value, double min, double max, std::string help);
  static ParamSpec flag(std::string name, bool default_value, std::string help);
  static ParamSpec choice(std::string name, std::vector<std::string> legal, std::string help);  ///< default: the first
  /// Any word. `legal` describes the legal values; the user of the parameter checks them.
  static ParamSpec text(std::string name, std::string default_value, std::string legal, std::string help);
  static ParamSpec dtypes(std::vector<DType> legal, std::string help = "element type");  ///< named dtype

  /// The same with is_tuning.
  ParamSpec tuning() const;

  /// "integer, 1 or more", "f32|f16|bf16".
  std::string legal() const;
  /// The default in the form of --param.
  std::string default_text() const;
};

/// A bad --param: one line that lists what is legal. The CLI exits with 2.
class BadParam : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Checked values by name. std::logic_error for a name or type that the kernel did not declare.
class Params {
 public:
  int64_t integer(const std::string& name) const { return get<int64_t>(name); }
  double number(const std::string& name) const { return get<double>(name); }
  bool flag(const std::string& name) const { return get<bool>(name); }
  const std::string& choice(const std::string& name) const { return get<std::string>(name); }
  DType dtype(const std::string& name = "dtype") const { return get<DType>(name); }
  void set(const std::string& name, ParamValue v) { values_[name] = std::move(v); }
  const std::map<std::string, ParamValue>& values() const { return values_; }
  /// The launch of these parameters; null while unknown: shapes and references then assume one PE.
  const LaunchShape* launch() const { return launch_.get(); }
  void set_launch(std::shared_ptr<const LaunchShape> launch) { launch_ = std::move(launch); }

 private:
  template <class T>
  const T& get(const std::string& name) const {
    const auto it = values_.find(name);
    if (it == values_.end() || !std::holds_alternative<T>(it->second)) {
      throw std::logic_error("the kernel asks for a parameter '" + name + "' that it does not declare with this type");
    }
    return std::get<T>(it->second);
  }
  std::map<std::string, ParamValue> values_;
  std::shared_ptr<const LaunchShape> launch_;
};

/// A value in the form of --param ("64", "1e-5", "true", "f16").
std::string to_text(const ParamValue& v);

/// Defaults, overridden by the (name, text) pairs in `given`. BadParam for unknown or repeated names and for unreadable
/// or out-of-range values; its message begins with `what`, such as "kernel gemm".
Params parse_params(const std::string& what, const std::vector<ParamSpec>& specs,
                    const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace kernbench
