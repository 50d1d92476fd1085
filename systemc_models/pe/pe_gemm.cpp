#include "kernbench/systemc_models/pe/pe_gemm.h"

#include "kernbench/systemc_models/core/registry.h"

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

}  // namespace

PeGemm::PeGemm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Engine(name, config, checked(parameters)),
      macs_per_ns_(parameters.macs_per_cycle * parameters.freq_ghz),
      rates_(parameters.rates) {
  add_unit(Stage::gemm, 1, true);
}

double PeGemm::rate(const std::string& dtype) const {
  const auto it = rates_.find(dtype);
  return it == rates_.end() ? 1 : it->second;
}

Engine::Work PeGemm::work(PeItem& item) {
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

PeGemmSystolic::PeGemmSystolic(sc_core::sc_module_name name, const ComponentConfig& config,
                               const Parameters& parameters)
    : Engine(name, config, checked(parameters)),
      rows_(parameters.rows),
      cols_(parameters.cols),
      dataflow_(parameters.dataflow),
      freq_ghz_(parameters.freq_ghz) {
  add_unit(Stage::gemm, 1, true);
}

Engine::Work PeGemmSystolic::work(PeItem& item) {
  const Shape s = shape_of(item);
  return {overhead_ns() + static_cast<double>(cycles(s.m, s.n, s.k)) / freq_ghz_, 0, flops_of(s)};
}

int64_t PeGemmSystolic::cycles(int64_t m, int64_t n, int64_t k) const {
  const auto folds = [](int64_t size, int64_t by) { return (size + by - 1) / by; };
  if (dataflow_ == "os") return folds(m, rows_) * folds(n, cols_) * (rows_ + cols_ + k - 2);
  if (dataflow_ == "ws") return folds(k, rows_) * folds(n, cols_) * (2 * rows_ + cols_ + m - 2);
  return folds(k, rows_) * folds(m, cols_) * (2 * rows_ + cols_ + n - 2);
}

KERNBENCH_REGISTER_COMPONENT(PeGemm)
KERNBENCH_REGISTER_COMPONENT(PeGemmSystolic)

}  // namespace kernbench
