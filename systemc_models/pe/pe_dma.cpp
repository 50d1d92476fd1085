#include "kernbench/systemc_models/pe/pe_dma.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {
namespace {

/// The next part of the item's memory that the DMA moves; false: none is left.
bool next_part(PeItem& item, TilePart& part) {
  if (!item.token || item.stage() == Stage::dma_write) {
    if (item.part++ > 0) return false;
    part = item.token ? item.output_part() : item.command->dma;
    return true;
  }
  const auto& inputs = item.command->plan.inputs;
  while (item.part < inputs.size() && !inputs[item.part].in_memory) ++item.part;
  if (item.part >= inputs.size()) return false;
  part = item.input_part(item.part++);
  return true;
}

}  // namespace

PeDma::PeDma(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Engine(name, config, checked(parameters)),
      FabricNode(static_cast<Component&>(*this)),
      FabricInitiator(static_cast<FabricNode&>(*this)),
      items_(context().arena()) {
  add_unit(Stage::dma_read, parameters.rd_engines);
  add_unit(Stage::dma_write, parameters.wr_engines);
}

void PeDma::leads_to(PePort& way, PeBlock& next) {
  if (dynamic_cast<MmuRole*>(&next)) {
    mmu_ = &way;
  } else {
    Engine::leads_to(way, next);
  }
}

PeItem& PeDma::driver_item(MemoryRequest& r) {
  PeItem& d = items_.take();
  d.request = &r;
  d.stage_count = 1;
  d.stages[0] = r.write ? Stage::dma_write : Stage::dma_read;
  return d;
}

void PeDma::begin(uint8_t unit, uint16_t server) {
  item_at(unit, server).part = 0;
  if (!next_transaction(unit, server)) finish(unit, server, {});
}

/// Starts the item's next transaction; false if it has none left.
bool PeDma::next_transaction(uint8_t unit, uint16_t server) {
  PeItem& item = item_at(unit, server);
  if (!item.command) {
    if (item.part++ > 0) return false;
    const MemoryRequest& r = *item.request;
    start({unit == kWrite, r.address, r.nbytes, {1, r.nbytes, 0}, r.issue_ns, unit, &item});
    return true;
  }
  TilePart part;
  if (item.translated_bytes == 0 && !next_part(item, part)) return false;
  if (item.translated_bytes > 0 || part.translation) {
    next_piece(unit, item, part);
  } else {
    start({unit == kWrite, part.addr, part.nbytes, part.rows, timeline().now_ns(), unit, &item});
  }
  return true;
}

/// Starts the next transaction of a part that was reached through virtual addresses, after its look-up.
void PeDma::next_piece(uint8_t unit, PeItem& item, const TilePart& part) {
  if (item.translated_bytes == 0) item.translated = part;
  const PieceTransaction x = transaction_at(item.translated, item.translated_bytes);
  item.translated_bytes += x.physical.nbytes;
  if (item.translated_bytes == item.translated.nbytes) item.translated_bytes = 0;
  item.asked_address = x.virtual_addr;
  item.asked_rows = x.physical.rows;
  const double look_up_ns = mmu_->ask(item);
  const Access a{unit == kWrite,
                 x.physical.addr,
                 x.physical.nbytes,
                 x.physical.rows,
                 timeline().now_ns() + look_up_ns,
                 unit,
                 &item};
  if (look_up_ns == 0) return start(a);
  looking_up_[&item] = a;
  timeline().at(a.issue_ns, stage_order(pe(), item.stage()), &PeDma::looked_up, this, &item);
}

void PeDma::looked_up(void* self, void* item) {
  auto& me = *static_cast<PeDma*>(self);
  const auto a = me.looking_up_.extract(static_cast<PeItem*>(item));
  me.start(a.mapped());
}

Order PeDma::done_order(const FabricTransaction& x) const {
  return stage_order(pe(), x.write ? Stage::dma_write : Stage::dma_read);
}

void PeDma::transaction_done(FabricTransaction& x) {
  PeItem& item = *static_cast<PeItem*>(x.context);
  transaction_served(item, x);
  if (!item.command) {
    MemoryRequest& r = *item.request;
    r.done(r, x);
  }
  if (!next_transaction(item.unit, item.server)) finish(item.unit, item.server, {});
}

KERNBENCH_REGISTER_COMPONENT(PeDma)

}  // namespace kernbench
