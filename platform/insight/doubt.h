// SPDX-License-Identifier: Apache-2.0
// How far the predicted time of a changed machine may be off: its order at servers may differ, and so may waits for
// room in buffers. The prediction keeps both. Pages compile this file too, so it needs no library.
#pragma once

namespace kernbench::insight {

/// Sums of the times by which items would overtake others at servers.
class Overtakes {
 public:
  /// Smaller than the exactness of single operations (timing rules), larger than rounding errors of doubles. ns.
  static constexpr double kSameNs = 1e-5;

  /// Two items that the run served in this order: how long the first arrives after the second, in the run and on the
  /// changed machine. An arbiter may serve the later arrival first.
  void add(double in_run_ns, double now_ns, double count = 1) {
    if (now_ns <= kSameNs) return;
    if (in_run_ns <= kSameNs) {
      of_arrivals_ += count * now_ns;
    } else if (now_ns > in_run_ns) {
      of_arbiters_ += count * (now_ns - in_run_ns);
    }
  }
  bool any() const { return of_arrivals_ > 0; }
  /// 0: the prediction holds. `room_ns`: the run's waits for room in buffers. Measured: docs/notes/insight.md.
  double doubt_ns(double ns, double run_ns, double room_ns) const {
    constexpr double kArbiters = 2, kLeast = 0.05, kHalf = 0.5, kChange = 0.01, kRoom = 0.005;
    const double change = ns > run_ns ? ns - run_ns : run_ns - ns;
    const double most = kHalf * change > kLeast * ns ? kHalf * change : kLeast * ns;
    const double order = of_arrivals_ + (of_arbiters_ > kArbiters * ns ? of_arbiters_ : 0);
    const bool room = room_ns > kRoom * run_ns && change > kChange * run_ns;
    return (order < most ? order : most) + (room ? room_ns : 0);
  }

 private:
  double of_arrivals_ = 0, of_arbiters_ = 0;
};

}  // namespace kernbench::insight
