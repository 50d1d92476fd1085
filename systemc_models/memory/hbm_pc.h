// SPDX-License-Identifier: Apache-2.0
// Models `builtin.hbm_pc`: an HBM controller with pseudo-channels. A transaction's range is split at interleave
// boundaries. The chunk at offset o from the controller's base belongs to channel (o / interleave_bytes) mod
// pseudo_channels; with `hash: xor`, to the xor of all digits of o / interleave_bytes in base pseudo_channels. Each
// channel is a FIFO server, and a chunk takes the time of the complete bursts that it touches. Timing rules §4.
//
// If pc_bw_gbs is a power of two, the times of chunks are exact, so complete rounds over the channels and equal rows
// are computed by one multiplication. Otherwise chunks are summed one by one in order of addresses, to be bit-identical
// with a walk.
//
// With turnaround_ns, a channel takes that time between a read and a write, and back. An idle channel turns during its
// idle time. An atomic turns once at each channel; with flits, once for each flit.
//
// Does not model banks or refresh.
#pragma once

#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/memory/channel_interleave.h"

namespace kernbench::memory {

struct HbmPcParameters : HbmParameters {
  uint32_t pseudo_channels = 0;
  uint64_t interleave_bytes = 0;
  double pc_bw_gbs = 0;
  std::string hash = "none";
  uint64_t burst_bytes = 1;
  double turnaround_ns = 0;
  template <class List>
  static void describe(List& list) {
    HbmParameters::describe(list);
    list.add(&HbmPcParameters::pseudo_channels, "pseudo_channels", "", "independent FIFO servers")
        .count(Limit::channels)
        .required();
    list.add(&HbmPcParameters::interleave_bytes, "interleave_bytes", "bytes", "consecutive bytes of one channel")
        .of(Limit::channels)
        .costs(CostClass::free)
        .min(1)
        .max(1 << 30)
        .required();
    list.add(&HbmPcParameters::pc_bw_gbs, "pc_bw_gbs", "GB/s", "bandwidth of one pseudo-channel")
        .rate(Resource::hbm)
        .required();
    list.add(&HbmPcParameters::hash, "hash", "", "hash that spreads blocks of interleave_bytes over the channels")
        .choices({"none", "xor"})
        .of(Limit::channels);
    list.add(&HbmPcParameters::burst_bytes, "burst_bytes", "bytes", "burst: a channel moves multiples of this size")
        .min(1)
        .max(1 << 30);
    list.add(&HbmPcParameters::turnaround_ns, "turnaround_ns", "ns",
             "bus turnaround of a channel between a read and a write, and back")
        .latency();
  }
  std::optional<AttrFault> fault_together() const;
};

struct HbmPcState {
  std::vector<TurningServer> channels;
  // By channel, for the current request: its time there, its start and its end. ns.
  std::vector<double> taken, start, until;
};

class HbmPc : public StatefulMemory<HbmPcState>, private FlitServers {
 public:
  using Parameters = HbmPcParameters;
  using State = HbmPcState;
  HbmPc(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.hbm_pc", "hbm_ctrl", "HBM slice with pseudo-channels").memory("hbm");
  }

  uint64_t address_period(uint64_t offset, uint64_t span) const override;
  size_t channels() const override { return channels_; }
  const FlitServers* flit_servers() const override { return serves_flit_by_flit<HbmPc>() ? this : nullptr; }
  uint64_t moved_bytes(const FabricTransaction& x) const override;

 protected:
  Service serve(State&, const Request&) const override;
  bool serves_past_its_edge() const override { return true; }

 private:
  size_t count() const override { return channels_; }
  size_t server_of(uint64_t address) const override { return interleaving_.channel_of(address - base()); }
  double service_ns(uint64_t address, double bytes, double) const override {
    return channel_ns(bytes_of_bursts(address - base(), static_cast<uint64_t>(bytes), interleaving_.burst()));
  }
  double most_gbs(double) const override { return bw_gbs_ * static_cast<double>(channels_); }
  double turnaround_ns() const override { return turnaround_ns_; }
  /// Time of a channel for complete bursts.
  double channel_ns(uint64_t bytes) const { return static_cast<double>(bytes) / bw_gbs_; }
  /// Channel times of an access: calls add(channel, ns), in order of addresses.
  template <class Add>
  void for_each_time(uint64_t address, const Rows&, Add add) const;
  double turn_ns(const Rows& rows) const { return rows.atomic == AtomicKind::none ? 0 : turnaround_ns_; }

  const ChannelInterleave interleaving_;
  const uint64_t interleave_;
  const bool hash_;
  const double bw_gbs_;
  const double block_ns_;
  const double turnaround_ns_;
  const bool exact_;  ///< times are multiples of a power of two
  const size_t channels_;
};

}  // namespace kernbench::memory
