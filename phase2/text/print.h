// SPDX-License-Identifier: Apache-2.0
// fmt onto streams. fmt's own print() for streams compiles all of fmt anew in each source that calls it, in five times
// the time.
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
