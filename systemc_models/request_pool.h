// A FIFO channel of memory requests with a number of servers, each held from grant to completion (timing contract §2).
#pragma once

#include <cstdint>
#include <deque>

#include "kernbench/systemc_models/fabric_initiator.h"

namespace kernbench {

class RequestPool {
 public:
  static constexpr uint32_t kUnlimited = 0xffffffffu;
  explicit RequestPool(uint32_t servers) : idle_(servers) {}

  /// Queues the request.
  void push(MemoryRequest& r) { waiting_.push_back(&r); }
  /// The next request to grant, or null; takes a server.
  MemoryRequest* take() {
    if (waiting_.empty() || idle_ == 0) return nullptr;
    MemoryRequest* r = waiting_.front();
    waiting_.pop_front();
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

}  // namespace kernbench
