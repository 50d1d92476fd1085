// SPDX-License-Identifier: Apache-2.0
// `kernbench probe`: single transactions through an idle system with their latency breakdown (rules on interfaces);
// their hops; many reads at once; and checks. docs/probe.md explains it. Each section below has a source file:
// probe.cpp, probe_hops.cpp, probe_saturation.cpp, probe_checks.cpp, probe_output.cpp.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench {
class Platform;
}

namespace kernbench {
namespace spec {
struct RunDocument;
}
namespace topology {
struct Graph;
}

}  // namespace kernbench
namespace kernbench::work {
struct ProbeCase {
  std::string name;    ///< "pe-local-hbm"
  std::string target;  ///< "sip0.cube0.pe0 -> sip0.cube0.hbm_ctrl.pe0"
  uint32_t initiator = 0;
  uint32_t memory = 0;  ///< index into the graph's memories
  bool write = false;
  uint64_t memory_bytes = 0;  ///< size of the memory
};

/// Times in ns, bandwidths in GB/s. overhead + drain + wire + store_forward + queueing = actual, in every link mode.
struct ProbeResult {
  ProbeCase probe;
  uint64_t nbytes = 0;
  double actual_ns = 0, formula_ns = 0;
  double overhead_ns = 0, drain_ns = 0, wire_ns = 0, queueing_ns = 0, store_forward_ns = 0;
  double bottleneck_bw_gbs = 0;  ///< lowest bandwidth for the data, of links or memory; 0: unlimited

  double parts_ns() const { return overhead_ns + drain_ns + wire_ns + queueing_ns + store_forward_ns; }
  double overhead_pct() const { return 100 * share(overhead_ns); }
  double drain_pct() const { return 100 * share(drain_ns); }
  double eff_bw_gbs() const { return actual_ns > 0 ? static_cast<double>(nbytes) / actual_ns : 0; }
  double util_pct() const { return bottleneck_bw_gbs > 0 ? 100 * eff_bw_gbs() / bottleneck_bw_gbs : 0; }

 private:
  double share(double ns) const { return actual_ns > 0 ? ns / actual_ns : 0; }
};

/// The cases of the topology: pe-local-hbm, pe-same-half-hbm, pe-cross-half-hbm, pe-local-sram, pe-adjacent-cube-hbm,
/// pe-farthest-cube-hbm, pe-other-sip-hbm (reads, and the same with -write), h2d-write, d2h-read. All start at the
/// first PE that reaches HBM, or at the first PCIe endpoint that reaches HBM of its SIP.
std::vector<ProbeCase> probe_cases(Platform&);

/// The address of a case: its memory's first.
uint64_t probe_address(const Platform&, const ProbeCase&);

/// Runs the cases in sequence, each alone in the system. With several sizes each case runs at each size; sizes are
/// innermost. May be called again on the same platform. InputError if a transaction does not fit its memory, RunError
/// if one never ends.
std::vector<ProbeResult> run_probe(Platform&, const std::vector<ProbeCase>&, const std::vector<uint64_t>& sizes);
inline std::vector<ProbeResult> run_probe(Platform& platform, const std::vector<ProbeCase>& cases, uint64_t nbytes) {
  return run_probe(platform, cases, std::vector<uint64_t>{nbytes});
}

/// A later instant at which no link or memory is held, ns.
double next_idle_ns(Platform&);

/// Sizes of a sweep: 4 KiB to 1 MiB, doubling.
std::vector<uint64_t> sweep_sizes();

/// A case's bandwidth by size, for the sizes of a sweep that fit its memory.
struct ProbeSweep {
  std::vector<ProbeResult> points;  ///< by size, ascending
  /// Index of the smallest size with at least 90 % of the bottleneck's bandwidth; points.size() if there is none.
  size_t at_90_pct() const;
};
std::vector<ProbeSweep> run_sweep(Platform&, const std::vector<ProbeCase>&);

// ---- Hops: the path of a probed transaction, node by node, computed from the rules (timing rules §2, §3): the parts
// of the zero-load latency. The checks compare their sum with the simulated latency.

/// A node on the path and its outgoing edge. Times in ns from the grant.
struct ProbeHop {
  static constexpr uint32_t kNoEdge = std::numeric_limits<uint32_t>::max();
  uint32_t node = 0;            ///< of the graph
  bool response = false;        ///< on the response's path
  double arrive_ns = 0;         ///< arrival of the header; flit mode: of the first flit
  double overhead_ns = 0;       ///< the node's
  double store_forward_ns = 0;  ///< wait for the rest of the data
  double drain_ns = 0;          ///< data's service time (memory), or wait for data (initiator, routed read)
  uint32_t edge = kNoEdge;      ///< outgoing edge; none at the end
  double transfer_ns = 0;       ///< flit mode: the first flit onto that edge
  double wire_ns = 0;           ///< of that edge
  double bw_gbs = 0;            ///< of that edge; the data's direction if only one path is listed; 0: unlimited
  bool bottleneck = false;      ///< the edge carries the data, and none that does is narrower

  double leave_ns() const { return arrive_ns + overhead_ns + store_forward_ns + drain_ns; }
};

struct ProbeTrace {
  std::vector<ProbeHop> hops;  ///< the request's path; if responses are routed, then the response's path
  double drain_ns = 0;         ///< serialization: transfers and drains of all hops
  double total_ns = 0;
  double memory_bw_gbs = 0;           ///< bandwidth of the memory itself, all channels together; 0: unlimited
  bool memory_is_bottleneck = false;  ///< the memory is slower than every edge of the data
};

/// A memory's peak in GB/s for data on an edge of `edge_bw_gbs`; 0: unlimited.
double memory_bandwidth(Platform&, uint32_t memory, double edge_bw_gbs);

/// InputError if the transaction does not fit its memory.
ProbeTrace trace_hops(Platform&, const ProbeCase&, uint64_t nbytes);

// ---- Saturation: bandwidth under load. PEs issue as many concurrent reads as their DMA channels allow (`rd_engines`
// each), long enough that the start-up is negligible.

/// A scenario, from the first request until the first PE has its last read. Bandwidths in GB/s count the bytes of reads
/// completed by then, so they are never too high.
struct SaturationResult {
  std::string name;    ///< "hot-4", "own-slices"
  std::string target;  ///< "4 PEs of sip0.cube0 -> sip0.cube0.hbm_ctrl.pe0"
  bool hot = false;    ///< all PEs read one slice
  /// Equal shares are expected: all PEs have equally many concurrent reads. The shares leave a fifth of every link
  /// before the memory, and of every PE's own speed, unused.
  bool even = false;
  uint64_t nbytes = 0;  ///< of a read
  uint64_t reads = 0;   ///< completed
  double window_ns = 0;
  double aggregate_gbs = 0;
  double peak_gbs = 0;             ///< peak of memories, links and channels; 0: unlimited
  std::vector<double> shares_gbs;  ///< by PE
  std::string busiest_edge;        ///< "a -> b"; empty if links take no time
  double busiest_util = 0;         ///< its busy share of the window

  double least_gbs() const;
  double most_gbs() const;
  double fairness() const { return most_gbs() > 0 ? least_gbs() / most_gbs() : 1; }
  double util_pct() const { return peak_gbs > 0 ? 100 * aggregate_gbs / peak_gbs : 0; }
};

/// The first PE's slice read by the first 1, 2, 4, 8 PEs of its cube, if it has as many; then each PE reads its own
/// slice. Scenarios run in sequence in one simulation. InputError without PEs, or if a read does not fit.
std::vector<SaturationResult> run_saturation(Platform&, uint64_t nbytes);

// ---- Checks of probed transactions. There are two kinds:
//
// Laws follow from the timing rules on every topology; a failed law is an error of the model:
//   formula     alone in the system, a transaction has its closed-form latency and never waits
//   parts       overhead, drain, wire, store-and-forward and queueing sum to the latency
//   hops        so do the nodes and edges of its path
//   read-write  over links with equal directions, a read takes as long as the write to the same memory, both without
//               store-and-forward: one carries its data there, the other back. Not with `links: flit`, where a node's
//               overhead is hidden by the flits of a slow link before it, not of one after it.
//   size        more bytes never take less time (sweeps)
//   peak        together, PEs never exceed the peak of memory and links (saturation)
// For memories whose zero-load time is not exact (a DRAM has open rows and refreshes) only parts and peak are checked.
// Expectations hold for machines whose paths get slower with length; a failed one shows an unusual topology:
//   distance    a farther HBM slice, in mm and in hops, is not reached earlier
//   best-worst  the fastest slice is faster than the slowest, if their distances differ
//   fairness    flit mode: PEs that read one slice get shares within ±5 % of the mean, if equal shares leave a fifth of
//               every link before the memory, and of every PE's own speed, unused (saturation)

struct ProbeCheck {
  std::string name;     ///< "formula"
  std::string subject;  ///< its case or scenario
  bool law = true;
  bool passed = true;
  std::string found;  ///< one sentence with the numbers
};

std::vector<ProbeCheck> check_probe(Platform&, const std::vector<ProbeResult>&);
std::vector<ProbeCheck> check_sweep(Platform&, const std::vector<ProbeSweep>&);
std::vector<ProbeCheck> check_saturation(Platform&, const std::vector<SaturationResult>&);

// ---- Output: what `kernbench probe` prints, as text, csv or json.

struct ProbeReport {
  std::vector<ProbeResult> results;
  std::vector<ProbeTrace> traces;  ///< by result, or none
  std::vector<ProbeSweep> sweeps;  ///< by result, or none
  std::vector<SaturationResult> saturation;
  std::vector<ProbeCheck> checks;
  bool list_checks = false;  ///< text: every check, instead of their number and the failed ones
};

void write_probe_text(std::ostream&, const topology::Graph&, const ProbeReport&);
/// {"run": …, "cases": […]}: each case with its hops, sweep and checks; with the scenarios if the report has
/// saturation.
void write_probe_json(std::ostream&, const topology::Graph&, const ProbeReport&, const spec::RunDocument&);
/// One table: hops or sweeps if the report has them, else saturation, else the cases.
void write_probe_csv(std::ostream&, const topology::Graph&, const ProbeReport&);

}  // namespace kernbench::work
