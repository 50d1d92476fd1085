// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/hbm_pc.h"

#include <algorithm>
#include <cmath>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::memory {
namespace {

bool is_power_of_two(double v) {
  int exponent = 0;
  return std::frexp(v, &exponent) == 0.5;
}

}  // namespace

std::optional<AttrFault> HbmPcParameters::fault_together() const {
  if (hash == "xor" && (pseudo_channels & (pseudo_channels - 1)) != 0)
    return AttrFault{"hash", "found xor with pseudo_channels " + std::to_string(pseudo_channels) +
                                 "; legal: none, or pseudo_channels a power of two"};
  if (interleave_bytes % burst_bytes != 0)
    return AttrFault{"burst_bytes", "found " + std::to_string(burst_bytes) + "; legal: a divisor of interleave_bytes " +
                                        std::to_string(interleave_bytes)};
  return HbmParameters::fault_together();
}

HbmPc::HbmPc(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : StatefulMemory(
          name, config, checked(parameters),
          {std::vector<TurningServer>(parameters.pseudo_channels), std::vector<double>(parameters.pseudo_channels),
           std::vector<double>(parameters.pseudo_channels), std::vector<double>(parameters.pseudo_channels)}),
      interleaving_(parameters.pseudo_channels, parameters.interleave_bytes, parameters.burst_bytes,
                    parameters.hash == "xor"),
      interleave_(parameters.interleave_bytes),
      hash_(parameters.hash == "xor"),
      bw_gbs_(parameters.pc_bw_gbs),
      block_ns_(channel_ns(parameters.interleave_bytes)),
      turnaround_ns_(parameters.turnaround_ns),
      exact_(is_power_of_two(parameters.pc_bw_gbs)),
      channels_(parameters.pseudo_channels) {
  early_ = Early::reads;  // the channels finish independently, and acknowledgements wait for them
}

/// The channels are equal, so with round robin only the position in a block matters. With xor, blocks that differ by
/// whole rounds of the second or a higher digit use the same channels up to a permutation, as long as no higher digit
/// changes within the access.
uint64_t HbmPc::address_period(uint64_t offset, uint64_t span) const {
  const uint64_t channels = channels_;
  if (!hash_ || channels == 1) return interleave_;
  uint64_t turn = interleave_ * channels;
  do {
    if (turn > kNoPeriod / channels) return kNoPeriod;
    turn *= channels;
  } while (offset / turn != (offset + span - 1) / turn);
  return turn;
}

uint64_t HbmPc::moved_bytes(const FabricTransaction& x) const {
  return bytes_of_bursts(x.address - base(), x.rows, interleaving_.burst());
}

template <class Add>
void HbmPc::for_each_time(uint64_t address, const Rows& rows, Add add) const {
  const double times = rows.atomic == AtomicKind::none ? 1 : 2;  // an atomic's chunks are read and written
  const double block_ns = times * block_ns_;
  uint64_t last = interleave_;  // the usual length
  double last_ns = block_ns;
  const auto chunk_ns = [&](uint64_t bytes) {
    if (bytes == last) return last_ns;
    last = bytes;
    return last_ns = bytes == interleave_ ? block_ns : times * channel_ns(bytes);
  };
  const auto all = [&](double ns) {
    for (size_t c = 0; c < channels_; ++c) add(c, ns);
  };
  if (exact_) {
    interleaving_.visit_alike(
        address - base(), rows,
        [&](size_t c, uint64_t bytes, uint64_t n) { add(c, chunk_ns(bytes) * static_cast<double>(n)); },
        [&](uint64_t bytes, uint64_t n) { all(chunk_ns(bytes) * static_cast<double>(n)); });
  } else {
    interleaving_.visit(
        address - base(), rows, [&](size_t c, uint64_t bytes) { add(c, chunk_ns(bytes)); },
        [&](uint64_t turns) {
          for (; turns > 0; --turns) all(block_ns);
        });
  }
}

Service HbmPc::serve(State& state, const Request& q) const {
  const double queued = q.arrival_ns + overhead_ns(), path = data_path_ns(q);
  for (size_t c = 0; c < channels_; ++c) {
    state.taken[c] = 0;
    state.start[c] = state.channels[c].start_ns(q.write && !q.is_atomic(), turnaround_ns_, queued);
    state.until[c] = state.start[c] + turn_ns(q.rows);
  }
  for_each_time(q.address, q.rows, [&](size_t c, double ns) {
    state.taken[c] += ns;
    state.until[c] += ns;
  });
  double finish = queued + path, longest = 0;
  for (size_t c = 0; c < channels_; ++c) {
    if (state.taken[c] == 0) continue;
    state.channels[c].take(state.until[c], q.write);
    finish = std::max(finish, state.until[c]);
    longest = std::max(longest, state.taken[c]);
    if (q.transaction && observers())
      observers()->channel_taken(*this, *q.transaction, c, queued, state.start[c], state.until[c]);
  }
  Service s;
  s.overhead_ns = overhead_ns();
  // Its sum with the overhead is the service time at zero load.
  s.drain_ns = (overhead_ns() + std::max(path, longest + turn_ns(q.rows))) - overhead_ns();
  s.queue_ns = finish - queued - s.drain_ns;
  s.header_leaves_ns = queued;
  s.finish_ns = finish;
  s.stream_ns = path;
  s.bound = ServiceBound::way_to_memory;
  return s;
}

KERNBENCH_REGISTER_COMPONENT(HbmPc)

}  // namespace kernbench::memory
