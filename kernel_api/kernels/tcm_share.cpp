// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/tcm_share.h"

#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/registry.h"

namespace kernbench::kernels {

void fit_in_tcm(const std::string& kernel, Params* p, const LaunchCosts& costs,
                std::initializer_list<const char*> bytes, std::initializer_list<const char*> sides, double part) {
  constexpr uint64_t kEnough = uint64_t{15} << 20;
  uint64_t tcm = kEnough;
  for (size_t pe = 0; p->launch() && pe < p->launch()->pes.size(); ++pe)
    tcm = std::min(tcm, costs.tcm_bytes(static_cast<int64_t>(pe)));
  if (tcm == kEnough) return;
  const double share = part * static_cast<double>(tcm) / static_cast<double>(kEnough);
  const auto& declared = KernelRegistry::instance().at(kernel).params;
  const auto less = [&](const char* name, double by, int64_t unit) {
    const int64_t now = p->integer(name);
    const auto it = std::find_if(declared.begin(), declared.end(), [&](const ParamSpec& s) { return s.name == name; });
    if (it->default_value != ParamValue(now)) return;  // the user chose this value
    p->set(name, std::min(now, std::max(unit, static_cast<int64_t>(by * static_cast<double>(now)) / unit * unit)));
  };
  for (const char* name : bytes) less(name, share, 64);
  for (const char* name : sides) less(name, std::sqrt(share), 16);
}

}  // namespace kernbench::kernels
