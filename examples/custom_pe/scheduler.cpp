// SPDX-License-Identifier: Apache-2.0
// Models: a scheduler that lets no command begin before the one submitted before it is complete. How it dispatches one,
// and feeds its tiles, is as in the project's, from which it derives.
#include <deque>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe_scheduler.h"

namespace {
using namespace kernbench;

class InOrderScheduler : public PeScheduler {
 public:
  using PeScheduler::PeScheduler;
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.in_order_scheduler", "pe_scheduler", "one command after the other");
  }

  tlm::tlm_sync_enum item_in(PeItem& item, PePort& in, tlm::tlm_phase& phase) override {
    if (PeScheduler::outstanding() == 0) return PeScheduler::item_in(item, in, phase);
    held_.push_back({&item, &in});
    phase = tlm::END_REQ;  // taken: what submits need not wait
    return tlm::TLM_UPDATED;
  }
  tlm::tlm_sync_enum answer_in(PeItem& item, PePort& out, tlm::tlm_phase& phase) override {
    const tlm::tlm_sync_enum answer = PeScheduler::answer_in(item, out, phase);
    if (PeScheduler::outstanding() == 0 && !held_.empty()) {
      const Held next = held_.front();
      held_.pop_front();
      tlm::tlm_phase begin = tlm::BEGIN_REQ;
      PeScheduler::item_in(*next.item, *next.from, begin);
    }
    return answer;
  }
  size_t outstanding() const override { return PeScheduler::outstanding() + held_.size(); }

 private:
  struct Held {
    PeItem* item;
    PePort* from;
  };
  std::deque<Held> held_;
};

KERNBENCH_REGISTER_COMPONENT(InOrderScheduler)
}  // namespace
