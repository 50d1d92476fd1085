// The grain of time: times are kept as exact doubles in ns, and compared as ⌊ns·10⁶ + 0.38⌋ fs (timing contract, Units):
// real times fall on halves of a fs (odd bytes over 128 GB/s), where the noise of doubles would break ties.
#pragma once

#include <cstdint>

namespace kernbench {

inline uint64_t femtoseconds(double ns) {
  return static_cast<uint64_t>(ns * 1e6 + 0.38);
}

}  // namespace kernbench
