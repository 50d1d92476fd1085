// Models: the only way between TCM and the register file: a FETCH and a STORE stage, one server each, at TCM's read and
// write bandwidth, for which it asks pe_tcm. Timing contract §5: overhead_ns + bytes / tcm bandwidth.
// Does not model: TCM banks; nothing else uses the TCM's ports.
#pragma once

#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench {

class PeFetchStore : public Engine {
 public:
  using Parameters = EngineParameters;
  PeFetchStore(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_fetch_store", "pe_fetch_store",
                               "transfers between TCM and the register file");
  }

  void leads_to(PePort& out, PeBlock& next) override;

 private:
  Work work(PeItem& item) override;

  PePort* tcm_ = nullptr;
};

}  // namespace kernbench
