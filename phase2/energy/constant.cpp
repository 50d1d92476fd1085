// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/energy/constant.h"

namespace kernbench::energy {
namespace {

constexpr std::string_view kQualityNames[] = {"primary", "secondary", "assumed", "computed"};
constexpr std::string_view kUnitNames[] = {"pJ",      "pJ/bit", "pJ/bit/mm",  "W",         "W/mm2", "um2",
                                           "um2/bit", "mm2",    "mm2/(GB/s)", "mm/(GB/s)", "GB/s",  "GB",
                                           "mm",      "USD",    "USD/mm2",    "USD/GB",    "1/cm2", "1"};

template <class Enum, size_t N>
std::optional<Enum> parse(const std::string_view (&names)[N], std::string_view text) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Quality q) {
  return kQualityNames[static_cast<size_t>(q)];
}
std::string_view name_of(Unit u) {
  return kUnitNames[static_cast<size_t>(u)];
}
std::optional<Quality> parse_quality(std::string_view text) {
  return parse<Quality>(kQualityNames, text);
}
std::optional<Unit> parse_unit(std::string_view text) {
  return parse<Unit>(kUnitNames, text);
}

}  // namespace kernbench::energy
