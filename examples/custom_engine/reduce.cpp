// SPDX-License-Identifier: Apache-2.0
// Models: a PE's engine of a kind that kernbench does not have: a tree of adders, which takes sums, maxima and minima
// over an axis off pe_math and computes beside it. All that anybody knows of the kind stands in spec().
//   overhead_ns + max((⌈elements / lanes⌉ + ⌈log2 lanes⌉) / freq_ghz, bytes in and out through the TCM)
#include <cmath>

#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/compute_engine.h"
#include "kernbench/systemc_models/pe/pe_math.h"

namespace {
using namespace kernbench;

struct ReduceParameters : ComputeParameters {
  int64_t lanes = 0;
  double freq_ghz = 0;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&ReduceParameters::lanes, "lanes", "", "elements that the tree takes in a cycle")
        .count()
        .required()
        .area("lane", "lanes");
    list.add(&ReduceParameters::freq_ghz, "freq_ghz", "GHz", "clock").rate(Resource::math).required();
    describe_queue(list);
  }
};

const Stage kReduce = add_stage("REDUCE", OpKind::math);

class PeReduce : public ComputeEngine {
 public:
  using Parameters = ReduceParameters;
  PeReduce(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : ComputeEngine(name, config, checked(p), kReduce, false), lanes_(p.lanes), freq_ghz_(p.freq_ghz) {}
  static ImplSpec spec() {
    EngineFacts facts;
    facts.stages = {{kReduce, StageWork::elements}};
    facts.ops = {"sum", "max", "min"};
    return spec_of<Parameters>("custom.pe_reduce", "pe_reduce", "tree of adders: sums, maxima, minima")
        .engine(facts)
        .bound_without_edge_to({"pe_tcm"});
  }

 private:
  Compute compute(const PeItem& item) override {
    const int64_t elements = math_elements(item);
    const int64_t depth = std::llround(std::ceil(std::log2(static_cast<double>(lanes_))));
    const auto cycles = static_cast<double>((elements + lanes_ - 1) / lanes_ + depth);
    return {cycles / freq_ghz_, static_cast<double>(elements), 0};
  }

  int64_t lanes_;
  double freq_ghz_;
};

KERNBENCH_REGISTER_COMPONENT(PeReduce)
}  // namespace

KERNBENCH_PLUGIN("custom_engine")
