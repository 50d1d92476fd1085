// `kernbench probe`: one transaction at a time through an idle system, and where its time went (interface contract; the
// table is the latency-model seed's). Its companions: probe_hops.h (the way, node by node), probe_checks.h (what must
// hold), probe_saturation.h (many at once), probe_output.h (text, csv, json). docs/probe.md explains all of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernbench {

class Platform;

struct ProbeCase {
  std::string name;    ///< "pe-local-hbm"
  std::string target;  ///< "sip0.cube0.pe0 -> sip0.cube0.hbm_ctrl.pe0"
  uint32_t initiator = 0;
  uint32_t memory = 0;  ///< index into the graph's memories
  bool write = false;
  uint64_t memory_bytes = 0;  ///< that the memory has
};

/// Times in ns, bandwidths in GB/s. overhead + drain + wire + store_forward + queueing = actual, in every link mode.
struct ProbeResult {
  ProbeCase probe;
  uint64_t nbytes = 0;
  double actual_ns = 0, formula_ns = 0;
  double overhead_ns = 0, drain_ns = 0, wire_ns = 0, queueing_ns = 0, store_forward_ns = 0;
  double bottleneck_bw_gbs = 0;  ///< least that bounds the data, on links or in the memory; 0: nothing limits

  double parts_ns() const { return overhead_ns + drain_ns + wire_ns + queueing_ns + store_forward_ns; }
  double overhead_pct() const { return 100 * share(overhead_ns); }
  double drain_pct() const { return 100 * share(drain_ns); }
  double eff_bw_gbs() const { return actual_ns > 0 ? static_cast<double>(nbytes) / actual_ns : 0; }
  double util_pct() const { return bottleneck_bw_gbs > 0 ? 100 * eff_bw_gbs() / bottleneck_bw_gbs : 0; }

 private:
  double share(double ns) const { return actual_ns > 0 ? ns / actual_ns : 0; }
};

/// The cases that the topology has, of: pe-local-hbm, pe-same-half-hbm, pe-cross-half-hbm, pe-local-sram,
/// pe-adjacent-cube-hbm, pe-farthest-cube-hbm, pe-other-sip-hbm (reads, and the same with -write), h2d-write, d2h-read.
/// All start at the first PE that reaches HBM or at the first PCIe endpoint that reaches HBM of its SIP.
std::vector<ProbeCase> probe_cases(Platform&);

/// The address that a case reads or writes: its memory's first.
uint64_t probe_address(const Platform&, const ProbeCase&);

/// Runs the cases one after the other, each alone in the system; with several sizes every case at every size, sizes
/// innermost. May be called again on the same platform. InputError if a transaction does not fit its memory, RunError
/// if one never ends.
std::vector<ProbeResult> run_probe(Platform&, const std::vector<ProbeCase>&, const std::vector<uint64_t>& sizes);
inline std::vector<ProbeResult> run_probe(Platform& platform, const std::vector<ProbeCase>& cases, uint64_t nbytes) {
  return run_probe(platform, cases, std::vector<uint64_t>{nbytes});
}

/// An instant after everything so far at which no link or memory is still held, ns.
double next_idle_ns(Platform&);

/// Sizes of a sweep: 4 KiB to 1 MiB, doubling.
std::vector<uint64_t> sweep_sizes();

/// The way to a bandwidth: one case at the sizes of a sweep that fit its memory.
struct ProbeSweep {
  std::vector<ProbeResult> points;  ///< by size, ascending
  /// Index of the smallest size with at least 90 % of the bottleneck's bandwidth; points.size() if there is none.
  size_t at_90_pct() const;
};
std::vector<ProbeSweep> run_sweep(Platform&, const std::vector<ProbeCase>&);

}  // namespace kernbench
