// SPDX-License-Identifier: Apache-2.0
// Models: a TCM with an access latency beside its bandwidth, the same for reads and writes.
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/roles.h"

namespace {
using namespace kernbench;

struct LatencyTcmParameters : BlockParameters {
  uint64_t allocatable_kb = 0, reserved_kb = 0;
  double latency_ns = 0, bw_gbs = 0;
  template <class List>
  static void describe(List& list) {
    list.add(&LatencyTcmParameters::allocatable_kb, "allocatable_kb", "KB", "for what kernels allocate")
        .count()
        .required();
    list.add(&LatencyTcmParameters::reserved_kb, "reserved_kb", "KB", "for tile buffers")
        .depth(Limit::window)
        .required();
    list.add(&LatencyTcmParameters::latency_ns, "latency_ns", "ns", "of an access, beside its bytes")
        .latency(Resource::tcm);
    list.add(&LatencyTcmParameters::bw_gbs, "bw_gbs", "GB/s", "of either port")
        .positive()
        .direction(Direction::rate)
        .of(Resource::tcm)
        .required();
  }
};

class LatencyTcm : public Component, public PeBlock, public TcmRole {
 public:
  using Parameters = LatencyTcmParameters;
  CommandTargetSocket command_in{"command_in", *this};

  LatencyTcm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Component(name, config, checked(p)),
        PeBlock(static_cast<Component&>(*this)),
        parameters_(p),
        allocator_(0, allocatable_bytes()) {}
  static ImplSpec spec() { return spec_of<Parameters>("custom.latency_tcm", "pe_tcm", "TCM with an access latency"); }

  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  void asked(PeItem& item, PePort&) override {  // by pe_fetch_store, and by engines whose operands stream
    item.answer_ns = access_ns(item.asked_bytes, item.asked_write);
  }

  uint64_t reserved_bytes() const override { return parameters_.reserved_kb << 10; }
  uint64_t allocatable_bytes() const override { return parameters_.allocatable_kb << 10; }
  FirstFitAllocator& allocator() override { return allocator_; }
  double access_ns(uint64_t nbytes, bool /*write*/) const override {
    return parameters_.latency_ns + static_cast<double>(nbytes) / parameters_.bw_gbs;
  }

 private:
  const Parameters parameters_;
  FirstFitAllocator allocator_;
};

KERNBENCH_REGISTER_COMPONENT(LatencyTcm)
}  // namespace
