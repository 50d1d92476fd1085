// Models: a PE's vector unit. It holds the PE's accel_slot for its service:
//   overhead_ns + Σ over ops ⌈elements / lanes⌉ · cycles(op) / freq_ghz
// A token's consecutive MATH ops are one service. Timing contract §5.
// Does not model: the depth of the lanes' pipelines, reductions' trees.
//
// Parameters: see spec(); lanes and freq_ghz are required.
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench {
namespace {

class PeMath : public Engine {
 public:
  PeMath(sc_core::sc_module_name name, const ComponentConfig& config)
      : Engine(name, config),
        lanes_(config.attributes->integer("lanes", 1)),
        freq_ghz_(config.attributes->number("freq_ghz", 1)) {
    if (const NumberMap* cycles = config.attributes->map("cycles")) cycles_ = *cycles;
    add_unit(Stage::math, 1, config, true);
  }

  static ImplSpec spec();

 private:
  double cycles(const std::string& op) const {
    const auto it = cycles_.find(op);
    return it == cycles_.end() ? 1 : it->second;
  }
  double cycles(const std::vector<std::string>& ops) const {
    double sum = 0;
    for (const std::string& op : ops) sum += cycles(op);
    return sum;
  }

  Work work(const PeItem& item) override {
    const int64_t elements = item.token ? item.tile_m * item.tile_n : item.command->elements;
    double sum;
    if (item.token) {
      const CompositePlan& plan = item.command->plan;
      if (plan.math_cycles[0] < 0) {
        plan.math_cycles[0] = cycles(plan.per_tile);
        plan.math_cycles[1] = cycles(plan.per_output_tile);
        plan.math_cycles[2] = cycles(plan.once);
      }
      sum = plan.math_cycles[0];
      if (item.last_k) sum += plan.math_cycles[1];
      if (item.last_output) sum += plan.math_cycles[2];
    } else {
      sum = cycles(item.command->op);
    }
    const double groups = static_cast<double>((elements + lanes_ - 1) / lanes_);
    return {overhead_ns() + groups * sum / freq_ghz_, 0, static_cast<double>(elements)};
  }

  int64_t lanes_;
  double freq_ghz_;
  NumberMap cycles_;
};

ImplSpec PeMath::spec() {
  AttrSpec lanes = count_attribute("lanes", 1, "elements in a cycle");
  lanes.default_value.reset();
  lanes.required = true;
  AttrSpec cycles;
  cycles.name = "cycles";
  cycles.type = AttrType::number_map;
  cycles.unit = "cycles";
  cycles.min = 0;
  cycles.help = "cycles of an op for `lanes` elements (1 where not listed)";
  return {"builtin.pe_math",
          "pe_math",
          "vector unit",
          {overhead_attribute(), lanes, positive_attribute("freq_ghz", "GHz", "clock"), cycles,
           Engine::queue_depth_attribute(), Engine::accel_slot_attribute()}};
}

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeMath)

}  // namespace kernbench
