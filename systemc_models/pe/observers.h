// SPDX-License-Identifier: Apache-2.0
// Several observers of one PE behind the single pointer that its blocks use.
#pragma once

#include <algorithm>
#include <vector>

#include "kernbench/systemc_models/pe/observer.h"

namespace kernbench::pe {

class PeObservers : public PeObserver {
 public:
  /// Keeps `told` at null, at the only observer, or at this object.
  explicit PeObservers(PeObserver*& told) : told_(told) {}
  PeObservers(const PeObservers&) = delete;
  PeObservers& operator=(const PeObservers&) = delete;

  void add(PeObserver& o) {
    all_.push_back(&o);
    choose();
  }
  void remove(PeObserver& o) {
    all_.erase(std::remove(all_.begin(), all_.end(), &o), all_.end());
    choose();
  }

  void activity(const Pe& pe, Stage s, unsigned server, Activity a, const PeItem* item, uint64_t op_id, double from,
                double to) override {
    for (PeObserver* o : all_) o->activity(pe, s, server, a, item, op_id, from, to);
  }
  void transaction_starts(const Pe& pe, const PeItem& item, double t) override {
    for (PeObserver* o : all_) o->transaction_starts(pe, item, t);
  }
  void transaction(const Pe& pe, Stage s, unsigned server, const PeItem& item, double granted, double done,
                   double link_wait, double memory_wait) override {
    for (PeObserver* o : all_) o->transaction(pe, s, server, item, granted, done, link_wait, memory_wait);
  }
  void feed(const Pe& pe, FeedActivity a, double from, double to) override {
    for (PeObserver* o : all_) o->feed(pe, a, from, to);
  }
  void kernel_wait(const Pe& pe, const PeCommand& c, double from, double to) override {
    for (PeObserver* o : all_) o->kernel_wait(pe, c, from, to);
  }
  void kernel_submits(const Pe& pe, const PeCommand& c, double t) override {
    for (PeObserver* o : all_) o->kernel_submits(pe, c, t);
  }
  void kernel_goes_on(const Pe& pe, uint64_t seq, bool sent, double t) override {
    for (PeObserver* o : all_) o->kernel_goes_on(pe, seq, sent, t);
  }
  void kernel_polls(const Pe& pe, double from, double to) override {
    for (PeObserver* o : all_) o->kernel_polls(pe, from, to);
  }
  void kernel_works(const Pe& pe, double from, double to, const SourceLine& where) override {
    for (PeObserver* o : all_) o->kernel_works(pe, from, to, where);
  }
  void server_changed(const Pe& pe, Stage s, unsigned server, Activity a, const PeItem* item, uint64_t op_id,
                      double t) override {
    for (PeObserver* o : all_) o->server_changed(pe, s, server, a, item, op_id, t);
  }
  void item_queued(const Pe& pe, Stage s, const PeItem& item, double t) override {
    for (PeObserver* o : all_) o->item_queued(pe, s, item, t);
  }
  void queue_changed(const Pe& pe, Stage s, size_t items, double t) override {
    for (PeObserver* o : all_) o->queue_changed(pe, s, items, t);
  }
  void feed_changed(const Pe& pe, FeedActivity a, double t) override {
    for (PeObserver* o : all_) o->feed_changed(pe, a, t);
  }
  void tiles_changed(const Pe& pe, int64_t tiles, double t) override {
    for (PeObserver* o : all_) o->tiles_changed(pe, tiles, t);
  }
  void kernel_changed(const Pe& pe, KernelActivity a, double t) override {
    for (PeObserver* o : all_) o->kernel_changed(pe, a, t);
  }
  void ports_opened(const Pe& pe, double t) override {
    for (PeObserver* o : all_) o->ports_opened(pe, t);
  }
  void port_changed(const Pe& pe, uint32_t port, const QueuePortState& s, double t) override {
    for (PeObserver* o : all_) o->port_changed(pe, port, s, t);
  }
  void slot_taken(const Pe& pe, const QueueSegment& s, double t) override {
    for (PeObserver* o : all_) o->slot_taken(pe, s, t);
  }
  void queue_stall(const Pe& pe, uint32_t port, QueueStall why, double from, double to) override {
    for (PeObserver* o : all_) o->queue_stall(pe, port, why, from, to);
  }
  void segment_taken(const Pe& pe, QueueServer server, const QueueSegment& s, double t) override {
    for (PeObserver* o : all_) o->segment_taken(pe, server, s, t);
  }
  void segment_served(const Pe& pe, QueueServer server, const QueueSegment& s, double from, double to) override {
    for (PeObserver* o : all_) o->segment_served(pe, server, s, from, to);
  }
  void command_submitted(const Pe& pe, const PeCommand& c, double t) override {
    for (PeObserver* o : all_) o->command_submitted(pe, c, t);
  }
  void sub_command_dispatched(const Pe& pe, const PeItem& item, double t) override {
    for (PeObserver* o : all_) o->sub_command_dispatched(pe, item, t);
  }
  void tile_ready(const Pe& pe, const PeItem& item, double t) override {
    for (PeObserver* o : all_) o->tile_ready(pe, item, t);
  }
  void command_complete(const Pe& pe, const PeCommand& c, double t) override {
    for (PeObserver* o : all_) o->command_complete(pe, c, t);
  }

 private:
  void choose() { told_ = all_.empty() ? nullptr : all_.size() == 1 ? all_.front() : this; }

  PeObserver*& told_;
  std::vector<PeObserver*> all_;
};

}  // namespace kernbench::pe
