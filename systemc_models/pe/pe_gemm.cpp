// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_gemm.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::pe {
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

}  // namespace

double gemm_flops(const PeItem& item) {
  return flops_of(shape_of(item));
}

PeGemm::PeGemm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : ComputeEngine(name, config, checked(parameters), Stage::gemm),
      macs_per_ns_(parameters.macs_per_cycle * parameters.freq_ghz),
      rates_(parameters.rates) {}

double PeGemm::rate(const std::string& dtype) const {
  const auto it = rates_.find(dtype);
  return it == rates_.end() ? 1 : it->second;
}

ComputeEngine::Compute PeGemm::compute(const PeItem& item) {
  const Shape s = shape_of(item);
  double r;
  if (item.token) {
    const CompositePlan& plan = item.command->plan;
    if (plan.gemm_rate < 0) plan.gemm_rate = rate(plan.dtype);
    r = plan.gemm_rate;
  } else {
    const PeCommand& command = *item.command;
    const auto mixed = command.dtype_b.empty() ? rates_.end() : rates_.find(command.dtype + "×" + command.dtype_b);
    r = mixed != rates_.end() ? mixed->second : rate(command.dtype);
  }
  const double ns = flops_of(s) / 2 / (macs_per_ns_ * r);
  return {ns, flops_of(s), ns};
}

PeGemmSystolic::PeGemmSystolic(sc_core::sc_module_name name, const ComponentConfig& config,
                               const Parameters& parameters)
    : ComputeEngine(name, config, checked(parameters), Stage::gemm),
      rows_(parameters.rows),
      cols_(parameters.cols),
      dataflow_(parameters.dataflow),
      freq_ghz_(parameters.freq_ghz) {}

ComputeEngine::Compute PeGemmSystolic::compute(const PeItem& item) {
  const Shape s = shape_of(item);
  const double peak = static_cast<double>(rows_ * cols_) * freq_ghz_;
  return {cycles(s.m, s.n, s.k) / freq_ghz_, flops_of(s), flops_of(s) / 2 / peak};
}

/// As a double, because sizes from a file may give a product that does not fit 64 bits.
double PeGemmSystolic::cycles(int64_t m, int64_t n, int64_t k) const {
  const auto folds = [](int64_t size, int64_t by) { return static_cast<double>((size + by - 1) / by); };
  const auto each = [](int64_t cycles) { return static_cast<double>(cycles); };
  if (dataflow_ == "os") return folds(m, rows_) * folds(n, cols_) * each(rows_ + cols_ + k - 2);
  if (dataflow_ == "ws") return folds(k, rows_) * folds(n, cols_) * each(2 * rows_ + cols_ + m - 2);
  return folds(k, rows_) * folds(m, cols_) * each(2 * rows_ + cols_ + n - 2);
}

KERNBENCH_REGISTER_COMPONENT(PeGemm)
KERNBENCH_REGISTER_COMPONENT(PeGemmSystolic)

}  // namespace kernbench::pe
