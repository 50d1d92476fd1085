// SPDX-License-Identifier: Apache-2.0
// "NAME=VALUE", as options have it: one rule for all commands.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// What is wrong with an option's value that is missing: it is empty, or it is the next option. Empty: nothing. `file`:
/// the value names one.
std::string missing_value(const std::string& value, bool file);

/// Its parts, neither of them empty. InputError: `what` stands in front; `form`: what was expected.
std::pair<std::string, std::string> name_and_value(const std::string& what, const std::string& text,
                                                   std::string_view form);
/// Of several in their order. InputError also for a name that stands twice, unless it may.
std::vector<std::pair<std::string, std::string>> named_values(const std::string& what,
                                                              const std::vector<std::string>& texts,
                                                              std::string_view form, bool once = true);

}  // namespace kernbench::phase2
