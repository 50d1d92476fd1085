// SPDX-License-Identifier: Apache-2.0
// Sends and receives.
#include <algorithm>

#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/core.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::tl {

using detail::Core;
using detail::fault;

namespace {

/// The OpDesc of a message, without its source or destination.
std::shared_ptr<OpDesc> message_desc(CommandType type, const char* name, SourceLine where) {
  auto desc = std::make_shared<OpDesc>();
  desc->type = type;
  desc->kind = OpKind::memory;
  desc->name = name;
  desc->where = where;
  return desc;
}

/// The indices of the ports, which must exist.
std::vector<uint32_t> find_ports(PeBackend& backend, const char* call, const std::vector<std::string>& names,
                                 SourceLine where) {
  const std::vector<std::string>& ports = backend.ports();
  std::vector<uint32_t> found;
  for (const std::string& name : names) {
    const auto it = std::find(ports.begin(), ports.end(), name);
    if (it == ports.end()) {
      fault(where, std::string(call) + " on " + name + ": " + backend.pe_id() + " has no such port; it has " +
                       (ports.empty() ? "none: the kernel declares no connection of it" : joined(ports)));
    }
    found.push_back(static_cast<uint32_t>(it - ports.begin()));
  }
  if (found.empty()) fault(where, std::string(call) + " by " + backend.pe_id() + ": no port is named");
  return found;
}

TensorRef nothing(PeBackend& backend) {
  TensorRef ref;
  ref.space = Space::tcm;
  ref.pe = backend.pe_index();
  ref.dtype = DType::u8;
  ref.shape = ref.strides = Dims{0};
  return ref;
}

}  // namespace

std::vector<std::string> Context::ports() const {
  return core_->backend().ports();
}

void Context::send(const std::string& port, const Tensor& value, const char* file, int line) {
  send_impl("send", {port}, &value, async_, {file, line});
}

Event Context::send_async(const std::string& port, const Tensor& value, const char* file, int line) {
  return send_impl("send", {port}, &value, true, {file, line});
}

void Context::send(const std::string& port, const char* file, int line) {
  send_impl("send", {port}, nullptr, async_, {file, line});
}

Event Context::send_async(const std::string& port, const char* file, int line) {
  return send_impl("send", {port}, nullptr, true, {file, line});
}

void Context::send_all(const std::vector<std::string>& ports, const Tensor& value, const char* file, int line) {
  send_impl("send_all", ports, &value, async_, {file, line});
}

Event Context::send_all_async(const std::vector<std::string>& ports, const Tensor& value, const char* file, int line) {
  return send_impl("send_all", ports, &value, true, {file, line});
}

Event Context::send_all_async(const std::vector<std::string>& ports, const char* file, int line) {
  return send_impl("send_all", ports, nullptr, true, {file, line});
}

Event Context::send_impl(const char* call, const std::vector<std::string>& ports, const Tensor* value, bool async,
                         SourceLine where) {
  PeBackend& backend = core_->backend();
  auto op = std::make_shared<QueueOp>();
  op->ports = find_ports(backend, call, ports, where);
  auto desc = message_desc(CommandType::send, call, where);
  desc->operands.resize(1);
  desc->operands[0].ref = nothing(backend);
  if (value != nullptr) {
    core_->require_tcm(*value, std::string(call) + " on " + joined(ports), where);
    core_->settle(*value);
    if (!value->ref().contiguous()) {
      fault(where, std::string(call) + " of " + value->to_string() + " on " + joined(ports) + " by " + backend.pe_id() +
                       ": the view is not contiguous; tl.copy it first");
    }
    desc->operands[0].ref = value->ref();
    desc->handle_id = value->id();
  }
  const Ticket ticket = backend.submit_queue_op(desc, op);
  // The message's TCM is not reused until it was sent, even if the call returns earlier.
  if (value != nullptr) core_->used_by(*value, ticket);
  if (!async) backend.wait_for_slot(ticket);
  return Event(ticket);
}

Loaded Context::recv(const std::string& port, const Dims& shape, DType dtype, const char* file, int line) {
  return Loaded(recv_impl({port}, shape, dtype, async_, nullptr, {file, line}));
}

Loaded Context::recv_async(const std::string& port, const Dims& shape, DType dtype, const char* file, int line) {
  return Loaded(recv_impl({port}, shape, dtype, true, nullptr, {file, line}));
}

void Context::recv(const std::string& port, const char* file, int line) {
  const SourceLine where{file, line};
  auto op = std::make_shared<QueueOp>();
  op->ports = find_ports(core_->backend(), "recv", {port}, where);
  auto desc = message_desc(CommandType::receive, "recv", where);
  desc->output = nothing(core_->backend());
  core_->wait(core_->backend().submit_queue_op(desc, op));
}

Context::FromAny Context::recv_any(const std::vector<std::string>& ports, const Dims& shape, DType dtype,
                                   const char* file, int line) {
  std::string taken;
  const Tensor value = recv_impl(ports, shape, dtype, false, &taken, {file, line});
  return {Loaded(value), taken};
}

Tensor Context::recv_impl(const std::vector<std::string>& ports, const Dims& shape, DType dtype, bool async,
                          std::string* taken, SourceLine where) {
  const char* call = taken != nullptr ? "recv_any" : "recv";
  if (shape.elements() < 1)
    fault(where, std::string(call) + ": a tensor without elements; an empty message has a call of its own");
  auto op = std::make_shared<QueueOp>();
  op->ports = find_ports(core_->backend(), call, ports, where);
  op->any = taken != nullptr;
  auto desc = message_desc(CommandType::receive, call, where);
  const auto made = core_->allocate(dtype, shape, where);
  desc->output = made->buffer;
  core_->receive(desc, op, made, async);
  if (taken != nullptr) *taken = core_->backend().ports()[op->taken];
  return Core::tensor_of(made);
}

Event Context::copy_to_dst(const std::string& port, const Block& to, const char* file, int line) {
  return copy_impl(port, to, async_, {file, line});
}

Event Context::copy_to_dst_async(const std::string& port, const Block& to, const char* file, int line) {
  return copy_impl(port, to, true, {file, line});
}

Event Context::copy_impl(const std::string& port, const Block& to, bool async, SourceLine where) {
  PeBackend& backend = core_->backend();
  auto op = std::make_shared<QueueOp>();
  op->ports = find_ports(backend, "copy_to_dst", {port}, where);
  op->store = message_desc(CommandType::store, "dma_write", where);
  op->store->output = detail::physical_block(backend, to, nullptr, "copy_to_dst", where);
  auto desc = message_desc(CommandType::receive, "copy_to_dst", where);
  const auto made = core_->allocate(to.dtype(), to.shape(), where);
  desc->output = made->buffer;
  desc->handle_id = op->store->handle_id = made->id;
  op->store->operands.resize(1);
  op->store->operands[0].ref = made->buffer;
  const Ticket ticket = backend.submit_queue_op(desc, op);
  made->uses.push_back(ticket);
  if (!async) backend.wait(ticket);
  return Event(ticket);
}

}  // namespace kernbench::tl
