// SPDX-License-Identifier: Apache-2.0
// A FIFO channel of memory requests with a number of servers, each held from grant to completion (timing rules §2).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_initiator.h"

namespace kernbench::fabric {

class RequestPool {
 public:
  static constexpr uint32_t kUnlimited = 0xffffffffu;
  explicit RequestPool(uint32_t servers) : idle_(servers) {}

  /// Queues the request.
  void push(MemoryRequest& r) { waiting_.push_back(&r); }
  /// Whether take() returns a request.
  bool has_next() const { return !waiting_.empty() && idle_ > 0; }
  /// The next request to grant, or null; takes a server.
  MemoryRequest* take() {
    if (!has_next()) return nullptr;
    MemoryRequest* r = waiting_.front();
    if (MemoryRequest* next = r->take_next_in_line()) {
      waiting_.front() = next;
    } else {
      waiting_.pop_front();
    }
    if (idle_ != kUnlimited) --idle_;
    return r;
  }
  void give_back() {
    if (idle_ != kUnlimited) ++idle_;
  }

 private:
  uint32_t idle_;
  std::deque<MemoryRequest*> waiting_;
};

/// An initiator that only drivers use (m_cpu, pcie_ep). It grants their requests from its pools.
class PooledInitiator : public FabricInitiator, public RequestPort {
 public:
  void request(MemoryRequest& r) override {
    pools_[line_of(r.write)].push(r);
    grant(line_of(r.write));
  }
  uint32_t line_of(bool write) const override { return write && pools_.size() > 1; }
  const MemoryRequest* request_of(const FabricTransaction& x) const override {
    return static_cast<const MemoryRequest*>(x.context);
  }

 protected:
  /// One pool for reads and writes. Grants are at least `issue_ns` apart.
  PooledInitiator(FabricNode& node, uint32_t servers, double timeout_ns = 0, double issue_ns = 0)
      : FabricInitiator(node, timeout_ns), issue_ns_(issue_ns), pools_{RequestPool(servers)} {}
  /// One channel for reads and one for writes.
  PooledInitiator(FabricNode& node, uint32_t read_servers, uint32_t write_servers)
      : FabricInitiator(node), pools_{RequestPool(read_servers), RequestPool(write_servers)} {}

  void transaction_done(FabricTransaction& x) override {
    auto& r = *static_cast<MemoryRequest*>(x.context);
    const uint32_t line = line_of(r.write);
    pools_[line].give_back();
    r.done(r, x);
    grant(line);
  }

 private:
  void grant(uint32_t channel) {
    while (may_issue(channel)) {
      MemoryRequest* r = pools_[channel].take();
      if (issue_ns_ > 0) next_issue_ns_ = node().fabric().timeline().now_ns() + issue_ns_;
      Access a;
      a.write = r->write;
      a.address = r->address;
      a.nbytes = r->nbytes;
      a.rows = r->rows ? *r->rows : Rows{1, r->nbytes, 0};
      if (r->rows && r->rows->stride == 0) a.span = r->rows->bytes;
      a.mover = r->mover;
      a.data = r->data;
      a.multicast = r->multicast;
      a.reduction = r->reduction;
      a.issue_ns = r->issue_ns;
      a.channel = static_cast<uint8_t>(channel);
      a.context = r;
      start(a);
    }
  }

  /// If only the time prevents the grant of a waiting request, it is retried at that time.
  bool may_issue(uint32_t channel) {
    if (!pools_[channel].has_next()) return false;
    if (issue_ns_ == 0) return true;
    Timeline& timeline = node().fabric().timeline();
    if (Timeline::to_fs(timeline.now_ns()) >= Timeline::to_fs(next_issue_ns_)) return true;
    if (!wakes_)
      timeline.at(next_issue_ns_, Order(Order::kEngines, owner().index(), 2), call<&PooledInitiator::wake>(*this));
    wakes_ = true;
    return false;
  }
  void wake() {
    wakes_ = false;
    grant(0);
  }

  const double issue_ns_ = 0;
  double next_issue_ns_ = 0;
  bool wakes_ = false;
  std::vector<RequestPool> pools_;  ///< by channel
};

}  // namespace kernbench::fabric
