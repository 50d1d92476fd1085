// SPDX-License-Identifier: Apache-2.0
// A run's bottlenecks: its critical path and the blame for it, its distance from each peak, and a verdict in words.
// docs/insight.md has the formula of every figure.
#pragma once

#include <array>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/insight/critical_path.h"
#include "kernbench/platform/insight/resource.h"

namespace kernbench::phase2 {
class Fields;
}

namespace kernbench {

namespace insight {

/// The parts of a run's report that an Insight uses. Times in ns.
struct RunFigures {
  double begin_ns = 0;  ///< begin of the simulation
  double sim_ns = 0;    ///< of the run
  struct Pe {
    std::string id;
    double end_ns = 0;
    bool works = true;  ///< whether one of its engines has served something
    double flops = 0;
    uint64_t dma_bytes = 0;
  };
  std::vector<Pe> pes;
  /// Parts of the run that represent several parts of the model, in order, without overlaps. Times since its start.
  struct Repeated {
    double from_ns = 0, to_ns = 0, times = 1;
  };
  std::vector<Repeated> repeated;
  double flops = 0;
  double gemm_flops = 0, gemm_peak_ns = 0;  ///< for matrix units that declare their peak; the time at that peak
  double math_ns = 0;                       ///< service time of all PEs
};

/// A value. Times in ns from the run's begin, shares from 0 to 1.
struct Insight {
  double sim_ns = 0;  ///< with each repeated part as often as it runs; so are blame, savings and predictions
  double run_ns = 0;  ///< of the simulation

  // The critical path.
  struct Step {
    double from_ns = 0, to_ns = 0;
    Resource resource = Resource::other;
    std::string holder;  ///< node, or FROM->TO; empty: none
    std::string pe;      ///< of the op; empty: none
    std::string op, line;
  };
  std::vector<Step> path;
  struct Share {
    Resource resource = Resource::other;
    std::string name;
    double ns = 0;
  };
  std::array<double, kResources> by_resource{};
  /// For a bandwidth class: the kind of edge with most of its blame, as in --set: "edge:pe"; or empty.
  std::array<std::string, kResources> edges_of{};
  std::array<std::string, kResources> line_of{};  ///< the source line with most of a class's blame; or empty
  std::vector<Share> by_component, by_line;       ///< descending; each sums to sim_ns
  /// By the op's SIP, "sip0", and by its launch in a program, "launch 3 (gemm)"; "" for time without one. Descending.
  std::vector<Share> by_rank, by_launch;
  // Of the causal graph (run_graph.h): number of events, memory, and unexplained time, which is 0 for a machine of
  // kernbench's blocks.
  uint64_t moments = 0, graph_bytes = 0, contradictions = 0;
  double unexplained_ns = 0;

  // The verdict.
  enum class Bound : uint8_t { compute, bandwidth, launch, dependencies };
  Bound bound = Bound::dependencies;
  /// The bottleneck: the class that saves most at twice its speed; two classes if neither helps alone.
  std::vector<Resource> bound_by;
  Resource next = Resource::other;  ///< among the others, the class that would save most
  /// Predicted time of the run if only this class were twice as fast, or half as fast (the latter only on request).
  std::array<double, kResources> faster_ns{}, slower_ns{};
  /// How far these may be off (doubt.h); 0: they hold.
  std::array<double, kResources> faster_doubt_ns{}, slower_doubt_ns{};
  /// Share of the run's time saved at twice the speed.
  double saved(Resource r) const { return sim_ns > 0 ? 1 - faster_ns[static_cast<size_t>(r)] / sim_ns : 0; }
  double saved_by_bound = 0;  ///< by the classes of bound_by
  /// Limits that are no rates and that the path waited for, with the predicted time of the run without them; largest
  /// saving first. `channels`: as if each memory's accesses were spread evenly over its channels.
  struct Unlimited {
    Limit limit = Limit::none;
    double ns = 0;
    bool other_order = false;
  };
  std::vector<Unlimited> unlimited;
  /// By limit: the attributes that declare it, or the options that set it if the change costs nothing.
  std::array<std::string, kLimits> set_by{};
  /// Idle shares of the time of all PEs: PEs without work; PEs that wait for the slowest of their launch; PEs that wait
  /// while launches run on others. With work spread evenly, the run would be shorter by up to this share.
  struct Uneven {
    double share = 0;
    std::string where;  ///< "in launch 3 (gemm) for sip0.cube0.pe1"
  };
  Uneven no_work, slowest, others;
  std::vector<std::string> verdict;  ///< sentences
  /// Results of --predict: the run's time with these classes sped up.
  struct Predicted {
    std::vector<std::pair<Resource, double>> faster;
    double ns = 0, doubt_ns = 0;
  };
  std::vector<Predicted> predicted;
  /// A single change of machine or run that the causal graph suggests, as options of `run`.
  struct Remedy {
    std::string change;  ///< "--set '*.reserved_mb=2'"
    CostClass cost = CostClass::free;
    double predicted_ns = 0;
    std::string doubt;         ///< why the prediction may be off; empty: it is exact
    std::optional<double> ns;  ///< simulated time
    std::string fault;         ///< why it failed
  };
  std::vector<Remedy> remedies;  ///< on request; the recommended one first

  // Distance from the peaks.
  double gemm_peak = 0;  ///< share
  double math_busy = 0;  ///< share of the run in which a PE's MATH engine computes, mean
  double hbm_peak = 0;   ///< share of the bandwidth of all HBM in the cubes of the run's PEs and of other used HBM
  double flops = 0, hbm_bytes = 0;
  double flop_per_byte = 0;                       ///< 0: no HBM access, or no computation
  double gemm_tflops_most = 0, hbm_gbs_most = 0;  ///< peak of the run's PEs and HBM
  double roofline_tflops = 0;                     ///< limit by intensity and peaks; 0: does not apply
  struct Row {
    std::string name;
    Resource resource = Resource::other;
    uint64_t bytes = 0;
    double gbs_most = 0, share = 0;  ///< 0: unlimited
  };
  std::vector<Row> links, memories, channels;  ///< busiest first; a channel's share is the time for which it was held
  struct Spread {
    std::string first, median, last;
    double first_ns = 0, median_ns = 0, last_ns = 0;
    size_t near_last = 0;         ///< PEs that end within 1 % of the run's time before the last, and the last
    size_t all = 0, working = 0;  ///< PEs of the run; PEs with work
  };
  Spread pes;
  /// Balance of work over the run's PEs, its HBM and the machine's links, including idle ones.
  struct Work {
    std::string of;  ///< "PEs, FLOP"
    size_t all = 0, idle = 0;
    double least = 0, median = 0, most = 0;
    double gini = 0;  ///< 0: equal; towards 1: one has all
  };
  std::vector<Work> work;
  /// Peak use of a memory since the platform was built. HBM: the host's allocations (tensors, rings). TCM of a PE: the
  /// same and its kernels' buffers, without the part reserved for tiles.
  struct Capacity {
    std::string memory, space;  ///< node; "hbm" or "tcm"
    uint64_t most = 0, bytes = 0;
    double share() const { return static_cast<double>(most) / static_cast<double>(bytes); }
    bool near() const { return share() > 0.9; }  ///< little more fits
  };
  std::vector<Capacity> capacity;               ///< only used memories, the fullest first
  double issue_ns_mean = 0, issue_ns_most = 0;  ///< time for the kernel's commands in pe_cpu, per PE
};
std::string_view name_of(Insight::Bound);
/// "mesh bandwidth (edge:pe)".
std::string title_of(const Insight&, Resource);

/// Sections of a run's report.
void write_insight_text(std::ostream&, const Insight&);
void describe(Fields&, const Insight&);

}  // namespace insight
}  // namespace kernbench
