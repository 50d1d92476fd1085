// SPDX-License-Identifier: Apache-2.0
// Models: a DMA that issues all transactions of an item at once, after what the look-ups of virtual addresses take
// together; the project's issues one when the one before is done. Queues and back-pressure are those of Engine.
#include <map>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/engine.h"

namespace {
using namespace kernbench;

/// What an item moves, as in the memories' address maps or virtual.
std::vector<TilePart> parts_of(const PeItem& item) {
  if (const MemoryRequest* r = item.request) return {{r->address, r->nbytes, {1, r->nbytes, 0}, nullptr}};
  if (!item.token) return {item.command->dma};
  if (item.stage() == Stage::dma_write) return {item.output_part()};
  std::vector<TilePart> parts;
  for (size_t i = 0; i < item.command->plan.inputs.size(); ++i) {
    if (item.command->plan.inputs[i].in_memory) parts.push_back(item.input_part(i));
  }
  return parts;
}

class EagerDma : public Engine, public FabricNode, public FabricInitiator, public RequestPort {
 public:
  using Parameters = EngineParameters;
  FabricInitiatorSocket out{"out", *this};

  EagerDma(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Engine(name, config, checked(p)),
        FabricNode(static_cast<Component&>(*this)),
        FabricInitiator(static_cast<FabricNode&>(*this)),
        driver_items_(context().arena()) {
    add_unit(Stage::dma_read, 1);
    add_unit(Stage::dma_write, 1);
  }
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.eager_dma", "pe_dma", "issues all transactions of an item at once");
  }

  void leads_to(PePort& port, PeBlock& next) override {
    if (dynamic_cast<MmuRole*>(&next)) mmu_ = &port;
    Engine::leads_to(port, next);
  }
  FabricNode* fabric_node() override { return this; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }

  // Requests of drivers (kernbench traffic, probe) are items without a command.
  void request(MemoryRequest& r) override { enqueue(static_cast<uint8_t>(line_of(r.write)), r); }
  uint32_t line_of(bool write) const override { return write; }  // the number of the unit

 private:
  struct Job {
    std::vector<Access> accesses;
    size_t done = 0;
  };

  PeItem& driver_item(MemoryRequest& r) override {
    PeItem& item = driver_items_.take();
    item.request = &r;
    item.stage_count = 1;
    item.stages[0] = r.write ? Stage::dma_write : Stage::dma_read;
    return item;
  }
  void driver_item_done(PeItem& item) override { driver_items_.give_back(item); }

  void begin(uint8_t unit, uint16_t server) override {
    PeItem& item = item_at(unit, server);
    Job& job = jobs_[&item] = {};
    double at_ns = timeline().now_ns();
    const auto add = [&](const TilePart& p) {
      job.accesses.push_back({item.stage() == Stage::dma_write, p.addr, p.nbytes, p.rows, 0, unit, &item});
    };
    for (const TilePart& part : parts_of(item)) {
      if (!part.translation) add(part);
      for (uint64_t done = 0; part.translation && done < part.nbytes;) {
        const PieceTransaction piece = transaction_at(part, done);
        item.asked_address = piece.virtual_addr;
        item.asked_rows = piece.physical.rows;
        at_ns += mmu_->ask(item);
        add(piece.physical);
        done += piece.physical.nbytes;
      }
    }
    if (job.accesses.empty()) return finish(unit, server, {});
    timeline().at(at_ns, stage_order(pe(), item.stage()), call<&EagerDma::issue>(*this, item));
  }
  void issue(PeItem& item) {
    for (Access& a : jobs_.at(&item).accesses) {
      a.issue_ns = timeline().now_ns();
      start(a);
    }
  }
  Order done_order(const FabricTransaction& x) const override {
    return stage_order(pe(), x.write ? Stage::dma_write : Stage::dma_read);
  }
  void transaction_done(FabricTransaction& x) override {
    PeItem& item = *static_cast<PeItem*>(x.context);
    transaction_served(item, x);
    if (item.request) item.request->done(*item.request, x);
    Job& job = jobs_.at(&item);
    if (++job.done < job.accesses.size()) return;
    jobs_.erase(&item);
    finish(item.unit, item.server, {});
  }

  PePort* mmu_ = nullptr;
  PeItemPool driver_items_;
  std::map<PeItem*, Job> jobs_;
};

KERNBENCH_REGISTER_COMPONENT(EagerDma)
}  // namespace
