// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/request_message.h"

#include "kernbench/systemc_models/protocol/atomic_extension.h"

namespace kernbench::fabric {

namespace {

/// A copy of the atomic in a request, for its payload; null: not an atomic.
AtomicExtension* atomic_of(const MemoryRequest& r) {
  const tlm::tlm_generic_payload* pattern = r.mover ? r.mover->foreign() : nullptr;
  return pattern ? kernbench::atomic_of(*pattern) : nullptr;
}

}  // namespace

void RequestMessage::send(FabricPort& out, MemoryRequest& r) {
  asked_ = &r;
  request_ = r;
  request_.done = &RequestMessage::served;
  request_.context = this;
  request_.next_in_line = nullptr;
  answered_ = false;
  time_ns_ = fabric_.timeline().now_ns();
  const tlm::tlm_command command = command_of(r.write, r.rows);
  fill_payload(payload, command, r.address, r.nbytes, r.data, r.mover);
  if (const AtomicExtension* e = atomic_of(r)) payload.set_auto_extension(new AtomicExtension(*e));
  out.request(*this);
}

void RequestMessage::request_in(FabricPort& in) {
  in_ = &in;
  if (RequestPort* issues = in.node().request_port()) return issues->request(request_);
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);  // a foreign block has misdirected it
  answered_outside(in);
  respond();
}

void RequestMessage::respond() {
  answered_ = true;
  time_ns_ = fabric_.timeline().now_ns();
  in_->respond(*this);
}

void RequestMessage::served(MemoryRequest& r, const FabricTransaction& x) {
  auto& me = *static_cast<RequestMessage*>(r.context);
  me.transaction_ = x.payload.get_extension<FabricTransaction>();
  me.transaction_->payload.acquire();
  me.payload.set_response_status(x.payload.get_response_status());
  if (const AtomicExtension* e = atomic_of(r)) *kernbench::atomic_of(me.payload) = *e;
  me.respond();
}

/// Replaces a transaction that never existed by one that began and ended now.
void RequestMessage::answered_outside(FabricPort&) {
  FabricTransaction& x = fabric_.acquire();
  x.write = request_.write;
  x.address = request_.address;
  x.nbytes = request_.nbytes;
  x.issue_ns = request_.issue_ns;
  x.grant_ns = x.done_ns = fabric_.timeline().now_ns();
  x.payload.set_response_status(tlm::TLM_OK_RESPONSE);
  transaction_ = &x;
  if (request_.mover) request_.mover->moved_outside(x);
}

void RequestMessage::response_in(FabricPort&) {
  FabricTransaction& x = *transaction_;
  if (AtomicExtension* e = atomic_of(request_)) *e = *kernbench::atomic_of(payload);
  const tlm::tlm_response_status status = payload.get_response_status();
  if (status != x.payload.get_response_status()) {  // set by a block on the path
    x.payload.set_response_status(status);
    if (request_.mover && status != tlm::TLM_OK_RESPONSE) request_.mover->failed(x, status);
  }
  asked_->done(*asked_, x);
  x.payload.release();
  payload.release();
}

/// Contents of memory for written or read bytes; else zeros.
void RequestMessage::show_data() {
  if (payload.get_data_ptr() && payload.get_data_ptr() != bytes_.data()) return;
  if (!answered_) bytes_.assign(payload.get_data_length(), 0);
  if (payload.get_command() != tlm::TLM_IGNORE_COMMAND && request_.write != answered_)
    fabric_.known_bytes(request_.address, bytes_.data(), bytes_.size());
  payload.set_data_ptr(bytes_.data());
}

void RemoteRequestPort::request(MemoryRequest& r) {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<RequestMessage>(out_.node().fabric(), static_cast<tlm::tlm_mm_interface*>(this)));
    idle_.push_back(all_.back().get());
  }
  RequestMessage& m = *idle_.back();
  idle_.pop_back();
  m.payload.acquire();
  m.send(out_, r);
}

void RemoteRequestPort::free(tlm::tlm_generic_payload* payload) {
  auto* m = static_cast<RequestMessage*>(payload->get_extension<SocketMessage>());
  payload->reset();  // extensions that foreign blocks have left
  idle_.push_back(m);
}

}  // namespace kernbench::fabric
