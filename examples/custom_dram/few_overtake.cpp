// SPDX-License-Identifier: Apache-2.0
// A scheduler for builtin.hbm_dram: requests of the open row first, as with fr_fcfs, but only among the two oldest of
// the bank, so that few overtake one that needs another row.
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/memory/dram_policies.h"

namespace {
using namespace kernbench;

class FewOvertake : public DramScheduler {
 public:
  DramRequest* next_of_bank(DramRequest* oldest, int64_t open_row) const override {
    DramRequest* second = oldest->next;
    const bool overtakes = second && oldest->place.row != open_row && second->place.row == open_row;
    return overtakes ? second : oldest;
  }
};
}  // namespace

KERNBENCH_REGISTER_NAMED(kernbench::DramScheduler, FewOvertake, "few_overtake",
                         "of the two oldest that of the open row")

KERNBENCH_PLUGIN("dram_policies")
