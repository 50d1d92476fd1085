// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/host_interface.h"

#include <cstring>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/host_dma.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/systemc_models/host/pcie_ep.h"

namespace kernbench::launch {
namespace {

PcieEpParameters parameters_at(LaunchHost& host, uint32_t node) {
  return parameters_of<PcieEpParameters>().from(host.machine().graph().nodes[node].attrs);
}

}  // namespace

HostInterface::HostInterface(sc_core::sc_module_name name, LaunchHost& host, uint32_t pcie_ep)
    : sc_module(name),
      transport_(
          host.machine().blocks().component(pcie_ep), *host.requests_to(pcie_ep),
          {parameters_at(host, pcie_ep).outstanding.value_or(0), false, parameters_at(host, pcie_ep).bus_width / 8}),
      socket_("socket", parameters_at(host, pcie_ep).bus_width, transport_),
      dma_initiator_(host.timeline(), pcie_ep, this->name()),
      dma_socket_("dma_socket", parameters_at(host, pcie_ep).bus_width, dma_initiator_),
      dma_(std::make_unique<HostDma>(host, pcie_ep, transport_, dma_initiator_)) {
  transport_.set_local(this);
}

HostInterface::~HostInterface() = default;

void HostInterface::end_of_elaboration() {
  transport_.set_backward(socket_.backward());
  dma_initiator_.set_forward(dma_socket_.forward());
}

uint64_t HostInterface::add_job(Launchable& job) {
  jobs_.push_back(&job);
  return jobs_.size() - 1;
}

tlm::tlm_response_status HostInterface::refuse(const std::string& why) {
  error_ = std::string(name()) + ": " + why;
  return tlm::TLM_GENERIC_ERROR_RESPONSE;
}

tlm::tlm_response_status HostInterface::access(tlm::tlm_generic_payload& p) {
  const uint64_t offset = p.get_address() - kRegisters;
  const unsigned n = p.get_data_length();
  if (p.get_byte_enable_ptr()) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if ((n != 4 && n != 8) || p.get_streaming_width() < n || offset % n != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  const uint64_t reg = offset & ~uint64_t{7};
  const uint64_t shift = 8 * (offset - reg);
  const uint64_t mask = n == 8 ? ~uint64_t{0} : uint64_t{0xffffffff} << shift;
  if (reg > kDmaCommand) {
    error_ = std::string(name()) + ": no register at offset " + std::to_string(offset);
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (p.is_read()) {
    const uint64_t value = read(reg) >> shift;
    std::memcpy(p.get_data_ptr(), &value, n);
    return tlm::TLM_OK_RESPONSE;
  }
  uint64_t value = 0;
  std::memcpy(&value, p.get_data_ptr(), n);
  // Half a register: the other half keeps its value; for a register that acts on a write it is 0.
  const bool acts = reg == kDoorbell || reg == kInterrupt || reg == kDmaCommand;
  return write(reg, (value << shift & mask) | (acts ? 0 : read(reg) & ~mask));
}

uint64_t HostInterface::status() const {
  uint64_t bits = 0;
  if (running_ > 0) bits |= kLaunchRunning;
  if (dma_->running()) bits |= kDmaRunning;
  if (launch_failed_) bits |= kLaunchFailed;
  if (dma_failed_) bits |= kDmaFailed;
  return bits;
}

uint64_t HostInterface::read(uint64_t reg) const {
  switch (reg) {
    case kId:
      return kIdValue;
    case kStatus:
      return status();
    case kLaunchesDone:
      return launches_done_;
    case kInterrupt:
      return pending_;
    case kInterruptEnable:
      return enabled_;
    case kDmaDevice:
      return dma_device_;
    case kDmaHost:
      return dma_host_;
    case kDmaBytes:
      return dma_bytes_;
    default:
      return 0;
  }
}

tlm::tlm_response_status HostInterface::write(uint64_t reg, uint64_t value) {
  switch (reg) {
    case kDoorbell:
      return start_job(value);
    case kInterrupt:
      pending_ &= ~value;
      update_interrupt();
      break;
    case kInterruptEnable:
      enabled_ = value & (kLaunchDone | kDmaDone);
      update_interrupt();
      break;
    case kDmaDevice:
      dma_device_ = value;
      break;
    case kDmaHost:
      dma_host_ = value;
      break;
    case kDmaBytes:
      dma_bytes_ = value;
      break;
    case kDmaCommand:
      return start_dma(value);
    default:
      return refuse("write to a register that can only be read");
  }
  return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status HostInterface::start_job(uint64_t number) {
  if (number >= jobs_.size())
    return refuse("doorbell " + std::to_string(number) + ": " + std::to_string(jobs_.size()) + " jobs are registered");
  Launchable& job = *jobs_[number];
  if (job.running()) return refuse("doorbell " + std::to_string(number) + ": the job still runs");
  ++running_;
  job.start([this](const LaunchResult& r) {
    --running_;
    ++launches_done_;
    launch_failed_ = !r.response.ok();
    if (launch_failed_) error_ = r.response.text;
    raise(kLaunchDone);
  });
  return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status HostInterface::start_dma(uint64_t command) {
  if (command != kToHost && command != kToDevice)
    return refuse("DMA command " + std::to_string(command) + "; legal: 1 (to host), 2 (to device)");
  if (!dma_initiator_.forward()) return refuse("DMA: nothing is bound to dma_socket");
  const std::string why =
      dma_->start(command == kToHost, dma_device_, dma_host_, dma_bytes_, [this](const std::string& e) {
        dma_failed_ = !e.empty();
        if (dma_failed_) error_ = std::string(name()) + ": DMA: " + e;
        raise(kDmaDone);
      });
  return why.empty() ? tlm::TLM_OK_RESPONSE : refuse("DMA: " + why);
}

void HostInterface::raise(uint64_t bits) {
  pending_ |= bits;
  update_interrupt();
}

// Only called by entries of the timeline, so the signal has one writer.
void HostInterface::update_interrupt() {
  interrupt.write((pending_ & enabled_) != 0);
}

}  // namespace kernbench::launch
