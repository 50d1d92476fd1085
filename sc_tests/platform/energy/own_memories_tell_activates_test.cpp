// SPDX-License-Identifier: Apache-2.0
// A memory that reports its number of opened rows has energy for its bits and its activates, if the table has constants
// for both.
#include <gtest/gtest.h>

#include "kernbench/platform/energy/meter.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
#include "system_support.h"

namespace kernbench::testing {

/// Opens a row for each transaction, and on request.
class RowHbm : public HbmCtrl {
 public:
  using HbmCtrl::HbmCtrl;
  static ImplSpec spec() { return spec_of<Parameters>("custom.row_hbm", "hbm_ctrl", "a row a transaction"); }
  std::optional<uint64_t> activates() const override { return opened_; }
  void open() { ++opened_; }

 protected:
  Service serve(State& state, const Request& q) const override {
    if (q.transaction) ++opened_;
    return HbmCtrl::serve(state, q);
  }

 private:
  mutable uint64_t opened_ = 0;
};

}  // namespace kernbench::testing

namespace kernbench {
using testing::RowHbm;
KERNBENCH_REGISTER_COMPONENT(RowHbm)
}  // namespace kernbench

namespace kernbench::testing {
namespace {

std::string constant(const std::string& value, const std::string& unit) {
  return "{value: " + value + ", unit: " + unit + ", source: s, quality: assumed, range: [" + value + ", " + value +
         "]}";
}

/// Three reads of 64 bytes at the memory, then an opened row; returns the run's energy account.
energy::Account account_of(const std::string& impl, const std::string& hbm) {
  const auto platform = platform_from_text(R"(
nodes:
- {id: c.pe0.pe_dma, kind: pe_dma}
- {id: h, kind: hbm_ctrl, impl: )" + impl + R"(}
links:
- {from: c.pe0.pe_dma, to: h, distance_mm: 2, bw_gbs: 64}
memories:
- {node: h, space: hbm, base: 0, size: 1048576}
energy: {hbm: {)" + hbm + "}}\n");
  energy::Meter meter(*platform, platform->graph().energy);
  std::vector<TrafficRequest> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(request(*platform, i * 100.0, "c.pe0.pe_dma", "read", 64u * i, 64));
  run_traffic(*platform, requests);
  if (auto* memory = dynamic_cast<RowHbm*>(&platform->component(1))) memory->open();
  return *meter.account(300, 0);
}

/// "hbm.access 1536, …": constants and counts of the actions, and their joules.
std::string text_of(const energy::Account& a) {
  std::string text;
  for (const energy::Action& x : a.actions) text += x.constant + " " + std::to_string(x.count) + ", ";
  return text + energy::exact_text(energy::summarize(a).total.value);
}

TEST(Activates, CountWhereTheMemoryTellsThemAndTheTableHasThem) {
  const std::string all = "access: " + constant("4", "pJ/bit"),
                    parts = "open_row: " + constant("3", "pJ/bit") + ", activate: " + constant("909", "pJ");
  // 3 x 64 x 8 bits at 3 pJ and 4 rows at 909 pJ: 8244 pJ; at 4 pJ: 6144 pJ.
  EXPECT_EQ(in_child([&] { return text_of(account_of("custom.row_hbm", all + ", " + parts)); }),
            "hbm.activate 4, hbm.open_row 1536, wire 1536, 0.000000008244");
  EXPECT_EQ(in_child([&] { return text_of(account_of("custom.row_hbm", all)); }),
            " 4, hbm.access 1536, wire 1536, 0.000000006144");
  EXPECT_EQ(in_child([&] { return text_of(account_of("builtin.hbm_ctrl", all + ", " + parts)); }),
            "hbm.access 1536, wire 1536, 0.000000006144");
}

}  // namespace
}  // namespace kernbench::testing
