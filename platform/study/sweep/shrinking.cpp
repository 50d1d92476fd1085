// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/shrinking.h"

#include <charconv>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_source.h"

namespace kernbench::sweep {
namespace {

/// If the word at `i` is --param or --param=NAME=VALUE: its NAME=VALUE, and its number of words. Else null.
const char* param_at(const Words& words, size_t i, size_t* used) {
  static const std::string option = "--param";
  const std::string& word = words[i];
  *used = word == option ? 2 : 1;
  if (word == option && i + 1 < words.size()) return words[i + 1].c_str();
  return word.compare(0, option.size() + 1, option + "=") == 0 ? word.c_str() + option.size() + 1 : nullptr;
}

}  // namespace

static void describe(Fields& f, Shrinking& s) {
  f("pes", s.pes)("param", s.param)("otherwise", s.otherwise);
}

std::string Shrinking::to_json() const {
  return kernbench::to_json(*this);
}

Shrinking Shrinking::from_json(const std::string& text) {
  return read_record<Shrinking>(text);
}

Words without_params(const Words& point) {
  Words rest;
  for (size_t i = 0, used = 1; i < point.size(); i += used) {
    if (!param_at(point, i, &used)) {
      used = 1;
      rest.push_back(point[i]);
    }
  }
  return rest;
}

Words smaller(const Words& point, const Shrinking& by, size_t pes) {
  Words words;
  int64_t size = by.otherwise;
  for (size_t i = 0, used = 1; i < point.size(); i += used) {
    const char* param = param_at(point, i, &used);
    const std::string text = param ? param : "";
    if (!param) used = 1;
    if (param && text.compare(0, by.param.size() + 1, by.param + "=") == 0) {
      const char *begin = text.data() + by.param.size() + 1, *end = text.data() + text.size();
      const auto read = std::from_chars(begin, end, size);
      if (read.ec != std::errc() || read.ptr != end || size <= 0) return point;
    } else {
      words.insert(words.end(), point.begin() + static_cast<std::ptrdiff_t>(i),
                   point.begin() + static_cast<std::ptrdiff_t>(i + used));
    }
  }
  const auto all = static_cast<int64_t>(by.pes.size()), some = static_cast<int64_t>(pes);
  const int64_t of_busiest = size / all + (size % all > 0 ? 1 : 0);
  const std::string less = std::to_string(of_busiest * some);
  std::string ids;
  for (size_t i = 0; i < pes; ++i) ids += (i > 0 ? "," : "") + by.pes[i];
  words.insert(words.end(), {"--param", by.param + "=" + less, "--pes", ids});
  return words;
}

}  // namespace kernbench::sweep
