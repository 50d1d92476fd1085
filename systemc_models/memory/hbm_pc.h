// Models: `builtin.hbm_pc`: an HBM controller with pseudo-channels. A transaction's range is cut at interleave
// boundaries; the chunk at offset o from the controller's base belongs to channel (o / interleave_bytes) mod
// pseudo_channels, or with `hash: xor` to the xor of all digits of o / interleave_bytes in base pseudo_channels; each
// channel is a FIFO server, and a chunk takes the time of the whole bursts that it touches. Timing contract §4.
// Does not model: banks, refresh, read/write turn-round.
#pragma once

#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench {

struct HbmPcParameters : HbmParameters {
  uint32_t pseudo_channels = 0;
  uint64_t interleave_bytes = 0;
  double pc_bw_gbs = 0;
  std::string hash = "none";
  uint64_t burst_bytes = 1;
  template <class List>
  static void describe(List& list) {
    HbmParameters::describe(list);
    list.add(&HbmPcParameters::pseudo_channels, "pseudo_channels", "", "independent FIFO servers").count().required();
    list.add(&HbmPcParameters::interleave_bytes, "interleave_bytes", "bytes", "consecutive bytes of one channel")
        .min(1)
        .max(1 << 30)
        .required();
    list.add(&HbmPcParameters::pc_bw_gbs, "pc_bw_gbs", "GB/s", "bandwidth of one pseudo-channel").rate().required();
    list.add(&HbmPcParameters::hash, "hash", "", "how blocks of interleave_bytes are spread over the channels")
        .choices({"none", "xor"});
    list.add(&HbmPcParameters::burst_bytes, "burst_bytes", "bytes", "what a channel moves at least, and whole ones of")
        .min(1)
        .max(1 << 30);
  }
  std::optional<AttrFault> fault_together() const;
};

class HbmPc : public MemoryTarget, private FlitServers {
 public:
  using Parameters = HbmPcParameters;
  HbmPc(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.hbm_pc", "hbm_ctrl", "HBM slice with pseudo-channels").memory("hbm");
  }

  double lone_service_ns(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const override;
  uint64_t address_period(uint64_t offset, uint64_t span) const override;
  const FlitServers* flit_servers() const override { return this; }
  uint64_t moved_bytes(const FabricTransaction& x) const override;

 protected:
  /// Not called with flits, which flit_servers() take one by one: who overrides it lets that return null, and is then
  /// called with whole messages in every link mode.
  Service serve(FabricTransaction& x) override;

 private:
  size_t count() const override { return free_ns_.size(); }
  size_t server_of(uint64_t address) const override { return channel_of((address - base()) / interleave_); }
  double service_ns(uint64_t address, double bytes, double) const override {
    return channel_ns(address - base(), static_cast<uint64_t>(bytes));
  }
  double most_gbs(double) const override { return bw_gbs_ * static_cast<double>(free_ns_.size()); }
  /// The channel of block number `block` of interleave_bytes.
  size_t channel_of(uint64_t block) const;
  /// How long a channel takes for bytes at an offset from the base: for the whole bursts that they touch.
  double channel_ns(uint64_t offset, uint64_t bytes) const;
  void tell_channels(const FabricTransaction&, double queued, const std::vector<double>& before) const;
  template <class Visit>
  void for_each_chunk(uint64_t address, const Rows& rows, Visit visit) const;

  uint64_t interleave_, burst_;
  double bw_gbs_;
  bool hash_;
  std::vector<double> free_ns_;           ///< by channel
  mutable std::vector<double> alone_ns_;  ///< scratch of lone_service_ns() and serve()
};

}  // namespace kernbench
