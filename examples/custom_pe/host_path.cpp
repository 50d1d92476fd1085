// SPDX-License-Identifier: Apache-2.0
// Models: processors on the host's way to the PEs that take time for each message, one after the other: an io_cpu that
// decodes a launch before it fans it out, and an m_cpu that does so too and has to wake up first where it has been
// idle; and a PCIe endpoint that sends data on in packets, each of which costs.
#include <algorithm>
#include <limits>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/host/io_cpu.h"
#include "kernbench/systemc_models/host/m_cpu.h"
#include "kernbench/systemc_models/host/pcie_ep.h"

namespace {
using namespace kernbench;

/// A message that comes goes on at a later time, at which what is downstream counts from.
void pass_on_at(Timeline& timeline, double ns, ControlMessage& m, const TimedCall& pass_on) {
  m.late(ns - timeline.now_ns());
  timeline.at(ns, ControlMessage::order(), pass_on);
}

struct DecodingIoCpuParameters : RouterParameters {
  double decode_ns = 0;
  template <class List>
  static void describe(List& list) {
    RouterParameters::describe(list);
    list.add(&DecodingIoCpuParameters::decode_ns, "decode_ns", "ns", "of a message, before the next one").latency();
  }
};

class DecodingIoCpu : public IoCpu {
 public:
  using Parameters = DecodingIoCpuParameters;
  DecodingIoCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : IoCpu(name, config, p), decode_ns_(p.decode_ns) {}
  static ImplSpec spec() { return spec_of<Parameters>("custom.decoding_io_cpu", "io_cpu", "decodes each message"); }

  void message_arrived(ControlMessage& m) override {
    free_ns_ = std::max(free_ns_, timeline().now_ns()) + decode_ns_;
    pass_on_at(timeline(), free_ns_, m, call<&DecodingIoCpu::decoded>(*this, m));
  }

 private:
  void decoded(ControlMessage& m) { IoCpu::message_arrived(m); }
  const double decode_ns_;
  double free_ns_ = 0;
};

struct SleepyMCpuParameters : MCpuParameters {
  double wake_ns = 0, sleep_after_ns = 0, decode_ns = 0;
  template <class List>
  static void describe(List& list) {
    MCpuParameters::describe(list);
    list.add(&SleepyMCpuParameters::wake_ns, "wake_ns", "ns", "to wake up").latency();
    list.add(&SleepyMCpuParameters::sleep_after_ns, "sleep_after_ns", "ns", "without a message until it sleeps").min(0);
    list.add(&SleepyMCpuParameters::decode_ns, "decode_ns", "ns", "of a message, before the next one").latency();
  }
};

class SleepyMCpu : public MCpu {
 public:
  using Parameters = SleepyMCpuParameters;
  SleepyMCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : MCpu(name, config, p), parameters_(p) {}
  static ImplSpec spec() { return spec_of<Parameters>("custom.sleepy_m_cpu", "m_cpu", "has to wake up"); }

  void message_arrived(ControlMessage& m) override {
    const double now = timeline().now_ns();
    const bool sleeps = now >= free_ns_ + parameters_.sleep_after_ns;
    free_ns_ = std::max(free_ns_, now) + (sleeps ? parameters_.wake_ns : 0) + parameters_.decode_ns;
    pass_on_at(timeline(), free_ns_, m, call<&SleepyMCpu::decoded>(*this, m));
  }

 private:
  void decoded(ControlMessage& m) { MCpu::message_arrived(m); }
  const Parameters parameters_;
  double free_ns_ = std::numeric_limits<double>::lowest();  // it sleeps at first
};

struct PacedEpParameters : PcieEpParameters {
  double request_ns = 0;
  template <class List>
  static void describe(List& list) {
    PcieEpParameters::describe(list);
    list.add(&PacedEpParameters::request_ns, "request_ns", "ns", "of a request, before it and the next one").latency();
  }
};

class PacedEp : public PcieEp {
 public:
  using Parameters = PacedEpParameters;
  PacedEp(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : PcieEp(name, config, p), request_ns_(p.request_ns) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.paced_ep", "pcie_ep", "takes time for each request").transit().initiator();
  }

  void request(MemoryRequest& r) override {
    free_ns_ = std::max(free_ns_, timeline().now_ns()) + request_ns_;
    timeline().at(free_ns_, Order(Order::kEngines, index(), 0), call<&PacedEp::issue>(*this, r));
  }

 private:
  void issue(MemoryRequest& r) { PcieEp::request(r); }
  const double request_ns_;
  double free_ns_ = 0;
};

KERNBENCH_REGISTER_COMPONENT(DecodingIoCpu)
KERNBENCH_REGISTER_COMPONENT(SleepyMCpu)
KERNBENCH_REGISTER_COMPONENT(PacedEp)
}  // namespace
