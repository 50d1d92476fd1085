// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/host_interface.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/host_dma.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/launch/reset.h"
#include "kernbench/platform/topology/graph/naming.h"
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
      dma_(std::make_unique<HostDma>(host, pcie_ep, transport_, dma_initiator_)),
      host_(host),
      device_(topology::naming::outermost_scope_of(host.machine().graph().nodes[pcie_ep].id)),
      queue_depth_(parameters_at(host, pcie_ep).launch_queue),
      register_bar_(parameters_at(host, pcie_ep).register_bar),
      memory_bar_(parameters_at(host, pcie_ep).memory_bar),
      memory_bar_bytes_(uint64_t{parameters_at(host, pcie_ep).memory_bar_mb} << 20) {
  transport_.set_local(this);
}

HostInterface::~HostInterface() = default;

void HostInterface::end_of_elaboration() {
  transport_.set_backward(socket_.backward());
  dma_initiator_.set_forward(dma_socket_.forward());
  if (!reset_n.get_interface()) return;
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&reset_n->negedge_event());
  sc_core::sc_spawn([this] { reset(); }, sc_core::sc_gen_unique_name("reset"), &options);
}

uint64_t HostInterface::add_job(Launchable& job) {
  jobs_.push_back({&job});
  return jobs_.size() - 1;
}

/// Outside of memory_bar the address itself; across its end, one without a memory.
uint64_t HostInterface::translate(uint64_t address, uint64_t nbytes) const {
  const uint64_t offset = address - memory_bar_;
  if (memory_bar_ == 0 || offset >= memory_bar_bytes_) return address;
  return nbytes <= memory_bar_bytes_ - offset ? window_ + offset : ~uint64_t{0};
}

tlm::tlm_response_status HostInterface::refuse(const std::string& why) {
  error_ = std::string(name()) + ": " + why;
  return tlm::TLM_GENERIC_ERROR_RESPONSE;
}

tlm::tlm_response_status HostInterface::access(tlm::tlm_generic_payload& p) {
  const uint64_t offset = offset_of(p.get_address());
  const unsigned n = p.get_data_length();
  if (p.get_byte_enable_ptr()) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if ((n != 4 && n != 8) || p.get_streaming_width() < n || offset % n != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  const uint64_t reg = offset & ~uint64_t{7};
  const uint64_t shift = 8 * (offset - reg);
  const uint64_t mask = n == 8 ? ~uint64_t{0} : uint64_t{0xffffffff} << shift;
  if (reg > kWindow) {
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
  const bool acts = reg == kDoorbell || reg == kInterrupt || reg == kDmaCommand || reg == kAbort || reg == kReset;
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
  const Entry shown = job_ < jobs_.size() ? jobs_[job_] : Entry{};
  switch (reg) {
    case kJob:
      return job_;
    case kJobState:
      return shown.state;
    case kJobError:
      return shown.error;
    case kJobCompletions:
      return shown.completions;
    case kWindow:
      return window_;
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
    case kJob:
      job_ = value;
      break;
    case kAbort:
      if (value >= jobs_.size())
        return refuse("abort " + std::to_string(value) + ": " + std::to_string(jobs_.size()) + " jobs are registered");
      end(jobs_[value]);
      break;
    case kReset:
      return write_reset(value);
    case kWindow:
      window_ = value;
      break;
    default:
      return refuse("write to a register that can only be read");
  }
  return tlm::TLM_OK_RESPONSE;
}

/// Whether a running job, or one of `ahead`, uses a PE of the job.
bool HostInterface::waits(const Launchable& job, const std::vector<uint64_t>& ahead) const {
  const auto meets = [&](const Launchable& other) {
    return std::any_of(job.pes().begin(), job.pes().end(),
                       [&](size_t pe) { return std::count(other.pes().begin(), other.pes().end(), pe) > 0; });
  };
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const Entry& e) { return e.state == kRunning && meets(*e.job); }) ||
         std::any_of(ahead.begin(), ahead.end(), [&](uint64_t n) { return meets(*jobs_[n].job); });
}

tlm::tlm_response_status HostInterface::start_job(uint64_t number) {
  const std::string what = "doorbell " + std::to_string(number) + ": ";
  if (number >= jobs_.size()) return refuse(what + std::to_string(jobs_.size()) + " jobs are registered");
  if (reset_n.get_interface() && !reset_n->read()) return refuse(what + "reset_n is low");
  Launchable& job = *jobs_[number].job;
  if (queue_depth_ == 0 && job.running()) return refuse(what + "the job still runs");
  if (queue_depth_ == 0 || (!job.running() && !waits(job, queue_))) {
    start(number);
    return tlm::TLM_OK_RESPONSE;
  }
  const auto same = [&](uint64_t n) { return jobs_[n].job->pes() == job.pes(); };
  if (std::count_if(queue_.begin(), queue_.end(), same) >= static_cast<std::ptrdiff_t>(queue_depth_))
    return refuse(what + "the queue of its PEs is full (launch_queue: " + std::to_string(queue_depth_) + ")");
  queue_.push_back(number);
  if (jobs_[number].state != kRunning) jobs_[number].state = kQueued;
  return tlm::TLM_OK_RESPONSE;
}

void HostInterface::start(uint64_t number) {
  ++running_;
  jobs_[number].state = kRunning;
  jobs_[number].job->start([this, number](const LaunchResult& r) {
    Entry& e = jobs_[number];
    --running_;
    ++launches_done_;
    ++e.completions;
    e.error = static_cast<uint64_t>(r.response.code);
    e.state = r.response.ok() ? kDone : r.response.code == HostError::aborted ? kAborted : kFailed;
    if (std::count(queue_.begin(), queue_.end(), number) > 0) e.state = kQueued;
    launch_failed_ = !r.response.ok();
    if (launch_failed_) error_ = r.response.text;
    start_queued();
    raise(kLaunchDone);
  });
}

void HostInterface::start_queued() {
  std::vector<uint64_t> left;
  for (const uint64_t number : std::exchange(queue_, {})) {
    if (jobs_[number].job->running() || waits(*jobs_[number].job, left)) {
      left.push_back(number);
    } else {
      start(number);
    }
  }
  queue_ = std::move(left);
}

void HostInterface::abort(uint64_t job) {
  host_.timeline().at(host_.timeline().now_ns(), Order(Order::kDepartures, ~0u, host_.index()),
                      call<&HostInterface::end>(*this, jobs_.at(job)));
}

void HostInterface::reset() {
  host_.timeline().at(host_.timeline().now_ns(), Order(Order::kDepartures, ~0u, host_.index()),
                      call<&HostInterface::reset_now>(*this));
}

void HostInterface::end(Entry& e) {
  const auto waiting =
      std::find_if(queue_.begin(), queue_.end(), [&](uint64_t number) { return &jobs_[number] == &e; });
  if (e.job->running()) return e.job->abort();
  if (waiting == queue_.end()) return;
  queue_.erase(waiting);
  e.state = kAborted;
  e.error = static_cast<uint64_t>(HostError::aborted);
  ++e.completions;
  raise(kLaunchDone);
  start_queued();
}

void HostInterface::reset_now() {
  for (const uint64_t number : std::exchange(queue_, {})) {
    Entry& e = jobs_[number];
    if (e.state == kQueued) e.state = kAborted;
    e.error = static_cast<uint64_t>(HostError::aborted);
    ++e.completions;
  }
  pending_ = 0;
  enabled_ = kLaunchDone | kDmaDone;
  dma_device_ = dma_host_ = dma_bytes_ = job_ = window_ = launches_done_ = 0;
  launch_failed_ = dma_failed_ = false;
  update_interrupt();
  reset_part(host_.machine(), device_);
}

tlm::tlm_response_status HostInterface::write_reset(uint64_t value) {
  const uint64_t part = value >> 32, index = value & 0xffffffff;
  if (part == kDevice && index == 0) {
    reset_now();
    return tlm::TLM_OK_RESPONSE;
  }
  const std::string inside = device_.empty() ? "" : device_ + ".";
  std::vector<std::string> ids;
  for (const topology::Pe& pe : host_.machine().graph().pes) {
    if (pe.id.rfind(inside, 0) != 0) continue;
    const std::string id = part == kCube ? topology::naming::scope_of(pe.id) : pe.id;
    if (ids.empty() || ids.back() != id) ids.push_back(id);
  }
  if ((part != kCube && part != kPe) || index >= ids.size())
    return refuse("reset " + std::to_string(value) + ": expected 0, 2^32 + a cube, or 2^33 + a PE");
  reset_part(host_.machine(), ids[index]);
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
