// SPDX-License-Identifier: Apache-2.0
// Single-file pages for a browser without a network: a template whose {{places}} are filled. The pages' sources are in
// platform/observe/page, platform/study/sweep/page and platform/study/diff/page; the build embeds them as texts
// (cmake/EmbedFiles.cmake).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernbench {

std::string escaped_html(std::string_view text);
/// Escapes '<', which JSON only has in strings, so that data cannot end the script element.
std::string escaped_json(const std::string& json);

/// The page: the common head, which uses {{title}} and {{own_css}}, and the given body. `parts` by place; the common
/// {{css}} and {{common_js}} are already defined.
void write_page(std::string_view body, std::vector<std::pair<std::string_view, std::string_view>> parts,
                const std::function<void(std::string_view)>& write);

}  // namespace kernbench
