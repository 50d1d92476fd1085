// SPDX-License-Identifier: Apache-2.0
// Models `builtin.hbm_dram`: an HBM controller with channels, pseudo-channels, stack IDs, bank groups, banks and rows
// that sends JEDEC commands at their times (dram_channel.h).
//
// A request is cut into bursts, which wait for places in their channels' queues. A read ends when its last data have
// passed the data bus. A write ends when all its bursts are in the write queues, which answer reads of the same burst.
// Neither ends before the path can have moved its bytes, as with builtin.hbm_pc. In every link mode it takes complete
// requests. It answers late, because the duration of a request is unknown at its arrival. See docs/memory_models.md.
//
// Does not model the omissions of dram_channel.h, and merging of writes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/memory/dram_controller.h"

namespace kernbench::memory {

struct HbmDramParameters : HbmParameters {
  using Number = std::optional<uint32_t>;
  std::string preset = "hbm2";
  uint32_t channels = 4;
  Number pseudo_channels, stack_ids, bank_groups, banks, page_bytes, burst_bytes;
  std::string mapping = "row stack_id^ bank^ column group^ channel^ pc^ column:1 byte";
  std::string scheduler = "fr_fcfs", page_policy = "open", refresh = "all_bank";
  uint32_t read_queue = 64, write_queue = 64, write_high = 48, write_low = 16;
  Number write_drain;
  uint32_t row_hits = 16, max_age = 1000;
  Number tCK_ps, tBURST, tACT, tCL, tCWL, tRCDRD, tRCDWR, tRP, tRAS, tRC, tCCDS, tCCDL, tCCDR, tRRDS, tRRDL, tFAW, tWR,
      tWTRS, tWTRL, tRTP, tRTW, tREFI, tRFC, tRFCSB, tRREFD;

  /// visit(name, member of these parameters, member of DramTiming, unit, what waits for it, help): once for each
  /// timing.
  template <class Visit>
  static void for_each_timing(Visit visit) {
    using P = HbmDramParameters;
    using T = DramTiming;
    visit("tCK_ps", &P::tCK_ps, &T::tCK_ps, "ps", std::nullopt, "clock period; the unit of the timings below");
    visit("tBURST", &P::tBURST, &T::tBURST, "tCK", Resource::hbm, "burst on the data bus");
    visit("tACT", &P::tACT, &T::tACT, "tCK", Resource::rows,
          "ACT on the row bus; its other timings count from its last cycle");
    visit("tCL", &P::tCL, &T::tCL, "tCK", Resource::memory, "RD to its data (read latency)");
    visit("tCWL", &P::tCWL, &T::tCWL, "tCK", Resource::memory, "WR to its data (write latency)");
    visit("tRCDRD", &P::tRCDRD, &T::tRCDRD, "tCK", Resource::rows, "ACT to RD");
    visit("tRCDWR", &P::tRCDWR, &T::tRCDWR, "tCK", Resource::rows, "ACT to WR");
    visit("tRP", &P::tRP, &T::tRP, "tCK", Resource::banks, "PRE to ACT");
    visit("tRAS", &P::tRAS, &T::tRAS, "tCK", Resource::banks, "ACT to PRE");
    visit("tRC", &P::tRC, &T::tRC, "tCK", Resource::banks, "ACT to ACT of a bank");
    visit("tCCDS", &P::tCCDS, &T::tCCDS, "tCK", Resource::hbm, "RD to RD, WR to WR, in another bank group");
    visit("tCCDL", &P::tCCDL, &T::tCCDL, "tCK", Resource::banks, "RD to RD, WR to WR, in one bank group");
    visit("tCCDR", &P::tCCDR, &T::tCCDR, "tCK", Resource::hbm, "RD to RD, WR to WR, of another stack ID");
    visit("tRRDS", &P::tRRDS, &T::tRRDS, "tCK", Resource::rows, "ACT to ACT in another bank group");
    visit("tRRDL", &P::tRRDL, &T::tRRDL, "tCK", Resource::rows, "ACT to ACT in one bank group");
    visit("tFAW", &P::tFAW, &T::tFAW, "tCK", Resource::rows, "first to fifth ACT of a stack ID");
    visit("tWR", &P::tWR, &T::tWR, "tCK", Resource::banks, "end of write data to PRE");
    visit("tWTRS", &P::tWTRS, &T::tWTRS, "tCK", Resource::turnaround, "end of write data to RD in another bank group");
    visit("tWTRL", &P::tWTRL, &T::tWTRL, "tCK", Resource::turnaround, "end of write data to RD in one bank group");
    visit("tRTP", &P::tRTP, &T::tRTP, "tCK", Resource::banks, "RD to PRE");
    visit("tRTW", &P::tRTW, &T::tRTW, "tCK", Resource::turnaround, "RD to WR");
    visit("tREFI", &P::tREFI, &T::tREFI, "tCK", Resource::refresh, "mean interval between refreshes of all banks");
    visit("tRFC", &P::tRFC, &T::tRFC, "tCK", Resource::refresh, "refresh of all banks to ACT");
    visit("tRFCSB", &P::tRFCSB, &T::tRFCSB, "tCK", Resource::refresh, "refresh of a single bank to ACT in it");
    visit("tRREFD", &P::tRREFD, &T::tRREFD, "tCK", Resource::refresh,
          "refresh of a single bank to ACT or refresh of another");
  }

  template <class List>
  static void describe(List& list) {
    using P = HbmDramParameters;
    HbmParameters::describe(list);
    list.add(&P::preset, "preset", "", "JEDEC generation: defaults of the attributes below")
        .choices(dram_presets())
        .of(Resource::hbm)
        .costs(CostClass::hardware);
    list.add(&P::channels, "channels", "", "channels, each with its own command buses").count().power_of_two();
    const auto number = [&](Number P::*member, const char* name, const char* unit, const char* help) {
      return list.add(member, name, unit, help).count().power_of_two();
    };
    number(&P::pseudo_channels, "pseudo_channels", "", "pseudo-channels of a channel, each with its own data bus")
        .max(64)
        .of(Limit::channels);
    number(&P::stack_ids, "stack_ids", "", "stack IDs (ranks) of a pseudo-channel").max(64);
    number(&P::bank_groups, "bank_groups", "", "bank groups of a stack ID").max(64);
    number(&P::banks, "banks", "", "banks of a bank group").max(64);
    number(&P::page_bytes, "page_bytes", "bytes", "size of an open row").direction(Direction::choice);
    number(&P::burst_bytes, "burst_bytes", "bytes", "bytes of one RD or WR").direction(Direction::choice);
    list.add(&P::mapping, "mapping", "",
             "address mapping: fields from the highest to the lowest bits, or the name of a mapping")
        .of(DramMapping::registry())
        .or_other_texts()
        .of(Resource::banks);
    list.add(&P::scheduler, "scheduler", "", "scheduling policy of a bank")
        .of(DramScheduler::registry())
        .of(Resource::banks);
    list.add(&P::page_policy, "page_policy", "", "when rows close").of(DramPagePolicy::registry()).of(Resource::banks);
    list.add(&P::refresh, "refresh", "", "refresh policy: which banks, and how often")
        .of(DramRefreshPolicy::registry())
        .of(Resource::refresh);
    list.add(&P::read_queue, "read_queue", "bursts", "read queue entries of a channel")
        .depth()
        .of(Resource::dram_queue);
    list.add(&P::write_queue, "write_queue", "bursts", "write queue entries of a channel")
        .depth()
        .of(Resource::dram_queue);
    list.add(&P::write_high, "write_high", "bursts", "write queue level that starts a drain, even if reads wait")
        .whole();
    list.add(&P::write_low, "write_low", "bursts", "write queue level that ends a drain").min(0).max(1 << 20);
    list.add(&P::write_drain, "write_drain", "bursts",
             "maximum writes of a drain while reads wait; default: write_high - write_low")
        .whole();
    list.add(&P::row_hits, "row_hits", "bursts", "row hits that may overtake a bank's oldest request")
        .min(0)
        .max(1 << 20);
    list.add(&P::max_age, "max_age", "tCK", "age at which a bank's oldest request overtakes all others").whole();
    for_each_timing([&](const char* name, Number P::*member, uint32_t DramTiming::*, const char* unit,
                        std::optional<Resource> waits, const char* help) {
      list.add(member, name, unit, help)
          .count()
          .direction(member == &P::tREFI ? Direction::rate : Direction::latency)
          .of(waits);
    });
  }
  std::optional<AttrFault> fault_together() const;
  /// The preset, overridden by given values.
  DramConfig config() const;
  /// The same as attributes.
  static Attributes resolved(const Attributes& given);
};

class HbmDram : public MemoryTarget {
 public:
  using Parameters = HbmDramParameters;
  HbmDram(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.hbm_dram", "hbm_ctrl", "HBM slice with banks, rows and JEDEC timings")
        .memory("hbm")
        .resolves(&Parameters::resolved);
  }

  uint64_t address_period(uint64_t offset, uint64_t span) const override;
  bool zero_load_is_exact() const override { return false; }
  double most_gbs(double edge_bw_gbs) const override;
  std::vector<MemoryCounter> counters() const override;
  uint64_t moved_bytes(const FabricTransaction& x) const override;
  std::vector<TimeShare> spent(const FabricTransaction& x, double from_ns, double to_ns) const override;
  /// Bursts do not wait for the rest of their write.
  void data_comes(FabricTransaction& x, uint64_t nbytes) override;
  std::optional<uint64_t> activates() const override { return dram_.counts().activates; }
  const DramConfig& dram() const { return dram_.config(); }
  /// Sets the observer of commands; null: none. There is at most one.
  void observe_commands(DramCommandObserver* observer) { dram_.observe(observer); }

 protected:
  Service take(FabricTransaction& x) override;
  /// In an idle controller with closed rows, from a clock edge on, without a refresh.
  Service zero_load(const Request&) const override;
  bool serves_past_its_edge() const override { return true; }

 private:
  Cycle cycle_from(double t_ns) const;
  double ns_of(Cycle cycle) const { return static_cast<double>(cycle) * tck_ps_ / 1000; }
  void wake();
  void due();
  /// From the given time to the end of the transfer that arrived then.
  double end_ns(const DramTransfer&, double zero_ns, double path_ns) const;
  struct Transfer : DramTransfer {
    double queued_ns = 0;  ///< arrival of its transaction plus overhead
  };
  void finish(Transfer&);
  Transfer& begin_transfer(FabricTransaction&);

  DramController dram_;
  const double tck_ps_;
  Cycle armed_ = kNoCycle;  ///< earliest cycle with an entry on the timeline
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> idle_;
  std::unordered_map<const FabricTransaction*, Transfer*> coming_;  ///< writes whose data have partly arrived
  /// For observers: the data bus that a transaction waits for last, and the end of that wait.
  struct Waited {
    uint32_t bus = 0;
    Cycle end = 0;
  };
  void watch(const DramTransfer&);
  std::unordered_map<const FabricTransaction*, Waited> waited_;
  // For zero_load(): the same memory without refresh, at a time long after all earlier requests.
  mutable DramController alone_;
  mutable Cycle alone_now_ = 0;
};

}  // namespace kernbench::memory
