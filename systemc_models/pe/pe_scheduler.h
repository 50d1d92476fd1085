// SPDX-License-Identifier: Apache-2.0
// Models a PE's scheduler, the only dispatcher of commands. A command reaches its engine's queue (a composite: the feed
// queue) overhead_ns after its submission. One feed loop takes composites in that order and feeds all tiles of one
// before the next. It feeds a tile when the tile's bytes fit the reserved TCM beside those of the tiles in flight, and
// the queue of its first stage has space. Tiles then move on by themselves; the last stage reports here exactly once.
// Timing rules §5, §6; ADR-0014 D2, D6. Does not model dependencies between commands: only the kernel's waits order
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/route.h"
#include "kernbench/systemc_models/pe/command_queues.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/tile_buffers.h"

namespace kernbench::pe {

class PeScheduler : public Component, public PeBlock, public SchedulerRole {
  // Before the sockets, to be near the members of base classes that each event accesses.
  Pe* pe_ = nullptr;
  Ring<PeCommand*, 2> feed_queue_;
  PeItem* refused_ = nullptr;  ///< the tile that waits for space
  bool feeding_ = false;
  FeedActivity feed_activity_ = FeedActivity::idle;
  double feed_since_ns_ = 0;
  int64_t tiles_in_flight_ = 0;
  std::optional<TileBuffers> buffers_;  ///< of the tiles in flight
  PeItemPool items_;
  StageWays next_;

 public:
  CommandTargetSocket command_in{"command_in", *this};
  CommandInitiatorSocket command_out{"command_out", *this};

  using Parameters = BlockParameters;
  PeScheduler(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& = {});
  static ImplSpec spec();

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  void join(Pe& pe) override { pe_ = &pe; }
  void leads_to(PePort& out, PeBlock& next) override { next_.add(out, next); }
  tlm::tlm_sync_enum item_in(PeItem&, PePort& in, tlm::tlm_phase&) override;
  tlm::tlm_sync_enum answer_in(PeItem&, PePort& out, tlm::tlm_phase&) override;

  // SchedulerRole.
  /// Each transaction must be within a reachable memory, and a tile must fit the reserved TCM.
  void validate(PeCommand&) const override;
  size_t outstanding() const override { return submissions_.size() + in_flight_.entries().size(); }
  std::vector<std::string> waiting() const override;
  void settle(double end_ns) override;

 private:
  void dispatch(PeCommand&);
  void dispatch_simple(PeCommand&, Stage);
  void accepted(PeItem&);
  void item_done(PeItem&);
  void feed();
  void feed_until_it_waits();
  TileBuffers& buffers();
  PeItem& make_tile(PeCommand&, int64_t tile_id);
  void change_feed(FeedActivity next, double now);
  void fed(PeCommand&, PeItem&);
  void complete(PeCommand&);
  void check_part(const TilePart&, bool write) const;
  void check_tiles(PeCommand&) const;
  std::string waits(const InflightTable::Entry&) const;

  SubmissionQueue submissions_;
  InflightTable in_flight_;
  CompletionQueue completions_;
};

}  // namespace kernbench::pe
