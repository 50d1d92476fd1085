// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/memory/bulk_bytes.h"

#include <algorithm>

#include "kernbench/phase2/eval/arithmetic.h"
#include "kernbench/phase2/eval/convert.h"

namespace kernbench::phase2 {
namespace {

#include "kernbench/phase2/eval/random_words.inc"

}  // namespace

uint64_t random_word(uint64_t seed, uint64_t i) {
  return word_at(seed, i);
}

uint64_t seed_for(uint64_t seed, std::string_view name) {
  uint64_t s = random_word(seed, 0);
  for (char c : name) s = random_word(s ^ static_cast<unsigned char>(c), 0);
  return s;
}

double random_unit(uint64_t seed, uint64_t i) {
  return unit_of(word_at(seed, i));
}

void random_elements(DType dtype, uint64_t seed, double scale, uint64_t first, size_t count, uint8_t* out) {
  const size_t item = size_of(dtype);
  const Arithmetic& arithmetic = arithmetic_of(best_isa());
  constexpr size_t kChunk = 4096;
  for (size_t at = 0; at < count; at += kChunk) {
    const size_t len = std::min(kChunk, count - at);
    const uint64_t place = first + at;
    if (is_packed(dtype)) {
      for (size_t i = 0; i < len; ++i) out[at + i] = static_cast<uint8_t>(random_word(seed, place + i) >> 56);
    } else if (is_float(dtype)) {
      float chunk[kChunk];
      arithmetic.random_f32(seed, place, scale, chunk, len);
      convert(chunk, DType::f32, out + at * item, dtype, len);
    } else {
      int32_t chunk[kChunk];
      const int32_t low = dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 ? 0 : -8;
      for (size_t i = 0; i < len; ++i) chunk[i] = low + static_cast<int32_t>(random_word(seed, place + i) >> 60);
      convert(chunk, DType::i32, out + at * item, dtype, len);
    }
  }
}

Bytes random_tensor(DType dtype, const Dims& shape, uint64_t seed, double scale) {
  const auto n = static_cast<size_t>(shape.elements());
  Bytes out = bulk_bytes(n * size_of(dtype));
  random_elements(dtype, seed, scale, 0, n, out.data());
  return out;
}

}  // namespace kernbench::phase2
