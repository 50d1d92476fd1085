// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/tool/whole_number.h"

#include <charconv>
#include <string>

#include "kernbench/phase2/text/text.h"

namespace kernbench::cli {

CLI::Option* whole_number(CLI::Option* option, uint64_t least, uint64_t most) {
  const std::string legal = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  return option->check(CLI::Validator(
      [=](std::string& text) -> std::string {
        uint64_t v = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
        const bool other_form =
            error != std::errc() || end != text.data() + text.size() || (text.size() > 1 && text[0] == '0');
        if (!other_form && v >= least && v <= most) return "";
        return "found " + in_quotes(text) + ", expected " + legal;
      },
      ""));
}

namespace {

CLI::Validator above_zero(double most, bool or_percent) {
  return {[=](std::string& text) -> std::string {
            double v = 0;
            const char* last = text.data() + text.size();
            const auto [end, error] = std::from_chars(text.data(), last, v);
            const bool percent = or_percent && end + 1 == last && *end == '%';
            if (percent) v /= 100;
            std::string number;
            append_shortest(number, most);
            if (error != std::errc() || (end != last && !percent) || !(v > 0 && v <= most))
              return "found " + in_quotes(text) + ", expected a number above 0, up to " + number +
                     (or_percent ? ", or percent, such as 10%" : "");
            if (percent) append_shortest(text = "", v);
            return "";
          },
          ""};
}

}  // namespace

CLI::Option* positive_number(CLI::Option* option, double most) {
  return option->check(above_zero(most, false));
}

CLI::Option* number_or_percent(CLI::Option* option, double most) {
  return option->transform(above_zero(most, true));
}

}  // namespace kernbench::cli
