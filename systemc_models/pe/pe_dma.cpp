// Models: a PE's DMA: a read and a write channel, each one FIFO with a number of servers, held from the grant to the
// completion of the item's last transaction (a GEMM tile reads its A part, then its B part). Timing contract §2, §5.
// What was reached through virtual addresses is one transaction for each physical piece, each after what its look-up in
// the MMU's TLB costs (docs/timing.md).
// Does not model: descriptors, virtual channels (vc_comm comes with inter-PE queues).
#include <memory>
#include <unordered_map>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/pe/engine.h"
#include "kernbench/systemc_models/pe/pe_mmu.h"

namespace kernbench {
namespace {

constexpr uint8_t kRead = 0, kWrite = 1;

struct PeDmaParameters : EngineParameters {
  uint32_t rd_engines = 1, wr_engines = 1;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeDmaParameters::rd_engines, "rd_engines", "", "reads in service at once").min(1).max(kMostServers);
    list.add(&PeDmaParameters::wr_engines, "wr_engines", "", "writes in service at once").min(1).max(kMostServers);
    describe_queue(list);
  }
  static constexpr double kMostServers = 65535;
};

class PeDma : public Engine, public FabricInitiator, public RequestPort {
  PeItemPool items_;  // of drivers' requests

 public:
  using Parameters = PeDmaParameters;
  FabricInitiatorSocket<PeDma> out{"out"};
  FabricOut* fabric_out() override { return &out; }
  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }

  PeDma(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : Engine(name, config, checked(parameters)),
        FabricInitiator(static_cast<Component&>(*this)),
        items_(fabric().arena()) {
    add_unit(Stage::dma_read, parameters.rd_engines);
    add_unit(Stage::dma_write, parameters.wr_engines);
    out.register_nb_transport_bw(this, &PeDma::nb_transport_bw);
    for (uint8_t channel : {kRead, kWrite}) set_state_of(channel, state_of(channel));
  }

  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_dma", "pe_dma", "a PE's DMA: reads and writes of its commands and tiles");
  }

  /// A driver's request is a simple command that enters the channel's queue.
  void request(MemoryRequest& r) override { enqueue(r.write ? kWrite : kRead, r); }
  uint32_t line_of(bool write) const override { return write ? kWrite : kRead; }

 private:
  PeItem& driver_item(MemoryRequest& r) override {
    PeItem& d = items_.take();
    d.request = &r;
    d.stage_count = 1;
    d.stages[0] = r.write ? Stage::dma_write : Stage::dma_read;
    return d;
  }

  void begin(uint8_t unit, uint16_t server) override {
    PeItem& item = item_at(unit, server);
    item.part = 0;
    if (!next_transaction(unit, server)) finish(unit, server, {});
  }

  /// Starts the item's next transaction; false if it has none left.
  bool next_transaction(uint8_t unit, uint16_t server) {
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
  void next_piece(uint8_t unit, PeItem& item, const TilePart& part) {
    if (item.translated_bytes == 0) item.translated = part;
    const PieceTransaction x = transaction_at(item.translated, item.translated_bytes);
    item.translated_bytes += x.physical.nbytes;
    if (item.translated_bytes == item.translated.nbytes) item.translated_bytes = 0;
    const double look_up_ns = pe().mmu->look_up_ns(x.virtual_addr, x.physical.rows);
    const Access a{
        unit == kWrite, x.physical.addr, x.physical.nbytes, x.physical.rows, timeline().now_ns() + look_up_ns, unit,
        &item};
    if (look_up_ns == 0) return start(a);
    looking_up_[&item] = a;
    timeline().at(a.issue_ns, stage_order(pe(), item.stage()), &PeDma::looked_up, this, &item);
  }

  static void looked_up(void* self, void* item) {
    auto& me = *static_cast<PeDma*>(self);
    const auto a = me.looking_up_.extract(static_cast<PeItem*>(item));
    me.start(a.mapped());
  }

  static bool next_part(PeItem& item, TilePart& part) {
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

  tlm::tlm_sync_enum nb_transport_bw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_core::sc_time& delay) {
    auto& x = *payload.get_extension<FabricTransaction>();
    response_arrived(x, delay);
    return tlm::TLM_COMPLETED;
  }

  void send(FabricTransaction& x, uint16_t port, tlm::tlm_phase phase, sc_core::sc_time& delay) override {
    out[port]->nb_transport_fw(*x.payload, phase, delay);
  }

  Order done_order(const FabricTransaction& x) const override {
    return stage_order(pe(), x.write ? Stage::dma_write : Stage::dma_read);
  }

  void transaction_done(FabricTransaction& x) override {
    PeItem& item = *static_cast<PeItem*>(x.context);
    transaction_served(item, x);
    if (!item.command) {
      MemoryRequest& r = *item.request;
      r.done(r, x);
    }
    if (!next_transaction(item.unit, item.server)) finish(item.unit, item.server, {});
  }

  void look_ahead(const FabricTransaction& x, bool nearer) const override {
    const PeItem& item = *static_cast<const PeItem*>(x.context);
    if (!nearer) {
      fetch_lines(&item, 2);
      fetch_lines(known_state_of(x.channel), kUnitLines);
      fetch_lines(&items_, 1);
      fetch_engine();
      return;
    }
    if (item.command) fetch_lines(item.command, PeCommand::kHotLines);
    if (item.command && x.channel == kRead && item.part < item.command->plan.inputs.size()) {
      fetch_lines(item.command->plan.inputs.data(), 2);  // it goes on here
    } else {
      Engine::look_ahead(x.channel, item, nearer);
    }
  }

  void driver_item_done(PeItem& item) override { items_.give_back(item); }

  std::unordered_map<PeItem*, Access> looking_up_;
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeDma)

}  // namespace kernbench
