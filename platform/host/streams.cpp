// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/streams.h"

#include <algorithm>

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::host {
namespace {

/// After all completions of an instant, so that released operations begin in enqueue order.
Order behind_completions() {
  return Order(Order::kEngines, Order::kLast, ~uint64_t{0});
}

/// " (my_program.cpp:12)"; empty without a line.
std::string line_of(const Operation& op) {
  return op.where.line > 0 ? " (" + kernbench::to_string(op.where) + ")" : "";
}

}  // namespace

std::string Stream::to_string() const {
  return "stream " + std::to_string(number) + " of rank " + std::to_string(rank);
}

const char* name_of(Operation::Kind k) {
  switch (k) {
    case Operation::Kind::launch:
      return "launch";
    case Operation::Kind::upload:
      return "upload";
    case Operation::Kind::download:
      return "download";
    case Operation::Kind::delay:
      return "delay";
    case Operation::Kind::record:
      return "record";
    case Operation::Kind::wait:
      return "wait";
  }
  return "";
}

Streams::Streams(Timeline& timeline, uint32_t ranks, std::function<void()> on_change)
    : timeline_(timeline), on_change_(std::move(on_change)), streams_of_rank_(ranks, 0) {
  for (uint32_t r = 0; r < ranks; ++r) add(r);
}

Stream Streams::add(uint32_t rank) {
  const Stream s{rank, streams_of_rank_.at(rank)++};
  queues_[s];
  return s;
}

void Streams::enqueue(Operation op) {
  op.number = operations_.size();
  op.end_ns.assign(op.streams.size(), -1);
  op.open = op.streams.size();
  operations_.push_back(std::move(op));
  Operation& added = operations_.back();
  ++unfinished_;
  if (added.kind == Operation::Kind::record) added.event->recorded = true;
  for (const Stream& s : added.streams) queues_.at(s).push_back(&added);
  look_soon();
}

void Streams::end(Operation& op, size_t place) {
  op.end_ns.at(place) = timeline_.now_ns();
  queues_.at(op.streams[place]).pop_front();
  if (--op.open == 0) {
    --unfinished_;
    if (op.kind == Operation::Kind::record) op.event->done = true;
    op.uses.clear();
  }
  look_soon();
  on_change_();
}

void Streams::end_all(Operation& op) {
  for (size_t i = 0; i < op.streams.size(); ++i) end(op, i);
}

void Streams::look_soon() {
  if (look_coming_) return;
  look_coming_ = true;
  timeline_.at(timeline_.now_ns(), behind_completions(), call<&Streams::begin_ready>(*this));
}

void Streams::begin_ready() {
  while (Operation* op = next_ready()) begin(*op);
  look_coming_ = false;
}

Operation* Streams::next_ready() const {
  Operation* first = nullptr;
  for (const auto& [stream, queue] : queues_) {
    if (queue.empty()) continue;
    Operation* op = queue.front();
    if (op->begun || (first && first->number < op->number)) continue;
    if (op->kind == Operation::Kind::wait && !op->event->done) continue;
    bool in_front = true;
    for (const Stream& s : op->streams) in_front = in_front && queues_.at(s).front() == op;
    if (in_front) first = op;
  }
  return first;
}

bool Streams::moves_beside_launches() const {
  if (next_ready()) return true;
  using Kind = Operation::Kind;
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& q) {
    const Operation* op = q.second.empty() ? nullptr : q.second.front();
    return op && op->begun && (op->kind == Kind::upload || op->kind == Kind::download || op->kind == Kind::delay);
  });
}

void Streams::begin(Operation& op) {
  op.begun = true;
  op.begin_ns = op.start_ns = timeline_.now_ns();
  const auto work = std::move(op.begin);
  work(op);
}

Stream Streams::waits_for(const Stream& s, std::string* why) const {
  why->clear();
  const std::deque<Operation*>& queue = queues_.at(s);
  if (queue.empty() || queue.front()->begun) return s;
  const Operation& op = *queue.front();
  if (op.kind == Operation::Kind::wait && !op.event->done) {
    for (const auto& [stream, others] : queues_) {
      for (const Operation* other : others) {
        if (other->kind != Operation::Kind::record || other->event != op.event) continue;
        *why = s.to_string() + " waits for event " + op.event->name + line_of(op) + ", which is recorded in " +
               stream.to_string() + line_of(*other);
        return stream;
      }
    }
  }
  for (const Stream& other : op.streams) {
    if (queues_.at(other).front() == &op) continue;
    *why = name_of(op.kind) + (op.name.empty() ? std::string() : " of " + op.name) + line_of(op) + " is first in " +
           s.to_string() + " and waits for its place in " + other.to_string();
    return other;
  }
  return s;
}

std::string Streams::circle() const {
  for (const auto& [start, queue] : queues_) {
    std::vector<std::pair<Stream, std::string>> way;
    for (Stream at = start;;) {
      const auto seen = std::find_if(way.begin(), way.end(), [&](const auto& w) { return w.first == at; });
      if (seen != way.end()) {
        std::string text;
        for (auto w = seen; w != way.end(); ++w) text += (text.empty() ? "" : "; ") + w->second;
        return text;
      }
      std::string why;
      const Stream next = waits_for(at, &why);
      if (why.empty()) break;
      way.emplace_back(at, std::move(why));
      at = next;
    }
  }
  return {};
}

const Operation* Streams::waits_in_vain() const {
  for (const Operation& op : operations_) {
    if (op.kind == Operation::Kind::wait && !op.begun && !op.event->recorded) return &op;
  }
  return nullptr;
}

}  // namespace kernbench::host
