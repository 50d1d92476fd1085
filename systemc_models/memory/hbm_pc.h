// Models: `builtin.hbm_pc`: an HBM controller with pseudo-channels. A transaction's range is cut at interleave
// boundaries; the chunk at offset o from the controller's base belongs to channel (o / interleave_bytes) mod
// pseudo_channels; each channel is a FIFO server. Timing contract §4.
// Does not model: banks, refresh, read/write turn-round, bursts shorter than a chunk costing a whole one.
#pragma once

#include <vector>

#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench {

struct HbmPcParameters : HbmParameters {
  uint32_t pseudo_channels = 0;
  uint64_t interleave_bytes = 0;
  double pc_bw_gbs = 0;
  template <class List>
  static void describe(List& list) {
    HbmParameters::describe(list);
    list.add(&HbmPcParameters::pseudo_channels, "pseudo_channels", "", "independent FIFO servers").count().required();
    list.add(&HbmPcParameters::interleave_bytes, "interleave_bytes", "bytes", "consecutive bytes of one channel")
        .min(1)
        .max(1 << 30)
        .required();
    list.add(&HbmPcParameters::pc_bw_gbs, "pc_bw_gbs", "GB/s", "bandwidth of one pseudo-channel").positive().required();
  }
};

class HbmPc : public MemoryTarget, private FlitServers {
 public:
  using Parameters = HbmPcParameters;
  HbmPc(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.hbm_pc", "hbm_ctrl", "HBM slice with pseudo-channels").memory("hbm");
  }

  double lone_service_ns(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const override;
  uint64_t address_period() const override { return interleave_; }  // the channels are alike
  const FlitServers* flit_servers() const override { return this; }

 protected:
  Service serve(FabricTransaction& x) override;

 private:
  size_t count() const override { return free_ns_.size(); }
  size_t server_of(uint64_t address) const override { return (address - base()) / interleave_ % free_ns_.size(); }
  double service_ns(double bytes, double) const override { return bytes / bw_gbs_; }
  void tell_channels(const FabricTransaction& x, double queued) const;
  template <class Visit>
  void for_each_chunk(uint64_t address, const Rows& rows, Visit visit) const;

  uint64_t interleave_;
  double bw_gbs_;
  std::vector<double> free_ns_;           ///< by channel
  mutable std::vector<double> alone_ns_;  ///< the same in an idle system, while lone_service_ns() works
};

}  // namespace kernbench
