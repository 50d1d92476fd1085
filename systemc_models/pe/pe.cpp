// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe.h"

#include "kernbench/systemc_models/pe/kernel_runner.h"

namespace kernbench::pe {

Pe::Pe() = default;

Pe::~Pe() = default;

void AccelSlot::grant(const Request& r) {
  taken_ = true;
  r.user->slot_granted(r.unit, r.server);
}

void AccelSlot::request(User& user, uint8_t unit, uint16_t server) {
  const Request r{&user, unit, server};
  taken_ ? waiting_.push_back(r) : grant(r);
}

void AccelSlot::release() {
  taken_ = false;
  if (waiting_.empty()) return;
  const Request r = waiting_.front();
  waiting_.pop_front();
  grant(r);
}

}  // namespace kernbench::pe
