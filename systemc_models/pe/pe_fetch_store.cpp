#include "kernbench/systemc_models/pe/pe_fetch_store.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

PeFetchStore::PeFetchStore(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Engine(name, config, checked(parameters)) {
  add_unit(Stage::fetch, 1);
  add_unit(Stage::store, 1);
}

Engine::Work PeFetchStore::work(const PeItem& item) {
  const bool fetch = item.stage() == Stage::fetch;
  const uint64_t bytes = fetch ? item.fetch_bytes() : item.store_bytes();
  const double bw = fetch ? pe().tcm_read_bw_gbs : pe().tcm_write_bw_gbs;
  return {overhead_ns() + static_cast<double>(bytes) / bw, bytes, 0};
}

KERNBENCH_REGISTER_COMPONENT(PeFetchStore)

}  // namespace kernbench
