// SPDX-License-Identifier: Apache-2.0
// Models the only path between TCM and the register file: a FETCH and a STORE stage with one server each, at the TCM's
// read and write bandwidth, which it queries from pe_tcm. Timing rules §5: overhead_ns + bytes / tcm bandwidth.
#pragma once

#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench::pe {

class PeFetchStore : public Engine {
 public:
  using Parameters = EngineParameters;
  PeFetchStore(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_fetch_store", "pe_fetch_store",
                               "transfers between TCM and the register file")
        .engine({{{Stage::fetch, StageWork::fetches, "fetch"}, {Stage::store, StageWork::stores, "store"}}, true})
        .leads_to({"pe_gemm", "pe_math", "pe_tcm", "pe_dma"});
  }

 private:
  Work work(PeItem& item) override;
};

}  // namespace kernbench::pe
