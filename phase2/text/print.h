// SPDX-License-Identifier: Apache-2.0
// fmt output to streams. fmt's own print() for streams compiles all of fmt in each source that calls it, which takes
// five times as long.
#pragma once

#include <fmt/core.h>

#include <ostream>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

template <typename... T>
void print_to(std::ostream& out, fmt::format_string<T...> format, T&&... values) {
  const std::string text = fmt::vformat(format, fmt::make_format_args(values...));
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace kernbench::phase2
