// SPDX-License-Identifier: Apache-2.0
// Streams of texts in memory. The standard ones take a lack of memory for the end of the text: what was read or written
// is then a part, and nobody is told. These throw it on.
#pragma once

#include <sstream>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// std::bad_alloc out of whatever writes to it.
class TextOutput : public std::ostringstream {
 public:
  TextOutput() { exceptions(std::ios::badbit); }
};

/// std::bad_alloc out of whatever reads from it.
class TextInput : public std::istringstream {
 public:
  explicit TextInput(const std::string& text) : std::istringstream(text) { exceptions(std::ios::badbit); }
};

}  // namespace kernbench::phase2
