// SPDX-License-Identifier: Apache-2.0
// Observers of a link or a node: none, one or several, behind the single pointer that the hot path reads.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_observer.h"

namespace kernbench::fabric {

/// Notifies several observers, in the order in which they were added.
class FabricObserverList : public FabricObserver {
 public:
  std::vector<FabricObserver*> all;

  void link_crossed(const FabricTransaction& x, const Link& link, const LinkCrossing& c) override {
    for (FabricObserver* o : all) o->link_crossed(x, link, c);
  }
  void memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step, double t) override {
    for (FabricObserver* o : all) o->memory_request(memory, x, step, t);
  }
  void channel_taken(const MemoryTarget& memory, const FabricTransaction& x, size_t channel, double ready, double from,
                     double to) override {
    for (FabricObserver* o : all) o->channel_taken(memory, x, channel, ready, from, to);
  }
  void access_started(const Component& initiator, const FabricTransaction& x, double t) override {
    for (FabricObserver* o : all) o->access_started(initiator, x, t);
  }
  void access_done(const Component& initiator, const FabricTransaction& x, double t) override {
    for (FabricObserver* o : all) o->access_done(initiator, x, t);
  }
  void joined(const FabricTransaction& from, const FabricTransaction& to, uint32_t flit) override {
    for (FabricObserver* o : all) o->joined(from, to, flit);
  }
  void branched(const FabricTransaction& from, const FabricTransaction& branch, uint32_t flit) override {
    for (FabricObserver* o : all) o->branched(from, branch, flit);
  }
  void post_started(const Component& initiator, const FabricTransaction& x, double t) override {
    for (FabricObserver* o : all) o->post_started(initiator, x, t);
  }
  void post_done(const Component& end, const FabricTransaction& x, double t) override {
    for (FabricObserver* o : all) o->post_done(end, x, t);
  }
};

/// Must not change during a notification.
class FabricObservers {
 public:
  FabricObservers() = default;
  FabricObservers(const FabricObservers&) = delete;
  FabricObservers& operator=(const FabricObservers&) = delete;

  /// An observer that is already present is not added again.
  void add(FabricObserver& o) {
    if (told_ == &o) return;
    if (!told_) {
      told_ = &o;
      return;
    }
    if (!list_) {
      list_ = std::make_unique<FabricObserverList>();
      list_->all.push_back(told_);
      told_ = list_.get();
    }
    if (std::find(list_->all.begin(), list_->all.end(), &o) == list_->all.end()) list_->all.push_back(&o);
  }
  void remove(FabricObserver& o) {
    if (told_ == &o) told_ = nullptr;
    if (!list_) return;
    auto& all = list_->all;
    all.erase(std::remove(all.begin(), all.end(), &o), all.end());
    if (all.size() > 1) return;
    told_ = all.empty() ? nullptr : all.front();
    list_.reset();
  }
  /// Whether there are observers.
  explicit operator bool() const { return told_ != nullptr; }
  FabricObserver* operator->() const { return told_; }

 private:
  FabricObserver* told_ = nullptr;
  std::unique_ptr<FabricObserverList> list_;  ///< if there are several
};

}  // namespace kernbench::fabric
