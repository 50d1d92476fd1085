// SPDX-License-Identifier: Apache-2.0
// What held a run back: its critical path and what that is blamed on, how far it stayed from each peak, and a verdict
// in words. docs/insight.md has the formula of every figure.
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

/// What a run's report says that an Insight is made of. Times in ns.
struct RunFigures {
  double begin_ns = 0;  ///< of the simulation
  double sim_ns = 0;    ///< of the run
  struct Pe {
    std::string id;
    double end_ns = 0;
    bool works = true;  ///< one of its engines has served something
    double flops = 0;
    uint64_t dma_bytes = 0;
  };
  std::vector<Pe> pes;
  /// Parts of the run that stand for several of the model: since the run's begin, in order, without overlaps.
  struct Repeated {
    double from_ns = 0, to_ns = 0, times = 1;
  };
  std::vector<Repeated> repeated;
  double flops = 0;
  double gemm_flops = 0, gemm_peak_ns = 0;  ///< of matrix units that say their peak; what these take at it
  double math_ns = 0;                       ///< in service, all PEs
};

/// A value; times in ns from the run's begin, shares from 0 to 1.
struct Insight {
  double sim_ns = 0;  ///< with each repeated part as often as it runs; so are blame, savings and predictions
  double run_ns = 0;  ///< of the simulation

  // The critical path.
  struct Step {
    double from_ns = 0, to_ns = 0;
    Resource resource = Resource::other;
    std::string holder;  ///< node, or FROM->TO; empty: nobody
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
  /// Of a class of bandwidths the kind of edge that has most of its blame, as --set names it: "edge:pe"; or empty.
  std::array<std::string, kResources> edges_of{};
  std::array<std::string, kResources> line_of{};  ///< the source line with most of a class's blame; or empty
  std::vector<Share> by_component, by_line;       ///< the most first; each sums to sim_ns
  /// By the op's SIP, "sip0", and its launch in a program, "launch 3 (gemm)"; "" for what is of none. Likewise.
  std::vector<Share> by_rank, by_launch;
  // Of the run's causes (run_graph.h): how many moments, memory, and what no rule explains, which is 0 for a machine of
  // kernbench's blocks.
  uint64_t moments = 0, graph_bytes = 0, contradictions = 0;
  double unexplained_ns = 0;

  // The verdict.
  enum class Bound : uint8_t { compute, bandwidth, launch, dependencies };
  Bound bound = Bound::dependencies;
  /// What bounds the run: the class that saves most when it is twice as fast; two where neither helps without the
  /// other.
  std::vector<Resource> bound_by;
  Resource next = Resource::other;  ///< of the others, the one that would save most
  /// By the graph: the run's time were the class alone twice as fast, or half as fast (that only where it is asked
  /// for).
  std::array<double, kResources> faster_ns{}, slower_ns{};
  /// Whether some server would then be reached in another order, so that the prediction may be off (likewise).
  std::array<bool, kResources> faster_other_order{}, slower_other_order{};
  /// The share of the run that it would save, twice as fast.
  double saved(Resource r) const { return sim_ns > 0 ? 1 - faster_ns[static_cast<size_t>(r)] / sim_ns : 0; }
  double saved_by_bound = 0;  ///< were those of bound_by
  /// What the path waited for and is no rate: the run's time were there no such limit, by the graph, the most first.
  /// Of `channels`: were all that is asked of a memory spread evenly over them.
  struct Unlimited {
    Limit limit = Limit::none;
    double ns = 0;
    bool other_order = false;
  };
  std::vector<Unlimited> unlimited;
  /// What the attributes of the machine's nodes that declare the limit are set by: options where that costs nothing.
  std::array<std::string, kLimits> set_by{};
  /// Shares of the time of all PEs: of those without work; of those that wait for the slowest of their launch; of those
  /// that wait while launches run on others. With work spread evenly the run would take up to so much less.
  struct Uneven {
    double share = 0;
    std::string where;  ///< "in launch 3 (gemm) for sip0.cube0.pe1"
  };
  Uneven no_work, slowest, others;
  std::vector<std::string> verdict;  ///< sentences
  /// What was asked for: the run's time were these classes so many times as fast.
  struct Predicted {
    std::vector<std::pair<Resource, double>> faster;
    double ns = 0;
    bool other_order = false;
  };
  std::vector<Predicted> predicted;
  /// A change of one thing of machine or run that the causes suggest, as options of `run`.
  struct Remedy {
    std::string change;  ///< "--set '*.reserved_mb=2'"
    CostClass cost = CostClass::free;
    double predicted_ns = 0;
    bool about = false;        ///< an order may change, or it is a bound
    std::optional<double> ns;  ///< simulated
    std::string fault;         ///< why not
  };
  std::vector<Remedy> remedies;  ///< where they were asked for; the one to try first

  // How far from the peaks.
  double gemm_peak = 0;  ///< share
  double math_busy = 0;  ///< share of the run in which a PE's MATH computes, mean
  double hbm_peak = 0;   ///< share of the bandwidth of all HBM in the cubes of the run's PEs, and of what else was used
  double flops = 0, hbm_bytes = 0;
  double flop_per_byte = 0;                       ///< 0: no HBM, or nothing computed
  double gemm_tflops_most = 0, hbm_gbs_most = 0;  ///< of the PEs and HBM of the run
  double roofline_tflops = 0;                     ///< what intensity and peaks allow; 0: does not apply
  struct Row {
    std::string name;
    Resource resource = Resource::other;
    uint64_t bytes = 0;
    double gbs_most = 0, share = 0;  ///< 0: limits nothing
  };
  std::vector<Row> links, memories, channels;  ///< busiest first; a channel's share is the time for which it was held
  struct Spread {
    std::string first, median, last;
    double first_ns = 0, median_ns = 0, last_ns = 0;
    size_t near_last = 0;         ///< PEs that end within 1 % of the run behind the last, that one included
    size_t all = 0, working = 0;  ///< PEs of the run; those that had something to do
  };
  Spread pes;
  /// How evenly work is spread over the run's PEs, its HBM and the machine's links: what did none counts.
  struct Work {
    std::string of;  ///< "PEs, FLOP"
    size_t all = 0, idle = 0;
    double least = 0, median = 0, most = 0;
    double gini = 0;  ///< 0: all the same; towards 1: one has all
  };
  std::vector<Work> work;
  /// How full a memory was at most: HBM of what the host allocated there (tensors, rings), a PE's TCM of that and of
  /// its kernels' buffers, without the part that is reserved for tiles. Since the platform was built.
  struct Capacity {
    std::string memory, space;  ///< node; "hbm" or "tcm"
    uint64_t most = 0, bytes = 0;
    double share() const { return static_cast<double>(most) / static_cast<double>(bytes); }
    bool near() const { return share() > 0.9; }  ///< little more fits
  };
  std::vector<Capacity> capacity;               ///< of which anything was used, the fullest first
  double issue_ns_mean = 0, issue_ns_most = 0;  ///< of a PE, what its kernel's commands cost in pe_cpu
};
std::string_view name_of(Insight::Bound);
/// "mesh bandwidth (edge:pe)".
std::string title_of(const Insight&, Resource);

/// Sections of a run's report.
void write_insight_text(std::ostream&, const Insight&);
void describe(Fields&, const Insight&);

}  // namespace insight
}  // namespace kernbench
