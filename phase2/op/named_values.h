// SPDX-License-Identifier: Apache-2.0
// "NAME=VALUE" options: one rule for all commands.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// A description of an option's missing value: it is empty or it is the next option. Empty if the value is fine.
/// `file`: the value is a file's name.
std::string missing_value(const std::string& value, bool file);

/// Splits a text into name and value, both not empty. InputError starts with `what`; `form` is the expected form.
std::pair<std::string, std::string> name_and_value(const std::string& what, const std::string& text,
                                                   std::string_view form);
/// The same for several texts, in order. If `once` is set, a repeated name is an InputError too.
std::vector<std::pair<std::string, std::string>> named_values(const std::string& what,
                                                              const std::vector<std::string>& texts,
                                                              std::string_view form, bool once = true);

}  // namespace kernbench::phase2
