// What the blocks of one PE share beside their sockets.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <string>

#include "kernbench/systemc_models/core/ring.h"
#include "kernbench/systemc_models/pe/observers.h"
#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench {

/// Sockets of the protocol inside a PE: any number of peers.
template <class Module>
using CommandTargetSocket =
    tlm_utils::multi_passthrough_target_socket<Module, 32, pe_command_protocol, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;
template <class Module>
using CommandInitiatorSocket =
    tlm_utils::multi_passthrough_initiator_socket<Module, 32, pe_command_protocol, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

class Engine;
class PeMmu;
class PeTcm;
class PeScheduler;

/// The compute slot that GEMM and MATH share: one holder, the others in order of request (timing contract §5).
class AccelSlot {
 public:
  struct Request {
    Engine* engine = nullptr;
    uint8_t unit = 0;
    uint16_t server = 0;
  };
  void request(Request);
  void release();

 private:
  bool taken_ = false;
  Ring<Request, 2> waiting_;
};

/// Who hands items to an engine: told when one that was refused has got its place.
class ItemSender {
 public:
  virtual ~ItemSender() = default;
  virtual void accepted(PeItem&) = 0;
};

struct Pe {
  uint32_t order = 0;  ///< index of its first node: ties between PEs go by it
  uint32_t index = 0;  ///< in compiled order of the PEs
  PeObserver* observer = nullptr;
  PeScheduler* scheduler = nullptr;
  PeTcm* tcm = nullptr;
  double tcm_read_bw_gbs = 0, tcm_write_bw_gbs = 0;
  PeMmu* mmu = nullptr;  ///< null: the PE knows physical addresses only
  AccelSlot accel_slot;
  uint64_t sram_base = 0, sram_bytes = 0;  ///< of the cube's shared SRAM; 0: it has none
  uint32_t cube = 0;                       ///< index of its cube
  std::string id;                          ///< "sip0.cube0.pe0"
  PeObservers observers{observer};         ///< who is told: sets `observer`
};

/// Order of what happens in PEs at one instant: PE by PE, stages from the back, then what comes from the front.
inline Order stage_order(const Pe& pe, Stage s) {
  return Order(Order::kEngines, pe.order, static_cast<uint64_t>(kStages - 1 - static_cast<int>(s)));
}
inline Order front_order(const Pe& pe) {
  return Order(Order::kEngines, pe.order, kStages);
}

}  // namespace kernbench
