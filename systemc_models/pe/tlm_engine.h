// SPDX-License-Identifier: Apache-2.0
// Models a PE's matrix or vector unit by a foreign model with a TLM-2.0 target socket (an RTL block in a wrapper, an
// engine of the user's platform), in place of pe_gemm or pe_math. A command or tile becomes writes of a register file
// and a doorbell (tlm_engine_registers.h, docs/tlm.md). The engine determines the time from the doorbell to its
// response or interrupt. Service: overhead_ns, then that time; a simple command takes at least the streaming time of
// its operands (compute_engine.h). Does not model what the engine omits, or several concurrent commands.
//
// Data: with `data: replay` the engine is used for time only, and Phase 2 computes. With `data: engine` it reads
// operands and writes the result through tcm_socket(), and Phase 1 and Phase 2 use its bytes. Pending operands are
// computed first. GEMM tiles of a composite share an accumulator. The vector unit times an epilogue's ops, and their
// results are computed as in Phase 2. An elementwise composite with an epilogue is refused. An error response, a status
// with kError, or an incomplete result is a fault of the kernel's command.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/compute_engine.h"
#include "kernbench/systemc_models/pe/tcm_window.h"
#include "kernbench/systemc_models/protocol/base_protocol_initiator.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench::pe {

struct TlmEngineParameters : ComputeParameters {
  std::string data = "replay", completion = "response", end_resp = "updated";
  uint64_t register_base = 0, max_bytes = 0;
  unsigned bus_width = 32;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&TlmEngineParameters::data, "data", "",
             "data: computed by Phase 2 (timing-only model), or by the engine through the TCM socket")
        .choices({"replay", "engine"});
    list.add(&TlmEngineParameters::completion, "completion", "",
             "completion signal of the engine: the response to the doorbell, or its interrupt")
        .choices({"response", "interrupt"});
    list.add(&TlmEngineParameters::register_base, "register_base", "bytes", "address of the first register")
        .multiple_of(8);
    list.add(&TlmEngineParameters::max_bytes, "max_bytes", "bytes",
             "largest write of registers that the engine takes; 0: no limit")
        .multiple_of(8)
        .max(1 << 30);
    describe_end_resp(list, &TlmEngineParameters::end_resp);
    describe_bus_width(list, &TlmEngineParameters::bus_width);
    describe_compute(list);
  }
};

class TlmEngine : public ComputeEngine {
 public:
  /// The engine's completion interrupt, for `completion: interrupt`: active high.
  sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt{"interrupt"};

  TlmEngine(sc_core::sc_module_name name, const ComponentConfig& config, const TlmEngineParameters&, Stage);

  /// The socket for the engine's target socket: a tlm_initiator_socket of `bus_width` bits.
  template <unsigned W = 32>
  OptionalInitiatorSocket<W>& socket() const {
    return socket_.as<W>();
  }
  /// The PE's TCM, for `data: engine`: a tlm_target_socket of `bus_width` bits for the engine's initiator.
  template <unsigned W = 32>
  OptionalTargetSocket<W>& tcm_socket() const {
    return tcm_socket_.as<W>();
  }

  // EngineRole.
  double service_ns(const PeItem&, const TcmRole&) override { return 0; }  ///< unknown: only the engine knows
  bool computes(const OpDesc&) const override;
  std::vector<std::string> waiting() const override;
  bool stands_for_foreign_model() const override { return true; }

 private:
  /// State of a result while the engine works on its op: one service, or a composite's tiles.
  struct Result {
    std::shared_ptr<const OpDesc> desc;
    std::vector<Bytes> operands;  ///< values, from PendingValues
    Bytes bytes;                  ///< of a composite: dense; of a GEMM the accumulator
    int64_t tiles_done = 0;
    bool failed = false;
  };
  struct Registers;
  enum class Step : uint8_t { idle, registers, doorbell, interrupt, status, clear };

  void end_of_elaboration() override;
  void start_of_simulation() override;
  Compute compute(const PeItem&) override;
  void begin(uint8_t unit, uint16_t server) override;
  void begin_command();
  void send_registers();
  /// All registers that describe the command: from kOps on.
  Bytes describe() const;
  void describe_command(Registers&) const;
  void describe_tile(Registers&) const;
  void open_window();
  void take_result();
  void put_tile(Result&, const Bytes& tile) const;
  static bool has_epilogue(const OpDesc&, bool per_k_tile);
  void give(Result&);
  void transfer(bool write, uint64_t offset, uint64_t first, uint64_t nbytes);
  void transfer_done(const ForeignTransfer&);
  void step_done();
  void read_status();
  void raised();
  void interrupted();
  void fault(const std::string& why);
  void complete();
  void completed();
  bool has_data() const;
  PeItem& current() const { return item_at(unit_, server_); }
  uint64_t tile_address() const;

  const Stage stage_;
  const bool computes_, interrupts_;
  const uint64_t register_base_, max_bytes_;
  System& system_;
  BaseProtocolInitiator initiator_;
  WideInitiatorSocket socket_;
  TcmWindow window_;
  WideTargetSocket tcm_socket_;

  // State of the item in service.
  uint8_t unit_ = 0;
  uint16_t server_ = 0;
  double begin_ns_ = 0;
  Work work_;
  Step step_ = Step::idle;
  bool raised_ = false, failed_ = false;
  Bytes image_;  ///< of the registers being written
  std::vector<std::unique_ptr<ForeignTransfer>> transfers_;
  size_t open_ = 0;
  /// Commands whose result this engine computes, until their last tile.
  std::unordered_map<const PeCommand*, Result> results_;
};

}  // namespace kernbench::pe
