// Models: `builtin.hbm_pc`: an HBM controller with pseudo-channels. A transaction's range is cut at interleave
// boundaries; the chunk at offset o from the controller's base belongs to channel (o / interleave_bytes) mod
// pseudo_channels; each channel is a FIFO server. Timing contract §4.
// Does not model: banks, refresh, read/write turn-round, bursts shorter than a chunk costing a whole one.
#include <algorithm>
#include <vector>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/memory_target.h"

namespace kernbench {
namespace {

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

class HbmPc : public MemoryTarget {
 public:
  using Parameters = HbmPcParameters;
  HbmPc(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : MemoryTarget(name, config, checked(parameters)),
        interleave_(parameters.interleave_bytes),
        bw_gbs_(parameters.pc_bw_gbs),
        free_ns_(parameters.pseudo_channels, 0.0) {
    ahead_ = Ahead::reads_in_order;  // the channels finish on their own, and acknowledgements wait for them
  }

  static ImplSpec spec() { return spec_of<Parameters>("builtin.hbm_pc", "hbm_ctrl", "HBM slice with pseudo-channels"); }

  double lone_service_ns(const Route& r, bool write, uint64_t address, uint64_t nbytes,
                         const Rows& rows) const override {
    alone_ns_.assign(free_ns_.size(), 0.0);
    double latest = 0;
    for_each_chunk(address, rows, [&](size_t channel, double bytes) {
      alone_ns_[channel] += bytes / bw_gbs_;
      latest = std::max(latest, alone_ns_[channel]);
    });
    return overhead_ns() + std::max(latest, path_ns(r, write, nbytes));
  }

  uint64_t address_period() const override { return interleave_; }  // the channels are alike
  size_t flit_servers() const override { return free_ns_.size(); }
  size_t flit_server(uint64_t address) const override { return (address - base()) / interleave_ % free_ns_.size(); }
  double flit_service_ns(double bytes, double) const override { return bytes / bw_gbs_; }

 protected:
  Service serve(FabricTransaction& x) override {
    const double queued = x.time_ns + overhead_ns();
    if (observer()) tell_channels(x, queued);
    double finish = queued + path_ns(*x.route, x.write, x.nbytes);
    for_each_chunk(x.address, x.rows, [&](size_t channel, double bytes) {
      double& free = free_ns_[channel];
      free = std::max(free, queued) + bytes / bw_gbs_;
      finish = std::max(finish, free);
    });
    const double alone = lone_time(fabric(), *x.route, x.write, x.address, x.nbytes, x.rows).service_ns - overhead_ns();
    x.overhead_ns += overhead_ns();
    x.drain_ns += alone;
    x.memory_queue_ns += finish - queued - alone;
    return {queued, finish};
  }

 private:
  static double path_ns(const Route& r, bool write, uint64_t nbytes) {
    const double bw = write ? r.write_inner_bw : r.read_inner_bw;
    return bw > 0 ? static_cast<double>(nbytes) / bw : 0;
  }

  /// When the transaction will hold each channel.
  void tell_channels(const FabricTransaction& x, double queued) const {
    std::vector<double> bytes_of(free_ns_.size(), 0.0);
    for_each_chunk(x.address, x.rows, [&](size_t channel, double bytes) { bytes_of[channel] += bytes; });
    for (size_t c = 0; c < bytes_of.size(); ++c) {
      const double from = std::max(free_ns_[c], queued);
      if (bytes_of[c] > 0) observer()->channel_taken(*this, c, from, from + bytes_of[c] / bw_gbs_);
    }
  }

  template <class Visit>
  void for_each_chunk(uint64_t address, const Rows& rows, Visit visit) const {
    const size_t channels = free_ns_.size();
    for (uint64_t row = 0; row < rows.count; ++row) {
      uint64_t at = address + row * rows.stride - base();
      uint64_t left = rows.bytes;
      size_t channel = at / interleave_ % channels;
      uint64_t chunk = std::min(left, interleave_ - at % interleave_);
      while (left > 0) {
        visit(channel, static_cast<double>(chunk));
        left -= chunk;
        chunk = std::min(left, interleave_);
        if (++channel == channels) channel = 0;
      }
    }
  }

  uint64_t interleave_;
  double bw_gbs_;
  std::vector<double> free_ns_;           // per channel
  mutable std::vector<double> alone_ns_;  // the same in an idle system, while lone_service_ns() works
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(HbmPc)

}  // namespace kernbench
