// Models: the only way between TCM and the register file: a FETCH and a STORE stage, one server each, at TCM's read and
// write bandwidth. Timing contract §5: overhead_ns + bytes / tcm bandwidth.
// Does not model: TCM banks; nothing else uses the TCM's ports.
//
// Parameters: overhead_ns (ns, 0), queue_depth (items of each stage, 2).
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench {
namespace {

class PeFetchStore : public Engine {
 public:
  PeFetchStore(sc_core::sc_module_name name, const ComponentConfig& config) : Engine(name, config) {
    add_unit(Stage::fetch, 1, config);
    add_unit(Stage::store, 1, config);
  }

  static ImplSpec spec() {
    return {"builtin.pe_fetch_store",
            "pe_fetch_store",
            "transfers between TCM and the register file",
            {overhead_attribute(), queue_depth_attribute()}};
  }

 private:
  Work work(const PeItem& item) override {
    const bool fetch = item.stage() == Stage::fetch;
    const uint64_t bytes = fetch ? item.fetch_bytes() : item.store_bytes();
    const double bw = fetch ? pe().tcm_read_bw_gbs : pe().tcm_write_bw_gbs;
    return {overhead_ns() + static_cast<double>(bytes) / bw, bytes, 0};
  }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeFetchStore)

}  // namespace kernbench
