// SPDX-License-Identifier: Apache-2.0
// Models: inter-PE queues behind a doorbell: a send or a receive reaches them doorbell_ns after its call, one call
// after the other. What happens in the queues is as in the project's, from which it derives.
#include <algorithm>
#include <deque>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe_ipcq.h"

namespace {
using namespace kernbench;

struct DoorbellParameters : PeIpcq::Parameters {
  double doorbell_ns = 0;
  template <class List>
  static void describe(List& list) {
    PeIpcq::Parameters::describe(list);
    list.add(&DoorbellParameters::doorbell_ns, "doorbell_ns", "ns", "of a call, before the next one").latency();
  }
};

class DoorbellIpcq : public PeIpcq {
 public:
  using Parameters = DoorbellParameters;
  DoorbellIpcq(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : PeIpcq(name, config, p), doorbell_ns_(p.doorbell_ns) {}
  static ImplSpec spec() { return spec_of<Parameters>("custom.doorbell_ipcq", "pe_ipcq", "queues behind a doorbell"); }

  void join(Pe& pe) override {
    pe_ = &pe;
    PeIpcq::join(pe);
  }
  tlm::tlm_sync_enum item_in(PeItem& item, PePort& in, tlm::tlm_phase& phase) override {
    if (item.segment) return PeIpcq::item_in(item, in, phase);  // of a message that comes or goes
    rung_ns_ = std::max(rung_ns_, timeline().now_ns()) + doorbell_ns_;
    held_.push_back({&item, &in});
    timeline().at(rung_ns_, front_order(*pe_), call<&DoorbellIpcq::rung>(*this));
    if (item.command->queue_call->kind == QueueCall::Kind::send) return tlm::TLM_ACCEPTED;  // END_REQ: it has its slots
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

 private:
  struct Held {
    PeItem* item;
    PePort* from;
  };
  void rung() {
    const Held next = held_.front();
    held_.pop_front();
    tlm::tlm_phase begin = tlm::BEGIN_REQ;
    PeIpcq::item_in(*next.item, *next.from, begin);
  }

  const double doorbell_ns_;
  Pe* pe_ = nullptr;
  std::deque<Held> held_;
  double rung_ns_ = 0;  ///< the last doorbell's end
};

KERNBENCH_REGISTER_COMPONENT(DoorbellIpcq)
}  // namespace
