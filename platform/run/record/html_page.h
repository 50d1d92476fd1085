// SPDX-License-Identifier: Apache-2.0
// Pages of one file, for a browser without a network: a template, and what stands in its {{places}}. The sources of
// pages are in platform/observe/page, platform/study/sweep/page and platform/study/diff/page; the build makes texts of
// them (cmake/EmbedFiles.cmake).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernbench {

std::string escaped_html(std::string_view text);
/// Nothing in it can end the script element that holds it: '<' stands in JSON's texts only.
std::string escaped_json(const std::string& json);

/// Behind the head of all pages, which wants {{title}} and {{own_css}}, the page from its body on. `parts` by the names
/// of their places; the looks and helpers of all pages, {{css}} and {{common_js}}, are there already.
void write_page(std::string_view body, std::vector<std::pair<std::string_view, std::string_view>> parts,
                const std::function<void(std::string_view)>& write);

}  // namespace kernbench
