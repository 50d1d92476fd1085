// SPDX-License-Identifier: Apache-2.0
// Words as a POSIX shell reads them.
#pragma once

#include <string>
#include <vector>

namespace kernbench::spec {

/// In quotes where it is not plain.
std::string shell_word(const std::string& word);
/// Each behind a blank.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace kernbench::spec
