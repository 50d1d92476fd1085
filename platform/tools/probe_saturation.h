// Bandwidth under load: many reads at once, as many as the PEs' DMA channels let out (`rd_engines` each), for long
// enough that the begin does not count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernbench {

class Platform;

/// A scenario, from the first request to the moment at which the first PE has its last read. Bandwidths in GB/s, of the
/// bytes of reads completed until then: never more than was served.
struct SaturationResult {
  std::string name;    ///< "hot-4", "own-slices"
  std::string target;  ///< "4 PEs of sip0.cube0 -> sip0.cube0.hbm_ctrl.pe0"
  bool hot = false;    ///< all read one slice
  /// Equal shares are to be expected: all PEs have as many reads out, and shares of the memory leave a fifth of every
  /// link before it, and of every PE's own speed, to spare.
  bool even = false;
  uint64_t nbytes = 0;  ///< of a read
  uint64_t reads = 0;   ///< completed
  double window_ns = 0;
  double aggregate_gbs = 0;
  double peak_gbs = 0;             ///< that memories, links and channels could give at most; 0: no limit
  std::vector<double> shares_gbs;  ///< by PE
  std::string busiest_edge;        ///< "a -> b"; empty where links take no time
  double busiest_util = 0;         ///< its time busy / window

  double least_gbs() const;
  double most_gbs() const;
  double fairness() const { return most_gbs() > 0 ? least_gbs() / most_gbs() : 1; }
  double util_pct() const { return peak_gbs > 0 ? 100 * aggregate_gbs / peak_gbs : 0; }
};

/// The hot slice of the first PE read by the first 1, 2, 4, 8 PEs of its cube, as many as there are; then every PE its
/// own slice. One scenario after the other in one simulation. InputError without PEs, or if a read does not fit.
std::vector<SaturationResult> run_saturation(Platform&, uint64_t nbytes);

}  // namespace kernbench
