// SPDX-License-Identifier: Apache-2.0
// Base class of a PE's engines: stages with a bounded queue and servers, and the hand-on of items from stage to stage.
//
// A server takes an item (which frees its place in the queue), serves it, releases its resources, hands the item on,
// and only then takes the next one. If the next queue is full, the server keeps the item and serves nothing else until
// it is called back (timing rules §5, §9). This class does the chaining of stages; a derived engine defines only its
// service. No process, no event: services are entries on the timeline.
#pragma once

#include <stdexcept>
#include <vector>

#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace kernbench::pe {

/// Parameters of every engine.
struct EngineParameters : BlockParameters {
  uint32_t queue_depth = 2;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    describe_queue(list);
  }
  template <class List>
  static void describe_queue(List& list) {
    list.add(&EngineParameters::queue_depth, "queue_depth", "items",
             "queue length of a stage, without the items in service")
        .depth(Limit::depth);
  }
};

class Engine : public Component, public PeBlock, public EngineRole, private AccelSlot::User {
 protected:
  struct Work {  // time and counts of a service
    double ns = 0;
    uint64_t bytes = 0;
    double flops = 0;
    double peak_ns = 0;  ///< time of these at the engine's peak, if it has one
  };

 private:
  static constexpr uint8_t kMostUnits = kTileStages;
  // State that each event accesses is contiguous, in the system's arena: a unit and its servers.
  struct Server {
    PeItem* item = nullptr;
    double since_ns = 0;  ///< start of the activity
    Activity activity = Activity::idle;
    uint64_t op_id = 0;
    Work work;
  };
  struct Waiting {  // an item, or a driver's request
    PeItem* item = nullptr;
    union {
      PePort* from;            ///< of an item: notified when there is space
      MemoryRequest* request;  ///< if there is no item
    };
  };
  struct Unit {
    Stage stage = Stage::dma_read;
    bool needs_slot = false;
    uint16_t server_count = 1;
    uint32_t depth = 2;
    Server* servers = nullptr;
    Engine* engine = nullptr;
    Ring<PeItem*, 2> queue;
    Ring<Waiting, 1> waiting;
    double flops = 0, peak_ns = 0;
    double link_wait_ns = 0, memory_wait_ns = 0;
    double by_activity[4] = {0, 0, 0, 0};  ///< ns
    uint64_t ops = 0, bytes = 0;

    void service_ended(PeItem& item) { engine->finish(item.unit, item.server, servers[item.server].work); }
  };

  // Before the sockets, to be near the members of base classes that each event accesses.
  Pe* pe_ = nullptr;
  PePort* scheduler_ = nullptr;  ///< destination of completions
  uint8_t unit_count_ = 0;
  Stage stages_[kMostUnits] = {};  ///< of the units
  Unit* units_[kMostUnits] = {};
  StageWays next_;

 protected:
  PePort* tcm_ = nullptr;  ///< port for queries to the TCM; null: none

 private:
  uint32_t queue_depth_;

 public:
  CommandTargetSocket command_in{"command_in", *this};
  CommandInitiatorSocket command_out{"command_out", *this};

  Engine(sc_core::sc_module_name name, const ComponentConfig& config, const EngineParameters&);
  ~Engine() override;

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  bool serves(Stage) const override;
  void join(Pe& pe) override { pe_ = &pe; }
  void leads_to(PePort& out, PeBlock& next) override;
  void called_by(PePort& in, PeBlock& before) override;
  tlm::tlm_sync_enum item_in(PeItem&, PePort& in, tlm::tlm_phase&) override;
  tlm::tlm_sync_enum answer_in(PeItem&, PePort& out, tlm::tlm_phase&) override;

  // EngineRole.
  std::vector<StageStatistics> statistics() const override;
  void settle(double end_ns) override;
  std::vector<std::string> waiting() const override;

 protected:
  /// Adds a stage with `servers` servers; its number.
  uint8_t add_unit(Stage, unsigned servers, bool needs_slot = false);
  /// Service of an item whose duration is known at its start.
  virtual Work work(PeItem&) { return {}; }
  /// Starts the service; by default it ends after work().ns.
  virtual void begin(uint8_t unit, uint16_t server);
  /// Puts a driver's request into a stage's queue, or into the line for space there; driver_item() then makes its item.
  void enqueue(uint8_t unit, MemoryRequest&);
  virtual PeItem& driver_item(MemoryRequest&) { throw std::logic_error(id() + ": takes no requests of drivers"); }
  /// The last stage of a driver's item (one without a command) has ended.
  virtual void driver_item_done(PeItem&) {}
  /// Counts a transaction of the item in service.
  void transaction_served(const PeItem&, const FabricTransaction&);
  /// Ends the service now.
  void finish(uint8_t unit, uint16_t server, const Work&);

  PeItem& item_at(uint8_t unit, uint16_t server) const { return *units_[unit]->servers[server].item; }
  uint64_t op_id_at(uint8_t unit, uint16_t server) const { return units_[unit]->servers[server].op_id; }
  Pe& pe() const { return *pe_; }

 private:
  bool has_room(const Unit& u) const { return u.waiting.empty() && u.queue.size() < u.depth; }
  uint8_t unit_of(Stage) const;
  void change(Unit&, uint16_t server, Activity next, double now);
  /// Reports the server's new activity to an observer.
  void tell(const Unit& u, uint16_t server) const {
    if (pe_->observer) tell_observer(u, server);
  }
  void tell_observer(const Unit&, uint16_t server) const;
  void queue(Unit&, PeItem&);
  void take_next(uint8_t unit);
  void take_waiting(Unit&);
  void slot_granted(uint8_t unit, uint16_t server) override { start_service(unit, server); }
  void start_service(uint8_t unit, uint16_t server);
  void hand_on(uint8_t unit, uint16_t server);
  void become_idle(uint8_t unit, uint16_t server);
};

}  // namespace kernbench::pe
