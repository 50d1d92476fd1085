// SPDX-License-Identifier: Apache-2.0
// Connects a platform's sockets with the callbacks of a tool in C (kernbench_c.h). All callbacks run on the timeline or
// in an SC_METHOD, so they use the simulating thread's stack. A tool's callback may need a deep stack.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include "kernbench/platform/c_api/kernbench_c.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/protocol/base_protocol_initiator.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench::c_api {

/// Rounded once: 1,000,000,000 fs are 1000 ns.
inline double in_ns(const sc_core::sc_time& t) {
  return t / sc_core::sc_time(1, sc_core::SC_NS);
}

/// Bus width of a module's socket.
unsigned bus_width_of(const sc_core::sc_module& owner, const char* socket);

/// Calls bind(width as a constant), because sockets of different widths cannot be bound.
template <class Bind>
void with_bus_width(unsigned width, Bind bind) {
  if (width == 32) return bind(std::integral_constant<unsigned, 32>());
  if (width == 64) return bind(std::integral_constant<unsigned, 64>());
  if (width == 128) return bind(std::integral_constant<unsigned, 128>());
  if (width == 256) return bind(std::integral_constant<unsigned, 256>());
  bind(std::integral_constant<unsigned, 512>());
}

/// The tool's initiator at a port or a host's socket.
class ToolPort : public sc_core::sc_module {
 public:
  /// `last_error`: the reason of an error response.
  ToolPort(sc_core::sc_module_name name, Platform&, unsigned width, std::function<std::string()> last_error);
  ~ToolPort() override;

  template <unsigned W>
  OptionalInitiatorSocket<W>& socket() const {
    return socket_.as<W>();
  }
  /// Issued at the present instant.
  void access(bool write, uint64_t address, void* data, unsigned nbytes, kernbench_done done, void* user);

 private:
  struct Access;
  void end_of_elaboration() override { initiator_.set_forward(socket_.forward()); }
  void end(Access&);

  Timeline& timeline_;
  const uint32_t index_;
  BaseProtocolInitiator initiator_;
  WideInitiatorSocket socket_;
  std::function<std::string()> last_error_;
  std::map<const Access*, std::unique_ptr<Access>> under_way_;
};

/// The tool's memory behind a foreign memory or a host's DMA. Any number of concurrent requests; each is done after its
/// latency.
class ToolMemory : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  ToolMemory(sc_core::sc_module_name name, unsigned width, kernbench_memory_access access, void* user);

  template <unsigned W>
  OptionalTargetSocket<W>& socket() const {
    return socket_.as<W>();
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload&) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  /// Whether the tool has completed all parts; the latency is the longest part's.
  bool done(const tlm::tlm_generic_payload&, bool untimed, double& latency_ns) const;

  kernbench_memory_access access_;
  void* user_;
  WideTargetSocket socket_;
};

/// Forwards an interrupt to the tool.
class ToolInterrupt : public sc_core::sc_module {
 public:
  ToolInterrupt(sc_core::sc_module_name name, const HostInterface&, kernbench_interrupt call, void* user);

 private:
  void changed();

  const HostInterface& host_;
  kernbench_interrupt call_;
  void* user_;
};

}  // namespace kernbench::c_api
