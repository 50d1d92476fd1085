#include "kernbench/systemc_models/pe/pe_fetch_store.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

PeFetchStore::PeFetchStore(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Engine(name, config, checked(parameters)) {
  add_unit(Stage::fetch, 1);
  add_unit(Stage::store, 1);
}

void PeFetchStore::leads_to(PePort& out, PeBlock& next) {
  if (dynamic_cast<TcmRole*>(&next)) {
    tcm_ = &out;
  } else {
    Engine::leads_to(out, next);
  }
}

Engine::Work PeFetchStore::work(PeItem& item) {
  item.asked_bytes = item.stage() == Stage::fetch ? item.fetch_bytes() : item.store_bytes();
  return {overhead_ns() + tcm_->ask(item), item.asked_bytes, 0};
}

KERNBENCH_REGISTER_COMPONENT(PeFetchStore)

}  // namespace kernbench
