// SPDX-License-Identifier: Apache-2.0
// An address mapping for builtin.hbm_dram that no string of bit fields says: every third row of a bank's goes to the
// bank opposite, so that strides of powers of two do not stay in one.
#include "kernbench/systemc_models/memory/dram_address_mapping.h"

namespace {
using namespace kernbench;

class Thirds : public DramMapping {
 public:
  explicit Thirds(const DramGeometry& g)
      : banks_(g.banks), plain_("row bank group channel pc stack_id column byte", g) {}
  DramPlace place_of(uint64_t offset) const override {
    DramPlace p = plain_.place_of(offset);
    if (p.row % 3 == 2) p.bank = static_cast<uint16_t>(banks_ - 1 - p.bank);
    return p;
  }

 private:
  uint32_t banks_;
  DramBitFields plain_;
};
}  // namespace

KERNBENCH_REGISTER_NAMED(kernbench::DramMapping, Thirds, "thirds", "every third row in the bank opposite")
