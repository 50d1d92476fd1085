// Models: `builtin.hbm_ctrl` and `builtin.sram`: one FIFO server, held for overhead + drain, so that a short request
// behind a long one waits (head-of-line blocking). Timing contract §2; with flits §3: the same server, flit by flit.
// Does not model: channels (see hbm_pc.h), banks, refresh.
#pragma once

#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench {

class FifoMemory : public MemoryTarget, private FlitServers {
 public:
  FifoMemory(sc_core::sc_module_name name, const ComponentConfig& config, const BufferParameters&);
  uint64_t address_period(uint64_t, uint64_t) const override { return 1; }
  double lone_service_ns(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const override;
  /// What a class derived from it takes more, it takes before its data.
  double lone_header_ns(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const override;
  const FlitServers* flit_servers() const override;

 protected:
  Service serve(FabricTransaction& x) override;

 private:
  size_t count() const override { return 1; }
  size_t server_of(uint64_t) const override { return 0; }
  double service_ns(uint64_t, double bytes, double edge_bw_gbs) const override {
    return edge_bw_gbs > 0 ? bytes / edge_bw_gbs : 0;
  }
  double most_gbs(double edge_bw_gbs) const override { return edge_bw_gbs; }

  double free_ns_ = 0;
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
  using Parameters = BufferParameters;
  Sram(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters = {})
      : FifoMemory(name, config, checked(parameters)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.sram", "sram", "shared SRAM: one FIFO server").memory("sram");
  }
};

}  // namespace kernbench
