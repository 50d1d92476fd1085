// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/dram_policies.h"

namespace kernbench::memory {

NamedClasses<DramScheduler>& DramScheduler::registry() {
  static NamedClasses<DramScheduler> registry("DRAM scheduler");
  return registry;
}

NamedClasses<DramPagePolicy>& DramPagePolicy::registry() {
  static NamedClasses<DramPagePolicy> registry("DRAM page policy");
  return registry;
}

NamedClasses<DramRefreshPolicy>& DramRefreshPolicy::registry() {
  static NamedClasses<DramRefreshPolicy> registry("DRAM refresh policy");
  return registry;
}

namespace {

/// First ready, first come, first served.
class FrFcfs : public DramScheduler {
 public:
  DramRequest* next_of_bank(DramRequest* oldest, int64_t open_row) const override {
    for (DramRequest* r = oldest; r && open_row != DramBanks::kClosed; r = r->next) {
      if (r->place.row == open_row) return r;
    }
    return oldest;
  }
};

class BankFcfs : public DramScheduler {
 public:
  DramRequest* next_of_bank(DramRequest* oldest, int64_t) const override { return oldest; }
};

class OpenPage : public DramPagePolicy {
 public:
  bool closes(bool) const override { return false; }
};

class ClosedPage : public DramPagePolicy {
 public:
  bool closes(bool more) const override { return !more; }
};

class AllBankRefresh : public DramRefreshPolicy {
 public:
  Cycle interval(const DramTiming& t, uint32_t) const override { return t.tREFI; }
  bool all_banks() const override { return true; }
};

class PerBankRefresh : public DramRefreshPolicy {
 public:
  Cycle interval(const DramTiming& t, uint32_t banks) const override { return t.tREFI / banks; }
  bool all_banks() const override { return false; }
};

class NoRefresh : public DramRefreshPolicy {
 public:
  Cycle interval(const DramTiming&, uint32_t) const override { return kNoCycle; }
  bool all_banks() const override { return true; }
};

}  // namespace

KERNBENCH_REGISTER_NAMED(DramScheduler, FrFcfs, "fr_fcfs", "row hits first, then the oldest request")
KERNBENCH_REGISTER_NAMED(DramScheduler, BankFcfs, "fcfs", "the oldest request")
KERNBENCH_REGISTER_NAMED(DramPagePolicy, OpenPage, "open", "rows stay open")
KERNBENCH_REGISTER_NAMED(DramPagePolicy, ClosedPage, "closed", "a row closes after the last queued request for it")
KERNBENCH_REGISTER_NAMED(DramRefreshPolicy, AllBankRefresh, "all_bank", "REF of all banks, every tREFI")
KERNBENCH_REGISTER_NAMED(DramRefreshPolicy, PerBankRefresh, "per_bank", "REFSB of one bank, every tREFI / banks")
KERNBENCH_REGISTER_NAMED(DramRefreshPolicy, NoRefresh, "none", "no refresh")

}  // namespace kernbench::memory
