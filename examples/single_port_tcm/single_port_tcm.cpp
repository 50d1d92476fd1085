// SPDX-License-Identifier: Apache-2.0
// Models: a TCM whose reads and writes share one port: FETCH, STORE, and the commands whose operands and results
// stream, wait for each other, in the order in which they ask. In all else the project's TCM.
#include <algorithm>

#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe_tcm.h"

namespace {
using namespace kernbench;

class SinglePortTcm : public PeTcm {
 public:
  using PeTcm::PeTcm;
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.single_port_tcm", "pe_tcm", "TCM with one port for reads and writes");
  }

  void asked(PeItem& item, PePort&) override {
    const double wait = std::max(0.0, free_ns_ - item.asked_from_ns);
    item.answer_ns = wait + access_ns(item.asked_bytes, item.asked_write);
    free_ns_ = item.asked_from_ns + item.answer_ns;
  }

 private:
  double free_ns_ = 0;
};

KERNBENCH_REGISTER_COMPONENT(SinglePortTcm)
}  // namespace

KERNBENCH_PLUGIN("single_port_tcm")
