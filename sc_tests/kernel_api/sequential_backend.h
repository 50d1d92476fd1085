// SPDX-License-Identifier: Apache-2.0
// A system without time for tests of tl and of kernels: PEs with TCMs and HBM slices over one memory image. Commands
// take effect at once and are stored as records. Loads arrive when they are waited for, so that restrictions on
// in-flight loads can be tested. Phase 2 can replay the records.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/kernel_api/first_fit_allocator.h"
#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/graph/pending_values.h"
#include "kernbench/phase2/log/op_record.h"

namespace kernbench::testing {

struct SequentialSystem {
  MemoryImage memory;
  PendingValues values;
  MaterializeLimits limits;
  std::vector<OpRecord> records;
  uint64_t clock = 0;
  static constexpr uint64_t kSliceStride = uint64_t{1} << 32;
  static constexpr uint64_t kSliceBytes = uint64_t{1} << 30;

  static uint64_t slice_base(uint32_t pe) { return pe * kSliceStride; }
  uint32_t slices = 64;
};

class SequentialBackend : public PeBackend {
 public:
  explicit SequentialBackend(SequentialSystem& system, uint32_t pe = 0, uint64_t tcm_bytes = 1 << 20)
      : system_(system), pe_(pe), id_("sip0.cube0.pe" + std::to_string(pe)), tcm_(0, tcm_bytes) {}

  uint32_t pe_index() const override { return pe_; }
  const std::string& pe_id() const override { return id_; }
  uint32_t cube_index() const override { return 0; }

  Ticket submit(const std::shared_ptr<OpDesc>& desc) override {
    desc->pe = pe_;
    desc->seq = commands.size();
    desc->submit_ns = static_cast<double>(++system_.clock);
    commands.push_back(desc);
    const Ticket ticket = commands.size();
    OpRecord r;
    r.op_id = system_.records.size() + 1;
    r.t_start = r.t_end = desc->submit_ns;
    r.desc = desc;
    if (desc->type == CommandType::load) {
      in_flight_[ticket] = system_.records.size();
    } else if (run_ahead) {
      late_[ticket] = desc;
    } else {
      system_.values.apply(desc, system_.memory);
      if (hold_stores && desc->type == CommandType::store) busy.insert(ticket);
    }
    system_.records.push_back(std::move(r));
    return ticket;
  }

  void wait(Ticket t) override {
    waits.push_back(t);
    catch_up(t);
    busy.erase(t);
    const auto it = in_flight_.find(t);
    if (it == in_flight_.end()) return;
    OpRecord& r = system_.records[it->second];
    in_flight_.erase(it);
    r.t_end = static_cast<double>(++system_.clock);
    system_.values.apply(r.desc, system_.memory);
  }

  void materialize(const std::shared_ptr<OpDesc>& desc) override {
    catch_up(~Ticket{0});
    desc->pe = pe_;
    desc->seq = commands.size();
    desc->submit_ns = static_cast<double>(++system_.clock);
    commands.push_back(desc);
    if (!desc->data) {
      auto what = std::make_shared<Materialization>();
      Bytes bytes(desc->output.nbytes());
      try {
        system_.values.read(system_.memory, MemoryImage::key_of(desc->output), desc->output.addr, bytes.data(),
                            bytes.size(), 0, system_.limits, what.get());
      } catch (const PendingValueError& e) {
        throw KernelFault(e.what());
      }
      desc->data = std::make_shared<const Bytes>(std::move(bytes));
      desc->materialized = std::move(what);
    }
    apply_effect(desc, system_.memory);
    OpRecord r;
    r.op_id = system_.records.size() + 1;
    r.t_start = r.t_end = desc->submit_ns;
    r.desc = desc;
    system_.records.push_back(std::move(r));
  }

  bool done(Ticket t) const override { return in_flight_.count(t) == 0 && late_.count(t) == 0 && busy.count(t) == 0; }

  uint64_t tcm_alloc(uint64_t n) override {
    const auto addr = tcm_.allocate(n);
    if (!addr.has_value()) {
      throw KernelFault("TCM of " + id_ + " is exhausted: " + std::to_string(n) + " bytes asked, " +
                        std::to_string(tcm_.free_bytes()) + " free");
    }
    return *addr;
  }

  void tcm_free(uint64_t addr) override {
    const auto range = tcm_.find(addr);
    system_.memory.erase({Space::tcm, pe_}, addr, range->size);
    tcm_.free(addr);
  }

  void check_range(Space space, uint64_t addr, uint64_t n) const override {
    const uint64_t slice = addr / SequentialSystem::kSliceStride;
    const uint64_t offset = addr % SequentialSystem::kSliceStride;
    if (space == Space::hbm && slice < system_.slices && offset + n <= SequentialSystem::kSliceBytes) return;
    throw KernelFault(std::string(name_of(space)) + " address " + std::to_string(addr) + " (" + std::to_string(n) +
                      " bytes) is in no memory");
  }

  std::string owner_of(Space, uint64_t addr) const override {
    return "hbm" + std::to_string(addr / SequentialSystem::kSliceStride);
  }
  MemoryImage& memory() override { return system_.memory; }

  const FirstFitAllocator& tcm() const { return tcm_; }
  size_t loads_in_flight() const { return in_flight_.size(); }

  std::vector<std::shared_ptr<OpDesc>> commands;
  std::vector<Ticket> waits;
  std::set<Ticket> busy;  ///< with hold_stores: stores that are not done until they are waited for
  bool hold_stores = false;
  bool run_ahead = false;  ///< effects of submissions are delayed until a later wait needs them
  /// With run_ahead: applies the effects of all submissions up to a ticket.
  void catch_up(Ticket t) {
    while (!late_.empty() && late_.begin()->first <= t) {
      system_.values.apply(late_.begin()->second, system_.memory);
      late_.erase(late_.begin());
    }
  }

 private:
  SequentialSystem& system_;
  uint32_t pe_;
  std::string id_;
  FirstFitAllocator tcm_;
  std::map<Ticket, size_t> in_flight_;
  std::map<Ticket, std::shared_ptr<const OpDesc>> late_;
};

}  // namespace kernbench::testing
