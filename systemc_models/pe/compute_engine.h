// The base of the engines that compute: they hold the PE's accel_slot for their service, and a simple command streams
// its operands and its result through the TCM while it is computed:
//   overhead_ns + max(compute, bytes in / TCM's read bandwidth, bytes out / TCM's write bandwidth)
// Timing contract §5. A tile's token takes compute alone: FETCH and STORE move its bytes.
// Does not model: ports that commands and tiles contend for.
#pragma once

#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench {

struct ComputeParameters : EngineParameters {
  std::string shared_resource = "accel_slot";
  bool stream_operands = true;
  template <class List>
  static void describe_compute(List& list) {
    list.add(&ComputeParameters::stream_operands, "stream_operands", "",
             "simple commands take at least the time in which the TCM reads their operands and writes their result");
    describe_queue(list);
    list.add(&ComputeParameters::shared_resource, "shared_resource", "",
             "the compute slot that pe_gemm and pe_math share")
        .choices({"accel_slot"});
  }
};

class ComputeEngine : public Engine {
 public:
  /// Serves the one stage.
  ComputeEngine(sc_core::sc_module_name name, const ComponentConfig& config, const ComputeParameters&, Stage);

  // EngineRole.
  double service_ns(PeItem& item) override { return work(item).ns; }
  ServiceParts service_parts(const PeItem& item) override { return parts(item, compute(item)); }

 protected:
  struct Compute {
    double ns = 0;  ///< without overhead
    double flops = 0;
    double peak_ns = 0;  ///< as Work's
  };
  virtual Compute compute(const PeItem&) = 0;
  Work work(PeItem&) final;

 private:
  ServiceParts parts(const PeItem&, const Compute&) const;

  bool stream_operands_;
};

}  // namespace kernbench
