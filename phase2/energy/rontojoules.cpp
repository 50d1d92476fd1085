// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/energy/rontojoules.h"

#include <algorithm>
#include <stdexcept>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::energy {
namespace {

[[noreturn]] void too_much() {
  throw RunError("energy: a count times its constant is more than 1.7e11 J");
}

}  // namespace

Rontojoules product(Rontojoules a, Rontojoules b) {
  Rontojoules r = 0;
  if (__builtin_mul_overflow(a, b, &r)) too_much();
  return r;
}

Rontojoules sum(Rontojoules a, Rontojoules b) {
  Rontojoules r = 0;
  if (__builtin_add_overflow(a, b, &r)) too_much();
  return r;
}

Band& Band::operator+=(const Band& o) {
  low = sum(low, o.low);
  value = sum(value, o.value);
  high = sum(high, o.high);
  return *this;
}

std::string exact_text(Rontojoules amount, int digits) {
  std::string text;  // from the last digit on
  int written = 0;
  bool significant = false;
  for (; amount > 0 || written <= digits; amount /= 10, ++written) {
    if (written == digits && significant) text += '.';
    if (written >= digits) significant = true;
    const char digit = static_cast<char>('0' + static_cast<int>(amount % 10));
    significant = significant || digit != '0';
    if (significant) text += digit;
  }
  std::reverse(text.begin(), text.end());
  return text;
}

Rontojoules parse_whole(const std::string& text) {
  Rontojoules r = 0;
  bool fits = !text.empty();
  for (const char c : text) {
    fits = fits && c >= '0' && c <= '9' && !__builtin_mul_overflow(r, Rontojoules{10}, &r) &&
           !__builtin_add_overflow(r, Rontojoules{c - '0'}, &r);
  }
  if (!fits) throw std::runtime_error("found " + in_quotes(text) + ", expected a whole number");
  return r;
}

}  // namespace kernbench::energy
