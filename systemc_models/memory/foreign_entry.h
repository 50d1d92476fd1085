// SPDX-License-Identifier: Apache-2.0
// The entry of a foreign initiator's payload at a block that is not a port: the target socket of a router or a memory.
// The block acts as an initiator of its own, with any number of transactions in flight, and DMI.
#pragma once

#include "kernbench/systemc_models/fabric/pooled_initiator.h"
#include "kernbench/systemc_models/memory/base_protocol_target.h"

namespace kernbench::memory {

class ForeignEntry : public BaseProtocolTarget {
 public:
  ForeignEntry(FabricNode& node, tlm::tlm_bw_transport_if<>* backward);

 private:
  class Initiator : public PooledInitiator {
   public:
    explicit Initiator(FabricNode& node) : PooledInitiator(node, RequestPool::kUnlimited) {}

   private:
    Order done_order(const FabricTransaction&) const override { return Order(Order::kEngines, owner().index(), 0); }
  };
  ForeignEntry(std::unique_ptr<Initiator>, FabricNode&, tlm::tlm_bw_transport_if<>* backward);
  std::unique_ptr<Initiator> initiator_;
};

}  // namespace kernbench::memory
