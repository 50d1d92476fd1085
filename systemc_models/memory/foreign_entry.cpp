// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/foreign_entry.h"

namespace kernbench::memory {

ForeignEntry::ForeignEntry(FabricNode& node, tlm::tlm_bw_transport_if<>* backward)
    : ForeignEntry(std::make_unique<Initiator>(node), node, backward) {}

ForeignEntry::ForeignEntry(std::unique_ptr<Initiator> initiator, FabricNode& node, tlm::tlm_bw_transport_if<>* backward)
    : BaseProtocolTarget(node.owner(), *initiator, {0, true}), initiator_(std::move(initiator)) {
  set_backward(backward);
}

}  // namespace kernbench::memory
