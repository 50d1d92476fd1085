// Models: a PE's vector unit. It holds the PE's accel_slot for its service:
//   overhead_ns + Σ over ops ⌈elements / lanes⌉ · cycles(op) / freq_ghz
// A token's consecutive MATH ops are one service. Timing contract §5.
// Does not model: the depth of the lanes' pipelines, reductions' trees.
#pragma once

#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench {

struct PeMathParameters : ComputeParameters {
  int64_t lanes = 0;
  double freq_ghz = 0;
  NumberMap cycles;  ///< by op; 1 where not listed
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeMathParameters::lanes, "lanes", "", "elements in a cycle").count().required();
    list.add(&PeMathParameters::freq_ghz, "freq_ghz", "GHz", "clock").positive().required();
    list.add(&PeMathParameters::cycles, "cycles", "cycles", "cycles of an op for `lanes` elements (1 where not listed)")
        .min(0);
    describe_slot(list);
  }
};

class PeMath : public Engine {
 public:
  using Parameters = PeMathParameters;
  PeMath(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() { return spec_of<Parameters>("builtin.pe_math", "pe_math", "vector unit"); }

 private:
  double cycles(const std::string& op) const;
  double cycles(const std::vector<std::string>& ops) const;
  Work work(PeItem& item) override;

  int64_t lanes_;
  double freq_ghz_;
  NumberMap cycles_;
};

}  // namespace kernbench
