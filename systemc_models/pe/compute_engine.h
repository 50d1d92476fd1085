// SPDX-License-Identifier: Apache-2.0
// Base class of computing engines. They hold the PE's accel_slot during service. A simple command streams its operands
// and result through the TCM while it is computed, so its service queries pe_tcm:
//   overhead_ns + max(compute, bytes in through the TCM's read port, bytes out through its write port)
// Timing rules §5. A tile's token takes only the compute time: FETCH and STORE move its bytes. Does not model which
// operands are needed first: all accesses begin with the computation.
#pragma once

#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench::pe {

struct ComputeParameters : EngineParameters {
  std::string shared_resource = "accel_slot";
  bool stream_operands = true;
  template <class List>
  static void describe_compute(List& list) {
    list.add(&ComputeParameters::stream_operands, "stream_operands", "",
             "a simple command takes at least the time that the TCM needs for its operands and result")
        .faster_if(false)
        .of(Resource::tcm)
        .costs(CostClass::hardware);  // an engine that does not wait for operands is different hardware
    describe_queue(list);
    list.add(&ComputeParameters::shared_resource, "shared_resource", "",
             "mutual exclusion: the compute slot that pe_gemm and pe_math share")
        .choices({"accel_slot"});
  }
};

class ComputeEngine : public Engine {
 public:
  /// Serves one stage; with `needs_slot`, it excludes other engines of the PE with `needs_slot` while it computes.
  ComputeEngine(sc_core::sc_module_name name, const ComponentConfig& config, const ComputeParameters&, Stage,
                bool needs_slot = true);

  // EngineRole.
  double service_ns(const PeItem& item, const TcmRole&) override;
  ServiceParts service_parts() const override { return parts_; }

 protected:
  struct Compute {
    double ns = 0;  ///< without overhead
    double flops = 0;
    double peak_ns = 0;  ///< as in Work
  };
  virtual Compute compute(const PeItem&) = 0;
  Work work(PeItem&) final;
  PePort& tcm() const { return *tcm_; }

 private:
  /// Service of the item, given a function for the time of bytes through a TCM port.
  template <class AccessNs>
  ServiceParts parts(const PeItem&, const Compute&, AccessNs access_ns) const;
  bool streams(const PeItem& item) const { return !item.token && stream_operands_ && tcm_; }

  ServiceParts parts_;  ///< of the item in service
  bool stream_operands_;
};

}  // namespace kernbench::pe
