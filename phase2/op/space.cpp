// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/space.h"

#include "kernbench/phase2/text/text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

namespace kernbench::phase2 {
namespace {

constexpr size_t kStandard = 3;  // the built-in spaces of the enumeration

struct Spaces {
  std::array<std::string, kMostSpaces> names{"hbm", "sram", "tcm"};
  size_t count = kStandard;

  std::optional<Space> find(std::string_view name) const {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
    const auto at = std::find(names.begin(), end, name);
    if (at == end) return std::nullopt;
    return static_cast<Space>(at - names.begin());
  }
};

/// Created on first use, because plug-ins may add spaces while they are loaded.
Spaces& spaces() {
  static Spaces all;
  return all;
}

}  // namespace

std::string_view name_of(Space s) {
  return spaces().names[static_cast<size_t>(s)];
}

std::vector<std::string> memory_spaces() {
  const Spaces& all = spaces();
  std::vector<std::string> names;
  for (size_t i = 0; i < all.count; ++i) {
    if (static_cast<Space>(i) != Space::tcm) names.push_back(all.names[i]);
  }
  return names;
}

Space parse_space(std::string_view name) {
  if (const auto known = spaces().find(name)) return *known;
  throw std::invalid_argument("unknown address space '" + std::string(name) + "' (" + joined(memory_spaces()) +
                              ", tcm)");
}

Space add_space(std::string_view name) {
  Spaces& all = spaces();
  if (const auto known = all.find(name)) return *known;
  if (!is_space_name(name))
    throw std::invalid_argument("found address space '" + std::string(name) + "', expected " + kSpaceNames);
  if (all.count == kMostSpaces)
    throw std::invalid_argument("address space '" + std::string(name) + "': there are " + std::to_string(kMostSpaces) +
                                " already");
  all.names[all.count] = name;
  return static_cast<Space>(all.count++);
}

bool is_space_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= 31 && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace kernbench::phase2
