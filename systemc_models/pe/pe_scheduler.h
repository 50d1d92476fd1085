// Models: a PE's sole dispatcher. A command reaches its engine's queue (a composite: the feed queue) overhead_ns after
// its submission. One feed loop takes composites in that order and feeds one's tiles to the end before the next, a tile
// when fewer than W of this PE are in flight, W = ⌊reserved TCM / tile bytes⌋, and its first stage's queue has room.
// Tiles then find their own way; the last stage reports here, exactly once. Timing contract §5, §6; ADR-0014 D2, D6.
// Does not model: dependencies between commands: only the kernel's waits order them.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/pe/pe.h"

namespace kernbench {

class PeScheduler : public Component, public ItemSender {
  // Before the sockets, so that it is beside what the base class has for every event.
  Pe* pe_ = nullptr;
  Ring<PeCommand*, 2> feed_queue_;
  PeItem* refused_ = nullptr;  ///< the tile that waits for room
  bool feeding_ = false;
  FeedActivity feed_activity_ = FeedActivity::idle;
  double feed_since_ns_ = 0;
  int64_t tiles_in_flight_ = 0;
  PeItemPool items_;
  struct Next {
    Engine* engine = nullptr;
    int port = -1;
  };
  Next next_[kStages];

 public:
  CommandTargetSocket<PeScheduler> command_in{"command_in"};
  CommandInitiatorSocket<PeScheduler> command_out{"command_out"};

  using Parameters = BlockParameters;
  PeScheduler(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec();

  void join(Pe& pe, RouteSource& routes, uint32_t dma_node);
  /// As Engine::set_next().
  void set_next(Stage stage, int port, Engine* engine) { next_[static_cast<int>(stage)] = {engine, port}; }
  void accepted(PeItem&) override;

  /// Checks a command at its submission: every transaction's memory can be reached and holds it, and a tile fits the
  /// reserved TCM. AccessError, one line.
  void validate(PeCommand&) const;
  /// Takes a command that has paid its overheads, now: what a driver without pe_cpu calls.
  void dispatch(PeCommand&);
  /// An item's last stage is done.
  void item_done(PeItem&);

  /// Commands dispatched and not complete.
  const std::vector<PeCommand*>& in_flight() const { return in_flight_; }
  /// Tells an observer what the feed loop did up to end_ns: once, at the end of a run.
  void settle(double end_ns);
  /// Why the feed loop stands still: empty where it does not.
  std::string feed_state() const;
  int64_t tiles_in_flight() const { return tiles_in_flight_; }

 private:
  tlm::tlm_sync_enum nb_transport_fw(int port, PeItem&, tlm::tlm_phase&, sc_core::sc_time&);
  tlm::tlm_sync_enum nb_transport_bw(int port, PeItem&, tlm::tlm_phase&, sc_core::sc_time&);
  bool offer(PeItem&);
  void feed();
  void feed_until_it_waits();
  PeItem& make_tile(PeCommand&, int64_t tile_id);
  void change_feed(FeedActivity next, double now);
  void fed(PeCommand&, PeItem&);
  void complete(PeCommand&);
  void check_part(const TilePart&, bool write) const;

  RouteSource* routes_ = nullptr;
  uint32_t dma_node_ = 0;
  std::vector<PeCommand*> in_flight_;
};

}  // namespace kernbench
