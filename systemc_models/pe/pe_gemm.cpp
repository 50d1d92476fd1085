// Models: a PE's matrix unit, by rate (`builtin.pe_gemm`) or as a systolic array (`builtin.pe_gemm_systolic`). It holds
// the PE's accel_slot for its service. Timing contract §5.
//   pe_gemm:          overhead_ns + M·N·K / (macs_per_cycle · freq_ghz · rate), rate from `rates` by A's dtype
//   pe_gemm_systolic: overhead_ns + cycles / freq_ghz, cycles of the output-, weight- or input-stationary fold
//                     (SCALE-Sim's analytical counts)
// Does not model: register-file bandwidth, operand skew beyond the folds' fill and drain.
//
// Parameters: see spec(); all rates are required.
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench {
namespace {

struct Shape {
  int64_t m, n, k;
};

Shape shape_of(const PeItem& item) {
  if (item.token) return {item.tile_m, item.tile_n, item.tile_k};
  return {item.command->m, item.command->n, item.command->k};
}

double flops_of(const Shape& s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

class PeGemm : public Engine {
 public:
  PeGemm(sc_core::sc_module_name name, const ComponentConfig& config)
      : Engine(name, config),
        macs_per_ns_(config.attributes->number("macs_per_cycle", 1) * config.attributes->number("freq_ghz", 1)) {
    if (const NumberMap* rates = config.attributes->map("rates")) rates_ = *rates;
    add_unit(Stage::gemm, 1, config, true);
  }

  static ImplSpec spec();

 private:
  double rate(const std::string& dtype) const {
    const auto it = rates_.find(dtype);
    return it == rates_.end() ? 1 : it->second;
  }

  Work work(const PeItem& item) override {
    const Shape s = shape_of(item);
    double r;
    if (item.token) {
      const CompositePlan& plan = item.command->plan;
      if (plan.gemm_rate < 0) plan.gemm_rate = rate(plan.dtype);
      r = plan.gemm_rate;
    } else {
      r = rate(item.command->dtype);
    }
    return {overhead_ns() + flops_of(s) / 2 / (macs_per_ns_ * r), 0, flops_of(s)};
  }

  double macs_per_ns_;
  NumberMap rates_;
};

ImplSpec PeGemm::spec() {
  AttrSpec rates;
  rates.name = "rates";
  rates.type = AttrType::number_map;
  rates.min = 0;
  rates.min_exclusive = true;
  rates.help = "speed by dtype of A, relative to macs_per_cycle (1 where not listed)";
  return {"builtin.pe_gemm",
          "pe_gemm",
          "matrix unit by its rate",
          {overhead_attribute(), positive_attribute("macs_per_cycle", "MAC", "multiply-accumulates in a cycle"),
           positive_attribute("freq_ghz", "GHz", "clock"), rates, Engine::queue_depth_attribute(),
           Engine::accel_slot_attribute()}};
}

class PeGemmSystolic : public Engine {
 public:
  PeGemmSystolic(sc_core::sc_module_name name, const ComponentConfig& config)
      : Engine(name, config),
        rows_(config.attributes->integer("rows", 1)),
        cols_(config.attributes->integer("cols", 1)),
        dataflow_(config.attributes->string("dataflow", "ws")),
        freq_ghz_(config.attributes->number("freq_ghz", 1)) {
    add_unit(Stage::gemm, 1, config, true);
  }

  static ImplSpec spec();

 private:
  Work work(const PeItem& item) override {
    const Shape s = shape_of(item);
    return {overhead_ns() + static_cast<double>(cycles(s)) / freq_ghz_, 0, flops_of(s)};
  }

  int64_t cycles(const Shape& s) const {
    const auto folds = [](int64_t size, int64_t by) { return (size + by - 1) / by; };
    if (dataflow_ == "os") return folds(s.m, rows_) * folds(s.n, cols_) * (rows_ + cols_ + s.k - 2);
    if (dataflow_ == "ws") return folds(s.k, rows_) * folds(s.n, cols_) * (2 * rows_ + cols_ + s.m - 2);
    return folds(s.k, rows_) * folds(s.m, cols_) * (2 * rows_ + cols_ + s.n - 2);
  }

  int64_t rows_, cols_;
  std::string dataflow_;
  double freq_ghz_;
};

ImplSpec PeGemmSystolic::spec() {
  AttrSpec rows = count_attribute("rows", 1, "rows of the array"),
           cols = count_attribute("cols", 1, "columns of the array");
  AttrSpec dataflow;
  dataflow.name = "dataflow";
  dataflow.type = AttrType::string;
  dataflow.choices = {"os", "ws", "is"};
  dataflow.help = "what stays in the array: outputs, weights or inputs";
  for (AttrSpec* a : {&rows, &cols, &dataflow}) {
    a->default_value.reset();
    a->required = true;
  }
  return {"builtin.pe_gemm_systolic",
          "pe_gemm",
          "matrix unit as a systolic array",
          {overhead_attribute(), rows, cols, dataflow, positive_attribute("freq_ghz", "GHz", "clock"),
           Engine::queue_depth_attribute(), Engine::accel_slot_attribute()}};
}

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeGemm)
KERNBENCH_REGISTER_COMPONENT(PeGemmSystolic)

}  // namespace kernbench
