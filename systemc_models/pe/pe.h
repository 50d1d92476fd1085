// SPDX-License-Identifier: Apache-2.0
// A PE: the shared state of its blocks, beside their sockets.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/ring.h"
#include "kernbench/systemc_models/core/timed_call.h"
#include "kernbench/systemc_models/pe/observers.h"
#include "kernbench/systemc_models/pe/roles.h"

namespace kernbench::core {
class Component;
}

namespace kernbench::pe {

/// The compute slot that GEMM and MATH share: one holder; others wait in order of request (timing rules §5).
class AccelSlot {
 public:
  class User {
   public:
    virtual ~User() = default;
    /// The slot is granted to the requester; `unit` and `server` are those of the request.
    virtual void slot_granted(uint8_t unit, uint16_t server) = 0;
  };
  void request(User&, uint8_t unit, uint16_t server);
  void release();

 private:
  struct Request {
    User* user = nullptr;
    uint8_t unit = 0;
    uint16_t server = 0;
  };
  void grant(const Request&);
  bool taken_ = false;
  Ring<Request, 2> waiting_;
};

struct Pe {
  Pe();
  ~Pe();

  uint32_t order = 0;  ///< index of its first node: breaks ties between PEs
  uint32_t index = 0;  ///< in compiled order of the PEs
  uint32_t dma = 0;    ///< index of its pe_dma, where routes of its memory traffic begin
  PeObserver* observer = nullptr;
  AccelSlot accel_slot;
  // Its blocks; null if there is none of that kind.
  CpuRole* cpu = nullptr;
  SchedulerRole* scheduler = nullptr;
  TcmRole* tcm = nullptr;
  MmuRole* mmu = nullptr;  ///< none: physical addresses only
  IpcqRole* ipcq = nullptr;
  struct Engine {
    Component* block;
    EngineRole* role;
    uint32_t index;  ///< of its node
  };
  std::vector<Engine> engines;           ///< ordered by the first stages of their kinds
  std::map<std::string, Stage> own_ops;  ///< MATH ops whose simple commands go to another stage than MATH
  std::unique_ptr<KernelRunner> runner;  ///< null: blocks for running kernels are missing

  uint64_t sram_base = 0, sram_bytes = 0;  ///< of the cube's shared SRAM; 0: none
  uint32_t cube = 0;                       ///< index of its cube
  std::string id;                          ///< "sip0.cube0.pe0"
  PeObservers observers{observer};         ///< sets `observer`

  /// The stage for a command that is not a composite; op: of MATH.
  Stage stage_of(CommandType type, const std::string& op) const {
    const auto own = type == CommandType::math ? own_ops.find(op) : own_ops.end();
    return own == own_ops.end() ? kernbench::stage_of(type) : own->second;
  }
  /// The engine for a stage; std::out_of_range if there is none.
  const Component& engine_at(Stage) const;
};

/// Order of events in PEs at one instant: PE by PE; a tile's stages from the last to the first, with user-defined
/// stages; then events from the front. Within one stage by the number of the server.
inline Order stage_order(const Pe& pe, Stage s, uint16_t server = 0) {
  const int i = static_cast<int>(s);
  return Order(Order::kEngines, pe.order,
               static_cast<uint64_t>(i < kTileStages ? kTileStages - 1 - i : i) << 16 | server);
}
/// Order of servers that take new segments of inter-PE queues at one instant.
enum class QueueTurn : uint8_t { comm, reader };
inline Order queue_order(const Pe& pe, QueueTurn turn) {
  return Order(Order::kQueues, pe.order, static_cast<uint64_t>(turn));
}
inline Order front_order(const Pe& pe) {
  return Order(Order::kEngines, pe.order, uint64_t{kMostStages} << 16);
}

}  // namespace kernbench::pe
