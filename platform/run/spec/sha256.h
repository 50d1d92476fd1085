// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): names that two different texts never share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernbench::spec {

class Sha256 {
 public:
  /// Bytes; the same whether added at once or in parts.
  Sha256& add(std::string_view bytes);
  /// 64 hexadecimal digits of all that was added. Nothing may be added behind it.
  std::string hex();

 private:
  void block(const unsigned char* bytes);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  uint64_t size_ = 0;  // bytes added
};

/// Of a whole text.
std::string sha256(std::string_view bytes);

}  // namespace kernbench::spec
