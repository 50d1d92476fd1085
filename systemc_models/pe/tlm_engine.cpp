// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/tlm_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/op/chain.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe_gemm.h"
#include "kernbench/systemc_models/pe/pe_math.h"
#include "kernbench/systemc_models/pe/tlm_engine_registers.h"

namespace kernbench::pe {

namespace reg = engine_registers;

TlmEngine::TlmEngine(sc_core::sc_module_name name, const ComponentConfig& config, const TlmEngineParameters& p,
                     Stage stage)
    : ComputeEngine(name, config, p, stage),
      stage_(stage),
      computes_(p.data == "engine"),
      interrupts_(p.completion == "interrupt"),
      register_base_(p.register_base),
      max_bytes_(p.max_bytes),
      system_(System::of(*this)),
      initiator_(timeline(), index(), id(), end_resp_named(p.end_resp)),
      socket_("socket", p.bus_width, initiator_),
      window_(*this),
      tcm_socket_("tcm_socket", p.bus_width, window_) {
  if (computes_) system_.keep_pending_values();
}

void TlmEngine::end_of_elaboration() {
  initiator_.set_forward(socket_.forward());
  window_.set_backward(tcm_socket_.backward());
  if (interrupt.size() == 0) return;
  SC_HAS_PROCESS(TlmEngine);
  SC_METHOD(raised);
  dont_initialize();
  sensitive << interrupt->posedge_event();
}

void TlmEngine::start_of_simulation() {
  const auto refuse = [this](const char* why) { throw std::runtime_error(id() + ": " + why); };
  if (!initiator_.forward()) refuse("no engine is bound to its socket; a platform with it needs an sc_main that does");
  if (interrupts_ && interrupt.size() == 0)
    refuse("nothing is bound to its interrupt; legal then: completion: response");
  if (!interrupts_ && interrupt.size() > 0)
    refuse("its interrupt is bound, and completion: response does not look at it");
  const bool reads_tcm = tcm_socket_.backward() != nullptr;
  if (computes_ && !reads_tcm)
    refuse("data: engine, but nothing is bound to its tcm_socket, by which the engine reads and writes");
  if (!computes_ && reads_tcm) refuse("its tcm_socket is bound, and data: replay has nothing to read there");
}

bool TlmEngine::computes(const OpDesc& d) const {
  if (!computes_) return false;
  const bool composite = d.type == CommandType::composite;
  const bool gemm = d.type == CommandType::gemm || (composite && d.op == "gemm");
  if (!gemm && d.type != CommandType::math && !composite) return false;
  if (gemm != (stage_ == Stage::gemm)) return false;
  const auto refuse = [&](const char* what) {
    throw KernelFault(d.where,
                      fmt::format("{}: {} has {}, which an engine with data: engine cannot be given; use commands "
                                  "of their own, or data: replay",
                                  id(), d.name, what));
  };
  // A chain's ops are one service, and their intermediate values are not stored.
  if (!gemm && !d.epilogue.empty()) refuse("an epilogue");
  if (d.op == Chain::kName) refuse("several ops");
  // The accumulator would have to become float between two tiles.
  if (gemm && !is_float(d.dtype_acc) && has_epilogue(d, true)) refuse("a per_k_tile epilogue on integers");
  return true;
}

std::vector<std::string> TlmEngine::waiting() const {
  std::vector<std::string> lines = ComputeEngine::waiting();
  switch (step_) {
    case Step::idle:
      break;
    case Step::registers:
      lines.push_back(id() + " waits for the engine's answer to the write of its registers");
      break;
    case Step::doorbell:
      lines.push_back(id() + " waits for the engine's answer to the doorbell");
      break;
    case Step::interrupt:
      lines.push_back(id() + " waits for the engine's interrupt");
      break;
    case Step::status:
    case Step::clear:
      lines.push_back(id() + " waits for the engine's answer after its interrupt");
      break;
  }
  return lines;
}

ComputeEngine::Compute TlmEngine::compute(const PeItem& item) {
  return {0, stage_ == Stage::gemm ? gemm_flops(item) : static_cast<double>(math_elements(item)), 0};
}

// ---- a service, step by step

void TlmEngine::begin(uint8_t unit, uint16_t server) {
  unit_ = unit;
  server_ = server;
  begin_ns_ = timeline().now_ns();
  work_ = work(item_at(unit, server));
  raised_ = failed_ = false;
  step_ = Step::registers;
  timeline().at(begin_ns_ + overhead_ns(), stage_order(pe(), stage_), call<&TlmEngine::begin_command>(*this));
}

void TlmEngine::begin_command() {
  if (has_data()) {
    try {
      open_window();
    } catch (const PendingValueError& e) {
      fault(e.what());
      return complete();
    }
  }
  send_registers();
}

void TlmEngine::send_registers() {
  image_ = describe();
  const uint64_t most = max_bytes_ ? max_bytes_ : reg::kEnd;
  for (uint64_t at = reg::kOps; at < reg::kEnd;) {
    const uint64_t n = std::min(reg::kEnd - at, most - at % most);
    transfer(true, at, at, n);
    at += n;
  }
}

/// Transfers bytes of image_ from `first` on, to or from the registers at `offset`.
void TlmEngine::transfer(bool write, uint64_t offset, uint64_t first, uint64_t nbytes) {
  auto t = std::make_unique<ForeignTransfer>();
  t->write = write;
  t->address = register_base_ + offset;
  t->data = image_.data() + first;
  t->nbytes = static_cast<unsigned>(nbytes);
  t->done = call<&TlmEngine::transfer_done>(*this, *t);
  ++open_;
  transfers_.push_back(std::move(t));
  initiator_.start(*transfers_.back());
}

void TlmEngine::transfer_done(const ForeignTransfer& t) {
  if (t.status != tlm::TLM_OK_RESPONSE && !failed_) {
    tlm::tlm_generic_payload answer;
    answer.set_response_status(t.status);
    fault(fmt::format("{} of {} bytes at {:#x}: answered {}", t.write ? "write" : "read", t.nbytes, t.address,
                      answer.get_response_string()));
  }
  if (--open_ > 0) return;
  transfers_.clear();
  if (failed_) return complete();
  step_done();
}

void TlmEngine::step_done() {
  switch (step_) {
    case Step::registers:
      step_ = Step::doorbell;
      image_ = {1, 0, 0, 0, 0, 0, 0, 0};
      return transfer(true, reg::kDoorbell, 0, image_.size());
    case Step::doorbell:
      if (!interrupts_) return complete();
      step_ = Step::interrupt;
      if (raised_) read_status();
      return;
    case Step::status:
      if (image_[0] & reg::kBusy) {  // another source on a shared interrupt line
        step_ = Step::interrupt;
        if (raised_) read_status();
        return;
      }
      if (image_[0] & reg::kError) fault("STATUS says error");
      step_ = Step::clear;
      image_ = {1, 0, 0, 0, 0, 0, 0, 0};
      return transfer(true, reg::kInterrupt, 0, image_.size());
    case Step::clear:
      return complete();
    case Step::idle:
    case Step::interrupt:
      break;  // no transfer is in flight
  }
}

void TlmEngine::read_status() {
  raised_ = false;
  step_ = Step::status;
  image_.assign(8, 0);
  transfer(false, reg::kStatus, 0, image_.size());
}

/// A rising edge. It is ignored if no interrupt is expected.
void TlmEngine::raised() {
  timeline().at(timeline().now_ns(), stage_order(pe(), stage_), call<&TlmEngine::interrupted>(*this));
}

void TlmEngine::interrupted() {
  if (step_ == Step::interrupt) return read_status();
  raised_ = step_ == Step::doorbell || step_ == Step::status;
}

/// Reports the command's failure to the kernel. The first fault of a command is kept.
void TlmEngine::fault(const std::string& why) {
  failed_ = true;
  const PeItem& item = current();
  const std::string op = item.to_string();
  if (item.command->fault.empty())
    item.command->fault = fmt::format("{}{}: {}", id(), op.empty() ? "" : ": " + op, why);
}

void TlmEngine::complete() {
  if (has_data()) take_result();
  const double end_ns = std::max(timeline().now_ns(), begin_ns_ + work_.ns);
  timeline().at(end_ns, stage_order(pe(), stage_), call<&TlmEngine::completed>(*this));
}

void TlmEngine::completed() {
  step_ = Step::idle;
  finish(unit_, server_, work_);
}

namespace {

class PeGemmTlm : public TlmEngine {
 public:
  using Parameters = TlmEngineParameters;
  PeGemmTlm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : TlmEngine(name, config, checked(parameters), Stage::gemm) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_gemm_tlm", "pe_gemm", "a foreign TLM-2.0 engine as matrix unit");
  }
};

class PeMathTlm : public TlmEngine {
 public:
  using Parameters = TlmEngineParameters;
  PeMathTlm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : TlmEngine(name, config, checked(parameters), Stage::math) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_math_tlm", "pe_math", "a foreign TLM-2.0 engine as vector unit");
  }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeGemmTlm)
KERNBENCH_REGISTER_COMPONENT(PeMathTlm)

}  // namespace kernbench::pe
