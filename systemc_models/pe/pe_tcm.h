// Models: a PE's tightly coupled memory: its size, its two regions and its port bandwidths. The reserved region holds
// the tile buffers of composites and bounds the tiles in flight; the allocatable region holds tl's handles; neither
// allocator can reach the other region (data contract §2). Addresses are local to the PE: [0, allocatable) is tl's.
// Does not model: banks, port conflicts: FETCH, STORE and the commands that stream each have the whole bandwidth. (One
// of its own that does: examples/single_port_tcm.) MB = 2^20 bytes, fractions rounded down to bytes.
#pragma once

#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/roles.h"

namespace kernbench {

struct PeTcmParameters : BlockParameters {
  double size_mb = 0, reserved_mb = 0, read_bw_gbs = 0, write_bw_gbs = 0;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeTcmParameters::size_mb, "size_mb", "MB", "size").positive().required();
    list.add(&PeTcmParameters::reserved_mb, "reserved_mb", "MB", "part that only the scheduler uses, for tile buffers")
        .min(0)
        .direction(Direction::depth)
        .of(Limit::window)
        .required();
    list.add(&PeTcmParameters::read_bw_gbs, "read_bw_gbs", "GB/s",
             "bandwidth of FETCH, and of the operands of commands")
        .rate(Resource::tcm)
        .area("sram_port", "port_bits", 8)
        .required();
    list.add(&PeTcmParameters::write_bw_gbs, "write_bw_gbs", "GB/s",
             "bandwidth of STORE, and of the results of commands")
        .rate(Resource::tcm)
        .area("sram_port", "port_bits", 8)
        .required();
  }
};

class PeTcm : public Component, public PeBlock, public TcmRole {
  // Before the socket, so that it is beside what the base classes have for every access.
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

}  // namespace kernbench
