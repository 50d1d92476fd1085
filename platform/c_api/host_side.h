// SPDX-License-Identifier: Apache-2.0
// What stands between the sockets of a platform and the callbacks of a tool that speaks C (kernbench_c.h). All of them
// are called on the timeline or by an SC_METHOD, so on the stack of whoever simulates: a tool's may have to be deep.
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

/// Of a module's socket.
unsigned bus_width_of(const sc_core::sc_module& owner, const char* socket);

/// bind(width as a constant): only sockets of one width bind to each other.
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
  /// `last_error`: why the target answered with an error.
  ToolPort(sc_core::sc_module_name name, Platform&, unsigned width, std::function<std::string()> last_error);
  ~ToolPort() override;

  template <unsigned W>
  OptionalInitiatorSocket<W>& socket() const {
    return socket_.as<W>();
  }
  /// Issued at this instant.
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

/// The tool's memory behind a foreign memory or a host's DMA: any number of requests at once, each done when its
/// latency is over.
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
  /// Whether the tool has done all of it; the latency is that of the longest part.
  bool done(const tlm::tlm_generic_payload&, bool untimed, double& latency_ns) const;

  kernbench_memory_access access_;
  void* user_;
  WideTargetSocket socket_;
};

/// Tells the tool of an interrupt.
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
