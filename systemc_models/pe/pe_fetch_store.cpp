// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_fetch_store.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::pe {

PeFetchStore::PeFetchStore(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Engine(name, config, checked(parameters)) {
  add_unit(Stage::fetch, 1);
  add_unit(Stage::store, 1);
}

Engine::Work PeFetchStore::work(PeItem& item) {
  const bool store = item.stage() == Stage::store;
  const uint64_t bytes = store ? item.store_bytes() : item.fetch_bytes();
  return {overhead_ns() + tcm_->ask(item, bytes, store, timeline().now_ns() + overhead_ns()), bytes, 0};
}

KERNBENCH_REGISTER_COMPONENT(PeFetchStore)

}  // namespace kernbench::pe
