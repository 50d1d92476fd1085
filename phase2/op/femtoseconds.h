// The grain of time: times are kept as exact doubles in ns, and compared after rounding to the nearest fs (timing
// contract, Units).
#pragma once

#include <cstdint>

namespace kernbench {

inline uint64_t femtoseconds(double ns) {
  return static_cast<uint64_t>(ns * 1e6 + 0.5);
}

}  // namespace kernbench
