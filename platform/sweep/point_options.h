// The options of a run that may decide what comes out of it: those that a plan may give and a store's keys are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernbench::sweep {

struct PointOption {
  enum class Kind { value, flag, named };  ///< --seed 1; --verify; --param n=64
  enum class File { none, named, other };  ///< named: also looked for by its name alone
  std::string_view name;                   ///< without --
  Kind kind = Kind::value;
  File file = File::none;  ///< its value, behind NAME= where it is named, is a file's name: what is in it decides
  bool ordered = false;    ///< given several times, their order may decide
};

/// In the order in which keys name them.
const std::vector<PointOption>& point_options();
/// Null for another option.
const PointOption* point_option(std::string_view name);
/// Whether results do not depend on it.
bool decides_nothing(std::string_view name);
/// All names, for messages.
std::vector<std::string> point_option_names();

/// What is wrong with the name of an option as plans and requests have it, "links" or "param.n"; empty: nothing.
std::string option_name_fault(const std::string& name);
/// What is wrong with a value of such an option; empty: nothing that can be said without the run.
std::string option_value_fault(const std::string& name, const std::string& value);

}  // namespace kernbench::sweep
