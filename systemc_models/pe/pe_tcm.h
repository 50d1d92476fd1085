// SPDX-License-Identifier: Apache-2.0
// Models a PE's tightly coupled memory: its size, its two regions and its port bandwidths. The reserved region has the
// tile buffers of composites and limits the tiles in flight; the allocatable region has the handles of tl. Neither
// allocator can reach the other region (data rules §2). Addresses are local to the PE; [0, allocatable) belongs to tl.
// MB = 2^20 bytes; fractions are rounded down to bytes. Does not model banks or port conflicts: FETCH, STORE and
// streaming commands each have the full bandwidth. (examples/single_port_tcm is a TCM with conflicts.)
#pragma once

#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/roles.h"

namespace kernbench::pe {

struct PeTcmParameters : BlockParameters {
  double size_mb = 0, reserved_mb = 0, read_bw_gbs = 0, write_bw_gbs = 0;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeTcmParameters::size_mb, "size_mb", "MiB", "size").positive().required();
    list.add(&PeTcmParameters::reserved_mb, "reserved_mb", "MiB", "part reserved for the scheduler's tile buffers")
        .min(0)
        .direction(Direction::depth)
        .of(Limit::window)
        .required();
    list.add(&PeTcmParameters::read_bw_gbs, "read_bw_gbs", "GB/s", "read bandwidth, for FETCH and operands of commands")
        .rate(Resource::tcm)
        .area("sram_port", "port_bits", 8)
        .required();
    list.add(&PeTcmParameters::write_bw_gbs, "write_bw_gbs", "GB/s",
             "write bandwidth, for STORE and results of commands")
        .rate(Resource::tcm)
        .area("sram_port", "port_bits", 8)
        .required();
  }
};

class PeTcm : public Component, public PeBlock, public TcmRole {
  // Before the socket, to be near the members of base classes that each access reads.
  double read_bw_gbs_, write_bw_gbs_;
  uint64_t size_bytes_, reserved_bytes_;

 public:
  using Parameters = PeTcmParameters;
  CommandTargetSocket command_in{"command_in", *this};

  PeTcm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec();

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  void asked(PeItem& item, PePort&) override { item.answer_ns = access_ns(item.asked_bytes, item.asked_write); }

  // TcmRole.
  uint64_t reserved_bytes() const override { return reserved_bytes_; }
  uint64_t allocatable_bytes() const override { return size_bytes_ - reserved_bytes_; }
  FirstFitAllocator& allocator() override { return allocator_; }
  double access_ns(uint64_t nbytes, bool write) const override {
    return static_cast<double>(nbytes) / (write ? write_bw_gbs_ : read_bw_gbs_);
  }

 private:
  FirstFitAllocator allocator_;
};

}  // namespace kernbench::pe
