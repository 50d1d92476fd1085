// SPDX-License-Identifier: Apache-2.0
// Models a PE's matrix unit, by rate (`builtin.pe_gemm`) or as a systolic array (`builtin.pe_gemm_systolic`). Its
// compute time is
//   pe_gemm:          M·N·K / (macs_per_cycle · freq_ghz · rate), rate from `rates` by A's dtype; for mixed operands by
//                     both, as `f16×i4`, else A's
//   pe_gemm_systolic: cycles / freq_ghz, cycles of the output-, weight- or input-stationary fold (SCALE-Sim's
//                     analytical counts)
// compute_engine.h has the rest of the service. Timing rules §5. Does not model register-file bandwidth, or operand
// skew beyond the folds' fill and drain.
#pragma once

#include "kernbench/systemc_models/pe/compute_engine.h"

namespace kernbench::pe {

struct PeGemmParameters : ComputeParameters {
  double macs_per_cycle = 0, freq_ghz = 0;
  NumberMap rates;  ///< by dtype of A, or "A×B"; 1 where not listed
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeGemmParameters::macs_per_cycle, "macs_per_cycle", "MAC", "multiply-accumulates a cycle")
        .rate()
        .direction(Direction::count)
        .required()
        .area("mac", "macs");
    list.add(&PeGemmParameters::freq_ghz, "freq_ghz", "GHz", "clock").rate(Resource::gemm).required();
    list.add(&PeGemmParameters::rates, "rates", "",
             "rate by dtype of A, or of A×B as f16×i4, relative to macs_per_cycle (default: 1)")
        .rate()
        .area_factor("mac");
    describe_compute(list);
  }
};

/// 2·M·N·K of a command or a tile.
double gemm_flops(const PeItem&);

class PeGemm : public ComputeEngine {
 public:
  using Parameters = PeGemmParameters;
  PeGemm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_gemm", "pe_gemm", "matrix unit with a constant rate")
        .engine({{{Stage::gemm, StageWork::macs}}, true})
        .leads_to({"pe_math", "pe_fetch_store"})
        .bound_without_edge_to({"pe_tcm"});
  }

 private:
  double rate(const std::string& dtype) const;
  Compute compute(const PeItem& item) override;

  double macs_per_ns_;
  NumberMap rates_;
};

struct PeGemmSystolicParameters : ComputeParameters {
  int64_t rows = 0, cols = 0;
  std::string dataflow = "ws";
  double freq_ghz = 0;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeGemmSystolicParameters::rows, "rows", "", "rows of the array").count().required().area("mac", "macs");
    list.add(&PeGemmSystolicParameters::cols, "cols", "", "columns of the array").count().required().area_factor("mac");
    list.add(&PeGemmSystolicParameters::dataflow, "dataflow", "", "stationary operand: outputs, weights or inputs")
        .choices({"os", "ws", "is"})
        .of(Resource::gemm)
        .costs(CostClass::hardware)
        .required();
    list.add(&PeGemmSystolicParameters::freq_ghz, "freq_ghz", "GHz", "clock").rate(Resource::gemm).required();
    describe_compute(list);
  }
};

class PeGemmSystolic : public ComputeEngine {
 public:
  using Parameters = PeGemmSystolicParameters;
  PeGemmSystolic(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_gemm_systolic", "pe_gemm", "matrix unit as a systolic array");
  }

 private:
  Compute compute(const PeItem& item) override;
  double cycles(int64_t m, int64_t n, int64_t k) const;

  int64_t rows_, cols_;
  std::string dataflow_;
  double freq_ghz_;
};

}  // namespace kernbench::pe
