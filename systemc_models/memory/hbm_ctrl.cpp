// Models: `builtin.hbm_ctrl` and `builtin.sram`: one FIFO server, held for overhead + drain, so that a short request
// behind a long one waits (head-of-line blocking). Timing contract §2.
// Does not model: channels (see hbm_pc.cpp), banks, refresh.
#include <algorithm>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/memory_target.h"

namespace kernbench {
namespace {

class FifoMemory : public MemoryTarget {
 public:
  FifoMemory(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters& parameters)
      : MemoryTarget(name, config, parameters) {
    ahead_ = Ahead::all_in_order;
  }

  uint64_t address_period() const override { return 1; }
  double lone_service_ns(const Route& r, bool write, uint64_t, uint64_t nbytes, const Rows&) const override {
    return overhead_ns() + drain_ns(r, write, nbytes);
  }

 protected:
  Service serve(FabricTransaction& x) override {
    const double start = std::max(x.time_ns, free_ns_);
    const double drain = drain_ns(*x.route, x.write, x.nbytes);
    x.memory_queue_ns += start - x.time_ns;
    x.overhead_ns += overhead_ns();
    x.drain_ns += drain;
    free_ns_ = start + overhead_ns() + drain;
    return {start + overhead_ns(), free_ns_};
  }

 private:
  static double drain_ns(const Route& r, bool write, uint64_t nbytes) {
    const double bw = write ? r.write_bw : r.read_bw;
    return bw > 0 ? static_cast<double>(nbytes) / bw : 0;
  }
  double free_ns_ = 0;
};

class HbmCtrl : public FifoMemory {
 public:
  using Parameters = HbmParameters;
  HbmCtrl(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : FifoMemory(name, config, checked(parameters)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.hbm_ctrl", "hbm_ctrl", "HBM slice behind one FIFO server");
  }
};

class Sram : public FifoMemory {
 public:
  using Parameters = BlockParameters;
  Sram(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : FifoMemory(name, config, checked(parameters)) {}
  static ImplSpec spec() { return spec_of<Parameters>("builtin.sram", "sram", "shared SRAM: one FIFO server"); }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(HbmCtrl)
KERNBENCH_REGISTER_COMPONENT(Sram)

}  // namespace kernbench
