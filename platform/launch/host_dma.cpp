// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/host_dma.h"

#include <algorithm>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench::launch {

struct HostDma::Chunk : DataMover {
  HostDma* dma = nullptr;
  MemoryRequest request;
  ForeignTransfer transfer;
  tlm::tlm_generic_payload payload;  ///< for the device's side
  Bytes bytes;
  bool moved = false, served_by_fabric = false;

  void moved_outside(FabricTransaction&) override { moved = true; }
  void failed(FabricTransaction&, tlm::tlm_response_status) override {
    dma->error_ = "the device's memory answered with an error";
  }
  tlm::tlm_generic_payload* foreign() override { return &payload; }
  void served(FabricTransaction&, double at_ns) override {
    dma->machine_.timeline().at(at_ns, Order(Order::kDepartures, 0, 0), call<&Chunk::move_bytes>(*this));
  }
  void move_bytes() {
    Machine& machine = dma->machine_;
    const MemoryWindow window = machine.system().window_at(request.address);
    machine.system().direct_memory().settle(window.key(), request.address, bytes.size());
    if (request.write) {
      dma->transport_.write_now(window, request.address, bytes.data(), bytes.size());
      machine.system().direct_memory().refresh(window.key(), request.address, bytes.size());
    } else if (const auto op =
                   machine.system().read_from_outside(window.space, request.address, bytes.data(), bytes.size())) {
      dma->error_ = "the bytes are pending until Phase 2 runs " + describe_op(*op);
    }
    moved = true;
    if (served_by_fabric) dma->device_done(*this);
  }
};

HostDma::HostDma(LaunchHost& host, uint32_t pcie_ep, BaseProtocolTarget& transport, BaseProtocolInitiator& memory)
    : machine_(host.machine()),
      device_(*host.requests_to(pcie_ep)),
      pcie_ep_(pcie_ep),
      transport_(transport),
      host_(memory) {}

HostDma::~HostDma() = default;

std::string HostDma::start(bool to_host, uint64_t device, uint64_t host, uint64_t nbytes, Done done) {
  if (running_) return "it still runs";
  if (nbytes == 0) return "length 0";
  try {
    machine_.routes().route(pcie_ep_, device, nbytes, !to_host);
  } catch (const AccessError& e) {
    return e.what();
  }
  running_ = true;
  to_host_ = to_host;
  device_at_ = device;
  host_at_ = host;
  left_ = nbytes;
  error_.clear();
  done_ = std::move(done);
  if (chunks_.empty()) {
    for (size_t i = 0; i < kUnderWay; ++i) {
      chunks_.push_back(std::make_unique<Chunk>());
      chunks_.back()->dma = this;
    }
  }
  open_ = 0;
  for (HostObserver* o : machine_.host_observers())
    o->transfer_started(this, !to_host, nbytes, machine_.timeline().now_ns());
  for (auto& c : chunks_) {
    if (left_ > 0) {
      ++open_;
      next(*c);
    }
  }
  return {};
}

void HostDma::next(Chunk& c) {
  const uint64_t n = std::min(left_, kChunkBytes);
  c.bytes.assign(n, 0);
  c.moved = c.served_by_fabric = false;
  c.request.write = !to_host_;
  c.request.address = device_at_;
  c.request.nbytes = n;
  c.request.mover = &c;
  c.request.part_of = this;
  c.request.context = &c;
  c.request.done = [](MemoryRequest& request, const FabricTransaction&) {
    auto& me = *static_cast<Chunk*>(request.context);
    me.served_by_fabric = true;
    if (me.moved) me.dma->device_done(me);
  };
  c.transfer.write = to_host_;
  c.transfer.address = host_at_;
  c.transfer.data = c.bytes.data();
  c.transfer.nbytes = static_cast<unsigned>(n);
  c.transfer.done = call<&HostDma::host_done>(*this, c);
  c.payload.set_command(to_host_ ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
  c.payload.set_address(device_at_);
  c.payload.set_data_ptr(c.bytes.data());
  c.payload.set_data_length(static_cast<unsigned>(n));
  c.payload.set_streaming_width(static_cast<unsigned>(n));
  device_at_ += n;
  host_at_ += n;
  left_ -= n;
  if (to_host_) {
    ask_device(c);
  } else {
    host_.start(c.transfer);
  }
}

void HostDma::ask_device(Chunk& c) {
  c.request.issue_ns = machine_.timeline().now_ns();
  device_.request(c.request);
}

void HostDma::device_done(Chunk& c) {
  if (to_host_ && error_.empty()) {
    host_.start(c.transfer);
  } else {
    chunk_done(c);
  }
}

void HostDma::host_done(Chunk& c) {
  if (c.transfer.status != tlm::TLM_OK_RESPONSE && error_.empty()) {
    tlm::tlm_generic_payload p;
    p.set_response_status(c.transfer.status);
    error_ = "host memory answered " + p.get_response_string();
  }
  if (!to_host_ && error_.empty()) {
    ask_device(c);
  } else {
    chunk_done(c);
  }
}

void HostDma::chunk_done(Chunk& c) {
  if (left_ > 0 && error_.empty()) return next(c);
  if (--open_ > 0) return;
  running_ = false;
  for (HostObserver* o : machine_.host_observers()) o->transfer_done(this, machine_.timeline().now_ns());
  done_(error_);
}

}  // namespace kernbench::launch
