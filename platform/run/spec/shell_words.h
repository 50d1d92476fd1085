// SPDX-License-Identifier: Apache-2.0
// Words in POSIX shell syntax.
#pragma once

#include <string>
#include <vector>

namespace kernbench::spec {

/// Quoted if necessary.
std::string shell_word(const std::string& word);
/// Each with a leading blank.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace kernbench::spec
