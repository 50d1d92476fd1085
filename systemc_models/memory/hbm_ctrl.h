// SPDX-License-Identifier: Apache-2.0
// Models `builtin.hbm_ctrl` and `builtin.sram`: one FIFO server that is occupied for overhead + drain, so a short
// request waits behind a long one (head-of-line blocking). Timing rules §2. With flits (§3) the same server works flit
// by flit. Does not model channels (see hbm_pc.h), banks or refresh.
#pragma once

#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::memory {

/// Time at which the server is free.
struct FifoState {
  double free_ns = 0;
};

class FifoMemory : public StatefulMemory<FifoState>, private FlitServers {
 public:
  using State = FifoState;
  FifoMemory(sc_core::sc_module_name name, const ComponentConfig& config, const MemoryParameters&);
  uint64_t address_period(uint64_t, uint64_t) const override { return 1; }
  const FlitServers* flit_servers() const override;

 protected:
  Service serve(State&, const Request&) const override;

 private:
  size_t count() const override { return 1; }
  size_t server_of(uint64_t) const override { return 0; }
  double service_ns(uint64_t, double bytes, double edge_bw_gbs) const override {
    return edge_bw_gbs > 0 ? bytes / edge_bw_gbs : 0;
  }
  double most_gbs(double edge_bw_gbs) const override { return edge_bw_gbs; }
};

class HbmCtrl : public FifoMemory {
 public:
  using Parameters = HbmParameters;
  HbmCtrl(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters = {})
      : FifoMemory(name, config, checked(parameters)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.hbm_ctrl", "hbm_ctrl", "HBM slice behind one FIFO server").memory("hbm");
  }
};

class Sram : public FifoMemory {
 public:
  using Parameters = MemoryParameters;
  Sram(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters = {})
      : FifoMemory(name, config, checked(parameters)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.sram", "sram", "shared SRAM: one FIFO server").memory("sram");
  }
};

}  // namespace kernbench::memory
