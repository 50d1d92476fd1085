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

std::optional<AttrFault> HbmPcParameters::fault_together() const {
  if (hash == "xor" && (pseudo_channels & (pseudo_channels - 1)) != 0)
    return AttrFault{"hash", "found xor with pseudo_channels " + std::to_string(pseudo_channels) +
                                 "; legal: none, or pseudo_channels a power of two"};
  if (interleave_bytes % burst_bytes != 0)
    return AttrFault{"burst_bytes", "found " + std::to_string(burst_bytes) + "; legal: a divisor of interleave_bytes " +
                                        std::to_string(interleave_bytes)};
  return std::nullopt;
}

HbmPc::HbmPc(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : MemoryTarget(name, config, checked(parameters)),
      interleave_(parameters.interleave_bytes),
      burst_(parameters.burst_bytes),
      bw_gbs_(parameters.pc_bw_gbs),
      hash_(parameters.hash == "xor"),
      free_ns_(parameters.pseudo_channels, 0.0) {
  early_ = Early::reads;  // the channels finish on their own, and acknowledgements wait for them
}

size_t HbmPc::channel_of(uint64_t block) const {
  const size_t channels = free_ns_.size();
  if (!hash_) return block % channels;
  uint64_t channel = 0;
  for (; channels > 1 && block > 0; block /= channels) channel ^= block % channels;
  return channel;
}

/// The channels are alike, so with channels in turn only the place in a block counts. With xor, blocks that differ by
/// whole turns of the second digit go to the same channels but for their names, up to where the third one changes.
uint64_t HbmPc::address_period(uint64_t offset, uint64_t span) const {
  if (!hash_) return interleave_;
  const uint64_t turn = interleave_ * free_ns_.size() * free_ns_.size();
  return offset / turn == (offset + span - 1) / turn ? turn : MemoryTarget::kNoPeriod;
}

double HbmPc::channel_ns(uint64_t offset, uint64_t bytes) const {
  return static_cast<double>(bytes_of_bursts(offset, bytes, burst_)) / bw_gbs_;
}

uint64_t HbmPc::moved_bytes(const FabricTransaction& x) const {
  return bytes_of_bursts(x.address - base(), x.rows, burst_);
}

template <class Visit>
void HbmPc::for_each_chunk(uint64_t address, const Rows& rows, Visit visit) const {
  for_each_range(address, rows, [&](uint64_t at, uint64_t left) {
    for (at -= base(); left > 0;) {
      const uint64_t block = at / interleave_;
      const uint64_t chunk = std::min(left, (block + 1) * interleave_ - at);
      visit(channel_of(block), channel_ns(at, chunk));
      at += chunk;
      left -= chunk;
    }
  });
}

double HbmPc::lone_service_ns(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows) const {
  alone_ns_.assign(free_ns_.size(), 0.0);
  double latest = 0;
  for_each_chunk(address, rows, [&](size_t channel, double ns) {
    alone_ns_[channel] += ns;
    latest = std::max(latest, alone_ns_[channel]);
  });
  return overhead_ns() + std::max(latest, path_ns(r, write, nbytes));
}

Service HbmPc::serve(FabricTransaction& x) {
  const double queued = x.time_ns + overhead_ns();
  if (observers()) alone_ns_ = free_ns_;
  const double path = path_ns(*x.route, x.write, x.nbytes);
  double finish = queued + path;
  for_each_chunk(x.address, x.rows, [&](size_t channel, double ns) {
    double& free = free_ns_[channel];
    free = std::max(free, queued) + ns;
    finish = std::max(finish, free);
  });
  if (observers()) tell_channels(x, queued, alone_ns_);
  const LoneTime lone = fabric().mode().lone_time(*x.route, x.write, x.address, x.nbytes, x.rows);
  const double alone = lone.service_ns - overhead_ns();
  x.overhead_ns += overhead_ns();
  x.drain_ns += alone;
  x.memory_queue_ns += finish - queued - alone;
  return {queued, finish, path};
}

/// When the transaction holds each channel: from when it is free of what was there before.
void HbmPc::tell_channels(const FabricTransaction& x, double queued, const std::vector<double>& before) const {
  for (size_t c = 0; c < free_ns_.size(); ++c) {
    if (free_ns_[c] > before[c])
      observers()->channel_taken(*this, x, c, queued, std::max(before[c], queued), free_ns_[c]);
  }
}

KERNBENCH_REGISTER_COMPONENT(HbmPc)

}  // namespace kernbench
