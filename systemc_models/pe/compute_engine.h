// The base of the engines that compute: they hold the PE's accel_slot for their service, and a simple command streams
// its operands and its result through the TCM while it is computed, for which they ask pe_tcm:
//   overhead_ns + max(compute, bytes in through the TCM's read port, bytes out through its write port)
// Timing contract §5. A tile's token takes compute alone: FETCH and STORE move its bytes.
// Does not model: which operands are needed first: all accesses begin with the computation.
#pragma once

#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench {

struct ComputeParameters : EngineParameters {
  std::string shared_resource = "accel_slot";
  bool stream_operands = true;
  template <class List>
  static void describe_compute(List& list) {
    list.add(&ComputeParameters::stream_operands, "stream_operands", "",
             "simple commands take at least the time in which the TCM reads their operands and writes their result")
        .faster_if(false)
        .of(Resource::tcm)
        .costs(CostClass::hardware);  // an engine that waits for no operands is another one
    describe_queue(list);
    list.add(&ComputeParameters::shared_resource, "shared_resource", "",
             "the compute slot that pe_gemm and pe_math share")
        .choices({"accel_slot"});
  }
};

class ComputeEngine : public Engine {
 public:
  /// Serves the one stage; with `needs_slot` it computes while no other engine of the PE that needs it does.
  ComputeEngine(sc_core::sc_module_name name, const ComponentConfig& config, const ComputeParameters&, Stage,
                bool needs_slot = true);

  // EngineRole.
  double service_ns(const PeItem& item, const TcmRole&) override;
  ServiceParts service_parts() const override { return parts_; }

 protected:
  struct Compute {
    double ns = 0;  ///< without overhead
    double flops = 0;
    double peak_ns = 0;  ///< as Work's
  };
  virtual Compute compute(const PeItem&) = 0;
  Work work(PeItem&) final;
  PePort& tcm() const { return *tcm_; }

 private:
  /// Of the item's service, by what tells how long bytes take through a port of the TCM.
  template <class AccessNs>
  ServiceParts parts(const PeItem&, const Compute&, AccessNs access_ns) const;
  bool streams(const PeItem& item) const { return !item.token && stream_operands_ && tcm_; }

  ServiceParts parts_;  ///< of the item in service
  bool stream_operands_;
};

}  // namespace kernbench
