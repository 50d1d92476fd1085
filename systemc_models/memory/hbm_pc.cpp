#include "kernbench/systemc_models/memory/hbm_pc.h"

#include <algorithm>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {
namespace {

double path_ns(const Route& r, bool write, uint64_t nbytes) {
  const double bw = write ? r.write_inner_bw : r.read_inner_bw;
  return bw > 0 ? static_cast<double>(nbytes) / bw : 0;
}

}  // namespace

HbmPc::HbmPc(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : MemoryTarget(name, config, checked(parameters)),
      interleave_(parameters.interleave_bytes),
      bw_gbs_(parameters.pc_bw_gbs),
      free_ns_(parameters.pseudo_channels, 0.0) {
  early_ = Early::reads;  // the channels finish on their own, and acknowledgements wait for them
}

template <class Visit>
void HbmPc::for_each_chunk(uint64_t address, const Rows& rows, Visit visit) const {
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

double HbmPc::lone_service_ns(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows) const {
  alone_ns_.assign(free_ns_.size(), 0.0);
  double latest = 0;
  for_each_chunk(address, rows, [&](size_t channel, double bytes) {
    alone_ns_[channel] += bytes / bw_gbs_;
    latest = std::max(latest, alone_ns_[channel]);
  });
  return overhead_ns() + std::max(latest, path_ns(r, write, nbytes));
}

Service HbmPc::serve(FabricTransaction& x) {
  const double queued = x.time_ns + overhead_ns();
  if (observer()) tell_channels(x, queued);
  double finish = queued + path_ns(*x.route, x.write, x.nbytes);
  for_each_chunk(x.address, x.rows, [&](size_t channel, double bytes) {
    double& free = free_ns_[channel];
    free = std::max(free, queued) + bytes / bw_gbs_;
    finish = std::max(finish, free);
  });
  const LoneTime lone = fabric().mode().lone_time(*x.route, x.write, x.address, x.nbytes, x.rows);
  const double alone = lone.service_ns - overhead_ns();
  x.overhead_ns += overhead_ns();
  x.drain_ns += alone;
  x.memory_queue_ns += finish - queued - alone;
  return {queued, finish};
}

/// When the transaction will hold each channel.
void HbmPc::tell_channels(const FabricTransaction& x, double queued) const {
  std::vector<double> bytes_of(free_ns_.size(), 0.0);
  for_each_chunk(x.address, x.rows, [&](size_t channel, double bytes) { bytes_of[channel] += bytes; });
  for (size_t c = 0; c < bytes_of.size(); ++c) {
    const double from = std::max(free_ns_[c], queued);
    if (bytes_of[c] > 0) observer()->channel_taken(*this, c, from, from + bytes_of[c] / bw_gbs_);
  }
}

KERNBENCH_REGISTER_COMPONENT(HbmPc)

}  // namespace kernbench
