// SPDX-License-Identifier: Apache-2.0
// Energy and power of a run: counts of Activity, times the constants of a table.
//
//   kernbench::energy::Meter meter(machine, machine.graph().energy);   // before the run
//   options.meter = &meter;
//   const kernbench::RunReport report = kernbench::run_kernel(machine, std::move(options));
//   energy::summarize(*report.energy).total.value                        // 1e-27 J
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/energy/energy_table.h"
#include "kernbench/platform/energy/activity.h"
#include "kernbench/platform/energy/power_series.h"
#include "kernbench/platform/energy/silicon.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench {

namespace energy {

class Meter : private ActivitySink {
 public:
  /// Powers are means over windows of this length, from the start on.
  static constexpr uint64_t kWindowFs = 100'000'000;

  /// Counts from here on; create it before observers that show its powers. The platform must outlive it.
  Meter(Machine&, std::shared_ptr<const EnergyTable>);
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// Call it once after the run, `run_ns` after the start. `pes`: number of participating PEs.
  std::shared_ptr<const Account> account(double run_ns, size_t pes);

  /// Energy by window, in total and by class of constants ("mac", "hbm", …) in order of first use, at the constants'
  /// values. After account(), the windows sum exactly to the energy.
  struct Power {
    std::string name;
    PowerSeries series{kWindowFs};
  };
  const PowerSeries& power() const { return all_; }
  const std::deque<Power>& powers() const { return powers_; }
  /// Energy between two times, J, to the precision of the windows. Call it after account().
  double joules_between(double from_ns, double to_ns) const;
  /// Mean power of a window with this energy.
  static double watts(Rontojoules window) { return joules(window) / (static_cast<double>(kWindowFs) * 1e-15); }
  /// Number of final windows: all later counts belong to later windows.
  uint64_t known_windows();
  double begin_ns() const { return begin_ns_; }

 private:
  struct Rate {
    Rontojoules each = 0;  ///< of an action
    size_t power = 0;      ///< index
  };
  /// Static power.
  struct Idle {
    std::string kind;
    const Constant* constant;
    uint64_t nodes;
    int64_t area;  ///< Action::nm
    size_t power;
  };
  void row_added(ActivityRow&) override;
  void counted(size_t row, uint64_t amount, double from, double to) override;
  const Constant* constant_of(ActivityRow&);
  size_t power_of(std::string_view constant);
  void add(size_t power, uint64_t from_fs, uint64_t to_fs, Rontojoules energy);
  void add_pending();
  void add_idle_up_to(uint64_t fs);
  uint64_t since_begin_fs(double t) const;
  void fill_actions(Account&) const;

  Machine& machine_;
  EnergyTable table_;
  const double begin_ns_;
  const Silicon silicon_;
  double flops_before_ = 0, peak_ns_before_ = 0;
  std::vector<Rate> rates_;  ///< by row
  PowerSeries all_{kWindowFs};
  std::deque<Power> powers_;
  /// Counts of the same interval, such as the rows of a transaction, which are distributed together.
  struct Pending {
    double from = 0, to = 0;
    std::vector<Rontojoules> energy;  ///< by power
  };
  Pending pending_;
  std::vector<Idle> idle_;
  uint64_t idle_fs_ = 0;  ///< their energy is included up to here
  Activity activity_;     // declared last because it calls this object
};

}  // namespace energy
}  // namespace kernbench
