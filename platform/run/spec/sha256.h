// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): practically unique names of texts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernbench::spec {

class Sha256 {
 public:
  /// Adds bytes; the result does not depend on how they are divided.
  Sha256& add(std::string_view bytes);
  /// 64 hexadecimal digits; nothing may be added afterwards.
  std::string hex();

 private:
  void block(const unsigned char* bytes);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  uint64_t size_ = 0;  // bytes added
};

/// Of a complete text.
std::string sha256(std::string_view bytes);

}  // namespace kernbench::spec
