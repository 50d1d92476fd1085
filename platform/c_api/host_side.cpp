// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/c_api/host_side.h"

#include <fmt/format.h>

#include <cmath>

namespace kernbench::c_api {

unsigned bus_width_of(const sc_core::sc_module& owner, const char* socket) {
  const sc_core::sc_object* object = sc_core::sc_find_object((std::string(owner.name()) + "." + socket).c_str());
  return dynamic_cast<const tlm::tlm_base_socket_if&>(*object).get_bus_width();
}

struct ToolPort::Access {
  ForeignTransfer transfer;
  kernbench_done done;
  void* user;
};

ToolPort::ToolPort(sc_core::sc_module_name name, Platform& platform, unsigned width,
                   std::function<std::string()> last_error)
    : sc_module(name),
      timeline_(platform.timeline()),
      index_(static_cast<uint32_t>(platform.graph().nodes.size())),  // after the platform's own nodes
      initiator_(timeline_, index_, this->name()),
      socket_("socket", width, initiator_),
      last_error_(std::move(last_error)) {}

ToolPort::~ToolPort() = default;

void ToolPort::access(bool write, uint64_t address, void* data, unsigned nbytes, kernbench_done done, void* user) {
  auto a = std::make_unique<Access>(Access{{}, done, user});
  a->transfer.write = write;
  a->transfer.address = address;
  a->transfer.data = static_cast<uint8_t*>(data);
  a->transfer.nbytes = nbytes;
  a->transfer.done = call<&ToolPort::end>(*this, *a);
  timeline_.at(timeline_.now_ns(), Order(Order::kEngines, index_, 0),
               call<&BaseProtocolInitiator::start>(initiator_, a->transfer));
  under_way_.emplace(a.get(), std::move(a));
}

void ToolPort::end(Access& access) {
  const auto ended = under_way_.extract(&access);
  const bool ok = access.transfer.status == tlm::TLM_OK_RESPONSE;
  std::string error = ok ? "" : last_error_();
  if (!ok && error.empty())  // the tool's memory gives no other reason
    error = fmt::format("{} of {} bytes at {:#x}: the memory answers with an error",
                        access.transfer.write ? "write" : "read", access.transfer.nbytes, access.transfer.address);
  access.done(access.user, ok ? KERNBENCH_OK : KERNBENCH_FAILED, error.c_str(), timeline_.now_ns());
}

ToolMemory::ToolMemory(sc_core::sc_module_name name, unsigned width, kernbench_memory_access access, void* user)
    : sc_module(name), access_(access), user_(user), socket_("socket", width, *this) {}

bool ToolMemory::done(const tlm::tlm_generic_payload& p, bool untimed, double& latency_ns) const {
  const auto part = [&](uint64_t begin, uint64_t end) {
    double latency = 0;
    if (access_(user_, p.is_write(), untimed, p.get_address() + begin, p.get_data_ptr() + begin, end - begin,
                &latency) != 0)
      return false;
    latency_ns = std::max(latency_ns, latency);
    return std::isfinite(latency) && latency >= 0;
  };
  const uint64_t nbytes = p.get_data_length(), enables = p.get_byte_enable_length();
  if (!p.get_byte_enable_ptr()) return part(0, nbytes);
  const auto enabled = [&](uint64_t i) { return p.get_byte_enable_ptr()[i % enables] == TLM_BYTE_ENABLED; };
  for (uint64_t begin = 0; begin < nbytes;) {
    uint64_t end = begin + 1;
    if (enabled(begin)) {
      while (end < nbytes && enabled(end)) ++end;
      if (!part(begin, end)) return false;
    }
    begin = end;
  }
  return true;
}

void ToolMemory::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  double latency_ns = 0;
  const bool ok = p.get_command() == tlm::TLM_IGNORE_COMMAND || done(p, false, latency_ns);
  if (ok) delay += sc_core::sc_time(latency_ns, sc_core::SC_NS);
  p.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

tlm::tlm_sync_enum ToolMemory::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  b_transport(p, delay);
  return tlm::TLM_COMPLETED;
}

unsigned ToolMemory::transport_dbg(tlm::tlm_generic_payload& p) {
  double latency_ns = 0;
  return done(p, true, latency_ns) ? p.get_data_length() : 0;
}

ToolInterrupt::ToolInterrupt(sc_core::sc_module_name name, const HostInterface& host, kernbench_interrupt call,
                             void* user)
    : sc_module(name), host_(host), call_(call), user_(user) {
  SC_HAS_PROCESS(ToolInterrupt);
  SC_METHOD(changed);
  sensitive << host.interrupt;
  dont_initialize();
}

void ToolInterrupt::changed() {
  call_(user_, host_.interrupt.read(), in_ns(sc_core::sc_time_stamp()));
}

}  // namespace kernbench::c_api
