// SPDX-License-Identifier: Apache-2.0
// Streams of texts in memory. The standard ones treat a lack of memory as the end of the text, so a part would be lost
// without an error. These throw instead.
#pragma once

#include <sstream>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Writing throws std::bad_alloc.
class TextOutput : public std::ostringstream {
 public:
  TextOutput() { exceptions(std::ios::badbit); }
};

/// Reading throws std::bad_alloc.
class TextInput : public std::istringstream {
 public:
  explicit TextInput(const std::string& text) : std::istringstream(text) { exceptions(std::ios::badbit); }
};

}  // namespace kernbench::phase2
