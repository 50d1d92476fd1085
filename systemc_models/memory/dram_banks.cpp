// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/dram_banks.h"

namespace kernbench::memory {
namespace {

void not_before(Cycle& earliest, Cycle cycle) {
  earliest = std::max(earliest, cycle);
}

}  // namespace

DramBanks::DramBanks(const DramTiming& timing, const DramGeometry& geometry)
    : timing_(timing),
      geometry_(geometry),
      banks_of_stack_(geometry.banks_of_stack_id()),
      banks_(geometry.banks_of_channel()),
      groups_(banks_.size() / geometry.banks),
      stacks_(banks_.size() / banks_of_stack_) {
  for (Stack& s : stacks_) s.last_acts.fill(-Cycle{timing.tFAW});
  for (uint32_t b = 0; b < banks_.size(); ++b) {
    banks_[b].group = b / geometry.banks;
    banks_[b].stack = b / banks_of_stack_;
    banks_[b].first_stack = banks_[b].stack / geometry.stack_ids * geometry.stack_ids;
  }
}

Cycle DramBanks::earliest_pre_all(uint32_t stack) const {
  Cycle latest = 0;
  for (uint32_t b = stack * banks_of_stack_; b < (stack + 1) * banks_of_stack_; ++b) {
    if (banks_[b].open_row != kClosed) not_before(latest, banks_[b].pre);
  }
  return latest;
}

Cycle DramBanks::earliest_ref(uint32_t stack) const {
  Cycle latest = 0;
  for (uint32_t b = stack * banks_of_stack_; b < (stack + 1) * banks_of_stack_; ++b) not_before(latest, banks_[b].act);
  return latest;
}

/// The fifth ACT comes at least tFAW after the first.
void DramBanks::count_act(Stack& s, Cycle cycle) {
  s.last_acts[s.oldest_act] = cycle;
  s.oldest_act = (s.oldest_act + 1) % s.last_acts.size();
  not_before(s.act, s.last_acts[s.oldest_act] + timing_.tFAW);
}

void DramBanks::act(uint32_t bank, Cycle cycle, uint32_t row) {
  Bank& b = banks_[bank];
  Stack& s = stacks_[b.stack];
  b.open_row = row;
  ++s.open;
  b.act = cycle + timing_.tRC;
  b.column = {cycle + timing_.tRCDRD, cycle + timing_.tRCDWR};
  b.pre = cycle + timing_.tRAS;
  not_before(groups_[b.group].act, cycle + timing_.tRRDL);
  not_before(s.act, cycle + timing_.tRRDS);
  count_act(s, cycle);
}

void DramBanks::column(uint32_t bank, bool write, bool close_row, Cycle cycle) {
  Bank& b = banks_[bank];
  const Cycle data_end = cycle + timing_.tCWL + timing_.tBURST;
  Group& g = groups_[b.group];
  not_before(g.column[write], cycle + timing_.tCCDL);
  if (write) not_before(g.column[0], data_end + timing_.tWTRL);
  const Cycle other_way = write ? data_end + timing_.tWTRS : cycle + timing_.tRTW;
  for (uint32_t s = b.first_stack; s < b.first_stack + geometry_.stack_ids; ++s) {
    std::array<Cycle, 2>& column = stacks_[s].column;
    not_before(column[write], cycle + (s == b.stack ? timing_.tCCDS : timing_.tCCDR));
    not_before(column[!write], other_way);
  }
  not_before(b.pre, write ? data_end + timing_.tWR : cycle + timing_.tRTP);
  if (close_row) close(b, b.pre);
}

void DramBanks::close(Bank& b, Cycle cycle) {
  b.open_row = kClosed;
  --stacks_[b.stack].open;
  not_before(b.act, cycle + timing_.tRP);
}

void DramBanks::pre(uint32_t bank, Cycle cycle) {
  close(banks_[bank], cycle);
}

void DramBanks::pre_all(uint32_t stack, Cycle cycle) {
  for (uint32_t b = stack * banks_of_stack_; b < (stack + 1) * banks_of_stack_; ++b) {
    if (banks_[b].open_row != kClosed) close(banks_[b], cycle);
  }
}

void DramBanks::ref(uint32_t stack, Cycle cycle) {
  for (uint32_t b = stack * banks_of_stack_; b < (stack + 1) * banks_of_stack_; ++b)
    not_before(banks_[b].act, cycle + timing_.tRFC);
}

/// Inside the bank, a refresh is an ACT and a PRE. For other banks it counts as an ACT.
void DramBanks::ref_single(uint32_t bank, Cycle cycle) {
  Bank& b = banks_[bank];
  Stack& s = stacks_[b.stack];
  b.act = cycle + timing_.tRFCSB;
  not_before(s.act, cycle + timing_.tRREFD);
  count_act(s, cycle);
}

void DramBanks::forget_rows() {
  for (Bank& b : banks_) b.open_row = kClosed;
  for (Stack& s : stacks_) s.open = 0;
}

}  // namespace kernbench::memory
