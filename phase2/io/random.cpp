#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/memory/bulk_bytes.h"

#include <algorithm>

#include "kernbench/phase2/eval/convert.h"

namespace kernbench {

uint64_t random_word(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t seed_for(uint64_t seed, std::string_view name) {
  uint64_t s = random_word(seed, 0);
  for (char c : name) s = random_word(s ^ static_cast<unsigned char>(c), 0);
  return s;
}

double random_unit(uint64_t seed, uint64_t i) {
  const auto u = static_cast<int64_t>(random_word(seed, i) >> 40);
  return static_cast<double>(2 * u + 1 - (int64_t{1} << 24)) / (1 << 24);
}

Bytes random_tensor(DType dtype, const Dims& shape, uint64_t seed, double scale) {
  const auto n = static_cast<size_t>(shape.elements());
  const size_t item = size_of(dtype);
  Bytes out = bulk_bytes(n * item);
  constexpr size_t kChunk = 4096;
  for (size_t at = 0; at < n; at += kChunk) {
    const size_t len = std::min(kChunk, n - at);
    if (is_packed(dtype)) {
      for (size_t i = 0; i < len; ++i) out[at + i] = static_cast<uint8_t>(random_word(seed, at + i) >> 56);
    } else if (is_float(dtype)) {
      float chunk[kChunk];
      for (size_t i = 0; i < len; ++i) chunk[i] = static_cast<float>(scale * random_unit(seed, at + i));
      convert(chunk, DType::f32, out.data() + at * item, dtype, len);
    } else {
      int32_t chunk[kChunk];
      const int32_t low = dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 ? 0 : -8;
      for (size_t i = 0; i < len; ++i) chunk[i] = low + static_cast<int32_t>(random_word(seed, at + i) >> 60);
      convert(chunk, DType::i32, out.data() + at * item, dtype, len);
    }
  }
  return out;
}

}  // namespace kernbench
