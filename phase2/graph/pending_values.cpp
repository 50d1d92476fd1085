// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/graph/pending_values.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/runs.h"

namespace kernbench::phase2 {

/// An operand with the contents of its addresses when the op took effect. Views read it in place or gathered.
struct PendingValues::Input {
  struct Piece {
    uint64_t addr;
    MemoryImage::Extent extent;
  };
  Operand operand;
  std::vector<Piece> pieces;  ///< by address; unwritten bytes have no piece
};

struct PendingValues::Node {
  std::shared_ptr<Index> index;
  std::shared_ptr<const OpDesc> desc;
  std::vector<Input> inputs;  ///< dropped once the value exists
  SharedBytes value;          ///< the complete output, contiguous; empty until it is requested

  Node(std::shared_ptr<Index> i, std::shared_ptr<const OpDesc> d) : index(std::move(i)), desc(std::move(d)) {
    index->emplace(desc.get(), this);
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() {
    index->erase(desc.get());
    forget(std::move(inputs));
  }

  /// Frees operands without recursion, because a chain of ops may be long and the stack may be a kernel's small one.
  static void forget(std::vector<Input>&& inputs) {
    thread_local std::vector<std::vector<Input>> waiting;
    thread_local bool busy = false;
    waiting.push_back(std::move(inputs));
    if (busy) return;
    busy = true;
    while (!waiting.empty()) {
      const std::vector<Input> last = std::move(waiting.back());
      waiting.pop_back();
    }
    busy = false;
  }
};

namespace {

bool is_move(const OpDesc& d) {
  return d.type == CommandType::load || d.type == CommandType::store;
}

/// Whether Phase 2 may have to compute the command. For loads and stores: if it has a mask or short strided runs.
bool may_compute(const OpDesc& d) {
  return !is_move(d) || d.operands.size() > 1 || (d.type == CommandType::load && has_short_runs(d.operands.at(0).ref));
}

double operations_of(const OpDesc& d) {
  const auto elements = static_cast<double>(d.output.shape.elements());
  if (d.op == "gemm") {
    return 2.0 * static_cast<double>(d.m) * static_cast<double>(d.n) * static_cast<double>(d.k) +
           elements * static_cast<double>(d.epilogue.size());
  }
  double largest = elements;
  for (const Operand& o : d.operands) {
    if (!o.is_scalar) largest = std::max(largest, static_cast<double>(o.ref.shape.elements()));
  }
  return largest * static_cast<double>(1 + d.epilogue.size());
}

std::string place(MemoryImage::SpaceKey key, uint64_t addr, uint64_t n) {
  std::string s = std::to_string(n) + " bytes of " + std::string(name_of(key.space)) + " at " + address_text(addr);
  return key.pe == kNoPe ? s : s + " of PE " + std::to_string(key.pe);
}

}  // namespace

PendingValues::Node* PendingValues::node_of(const MemoryImage::Extent& e) const {
  const auto it = index_->find(e.producer());
  if (it == index_->end()) {
    throw PendingValueError("what op '" + e.producer()->name + "' reads was not kept, so its result is pending");
  }
  return it->second;
}

PendingValues::Input PendingValues::capture(const Operand& o, const MemoryImage& image) const {
  Input in;
  in.operand = o;
  if (o.is_scalar) return in;
  const TensorRef t = without_repeats(o.ref);
  const uint64_t span = t.scattered() ? 0 : t.span_bytes();
  for_each_run(t, [&](uint64_t addr, uint64_t n) {
    // Usually one extent holds all rows of a view. It is kept once, over the complete span.
    if (!in.pieces.empty()) {
      const Input::Piece& last = in.pieces.back();
      if (addr >= last.addr && addr - last.addr <= last.extent.size() && last.extent.size() - (addr - last.addr) >= n)
        return;
    }
    const auto keep = [&](uint64_t at, uint64_t bytes, const MemoryImage::Extent* e, uint64_t offset) {
      if (e) in.pieces.push_back({at, e->part(offset, bytes)});
    };
    image.for_each_extent(MemoryImage::key_of(t), addr, n,
                          [&](uint64_t at, uint64_t len, const MemoryImage::Extent* e, uint64_t offset) {
                            if (!e) return;
                            if (!e->list() && span > 0) len = std::min(e->size() - offset, t.addr + span - at);
                            for_each_piece_of(*e, offset, len, at, keep);
                          });
  });
  const auto by_address = [](const Input::Piece& a, const Input::Piece& b) { return a.addr < b.addr; };
  if (!std::is_sorted(in.pieces.begin(), in.pieces.end(), by_address)) {
    std::sort(in.pieces.begin(), in.pieces.end(), by_address);
  }
  return in;
}

bool PendingValues::apply(const std::shared_ptr<const OpDesc>& d, MemoryImage& image) {
  if (!may_compute(*d) || (d->ranged && d->ranged->ranges.empty())) return apply_effect(d, image);
  const auto node = std::make_shared<Node>(index_, d);
  // Operands are read before the effect, which may overwrite them.
  for (const Operand& o : inputs_of(*d)) node->inputs.push_back(capture(o, image));
  if (d->engine_result) at_engines_.emplace(d.get(), node);
  // Memory names the op by a pointer that keeps the node, so that the node lives as long as its result can be
  // requested.
  return apply_effect(std::shared_ptr<const OpDesc>(node, d.get()), image);
}

/// The ops that `root` needs and that have no value yet, each after the ops that it reads.
void PendingValues::plan(Node& root, Nodes& order) const {
  std::unordered_set<const Node*> seen(order.begin(), order.end());
  std::vector<std::pair<Node*, bool>> stack{{&root, false}};
  while (!stack.empty()) {
    const auto [node, ready] = stack.back();
    stack.pop_back();
    if (ready) {
      order.push_back(node);
      continue;
    }
    if (node->value.hold || !seen.insert(node).second) continue;
    if (node->desc->engine_result) {
      throw EngineNotFinished("the result of " + node->desc->name +
                              (node->desc->where.line > 0 ? " at " + to_string(node->desc->where) : "") +
                              " is the result of an engine that has not finished: wait for it first");
    }
    stack.push_back({node, true});
    for (const Input& in : node->inputs) {
      for (const Input::Piece& p : in.pieces) {
        if (!p.extent.producer()) continue;
        Node* const source = node_of(p.extent);
        if (!source->value.hold && seen.count(source) == 0) stack.push_back({source, false});
      }
    }
  }
}

/// The same for the operands of a node.
void PendingValues::plan_inputs(const Node& node, Nodes& order) const {
  for (const Input& in : node.inputs) {
    for (const Input::Piece& p : in.pieces) {
      if (p.extent.producer()) plan(*node_of(p.extent), order);
    }
  }
}

/// The bytes of an extent whose producer, if any, has its value.
const uint8_t* PendingValues::bytes_of(const MemoryImage::Extent& e) const {
  return e.producer() ? node_of(e)->value.data() + e.offset() : e.data();
}

/// The elements of without_repeats() of an operand, dense.
void PendingValues::gather(const Node& node, const Input& in, uint8_t* to) const {
  const TensorRef t = without_repeats(in.operand.ref);
  for_each_run(t, [&](uint64_t addr, uint64_t n) {
    auto p = std::upper_bound(in.pieces.begin(), in.pieces.end(), addr,
                              [](uint64_t a, const Input::Piece& x) { return a < x.addr; });
    while (n) {
      // Pieces of one extent end together, so only the last one that begins at or before the address matters.
      const uint64_t offset = p != in.pieces.begin() ? addr - std::prev(p)->addr : 0;
      uint64_t len;
      if (p != in.pieces.begin() && offset < std::prev(p)->extent.size()) {
        len = std::min(n, std::prev(p)->extent.size() - offset);
        std::memcpy(to, bytes_of(std::prev(p)->extent) + offset, len);
      } else {
        // Unwritten: legal only under a mask, where the value is not used.
        if (!is_move(*node.desc)) {
          throw PendingValueError("op '" + node.desc->name + "' reads " + place(MemoryImage::key_of(t), addr, n) +
                                  ", which nothing wrote before it");
        }
        len = p != in.pieces.end() ? std::min(n, p->addr - addr) : n;
        std::memset(to, 0, len);
      }
      addr += len;
      to += len;
      n -= len;
      while (p != in.pieces.end() && p->addr <= addr) ++p;
    }
  });
}

void PendingValues::run(Node& node) {
  const OpDesc& d = *node.desc;
  std::vector<EvalInput> inputs;
  std::vector<Bytes> gathered;
  gathered.reserve(node.inputs.size());
  for (const Input& in : node.inputs) {
    if (in.operand.is_scalar) {
      inputs.push_back(EvalInput::immediate(in.operand.scalar));
      continue;
    }
    const TensorRef& whole = in.operand.ref;
    EvalInput e = EvalInput::tensor(nullptr, whole.dtype, whole.shape);
    e.strides = whole.strides;
    const TensorRef t = without_repeats(whole);
    if (!t.scattered() && in.pieces.size() == 1 && in.pieces[0].addr == t.addr &&
        in.pieces[0].extent.size() >= t.span_bytes()) {
      e.data = bytes_of(in.pieces[0].extent);
      inputs.push_back(e);
      continue;
    }
    Bytes& dense = gathered.emplace_back(t.nbytes());
    gather(node, in, dense.data());
    const Dims strides = TensorRef::row_major(t.shape);
    for (int i = 0; i < whole.shape.rank(); ++i) e.strides[i] = t.shape[i] == whole.shape[i] ? strides[i] : 0;
    e.data = dense.data();
    inputs.push_back(e);
  }
  try {
    node.value = SharedBytes::take(evaluate(d, inputs, isa_));
  } catch (const EvalError& e) {
    throw PendingValueError("op '" + d.name + "': " + e.what());
  }
  Node::forget(std::move(node.inputs));
  node.inputs.clear();
}

void PendingValues::run_all(const Nodes& order) {
  for (Node* node : order) run(*node);  // a node without unrun readers may be gone afterwards
}

void PendingValues::compute(const MemoryImage& image, MemoryImage::SpaceKey key, uint64_t addr, uint64_t n) {
  Nodes order;
  image.for_each_piece(key, addr, n, [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t) {
    if (e && e->producer()) plan(*node_of(*e), order);
  });
  run_all(order);
}

void PendingValues::compute(const RangeValue& value, uint64_t from, uint64_t n) {
  Nodes order;
  value.for_each_piece(from, n, [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t) {
    if (e && e->producer()) plan(*node_of(*e), order);
  });
  run_all(order);
}

const uint8_t* PendingValues::bytes_if_known(const MemoryImage::Extent& e) const {
  if (!e.producer()) return e.data();
  const auto it = index_->find(e.producer());
  return it != index_->end() && it->second->value.hold ? it->second->value.data() + e.offset() : nullptr;
}

SharedBytes PendingValues::value_of(const OpDesc& d) const {
  const auto it = index_->find(&d);
  return it != index_->end() ? it->second->value : SharedBytes{};
}

void PendingValues::apply_seen(const std::shared_ptr<OpDesc>& d, MemoryImage& image, const MemoryImage& seen) {
  const auto node = std::make_shared<Node>(index_, d);
  for (const Operand& o : inputs_of(*d)) node->inputs.push_back(capture(o, seen));
  Nodes order;
  plan_inputs(*node, order);
  run_all(order);
  run(*node);
  d->engine_result = std::make_shared<EngineResult>();
  d->engine_result->bytes = std::make_shared<const Bytes>(node->value.data(), node->value.data() + node->value.size);
  apply_effect(std::shared_ptr<const OpDesc>(node, d.get()), image);
}

std::vector<Bytes> PendingValues::operands(const OpDesc& d) {
  const Node& node = *at_engines_.at(&d);
  Nodes order;
  plan_inputs(node, order);
  run_all(order);
  std::vector<Bytes> values;
  for (const Input& in : node.inputs) {
    values.emplace_back(in.operand.is_scalar ? 0 : without_repeats(in.operand.ref).nbytes());
    if (!in.operand.is_scalar) gather(node, in, values.back().data());
  }
  return values;
}

void PendingValues::give(const OpDesc& d, Bytes result) {
  const auto bytes = std::make_shared<const Bytes>(std::move(result));
  d.engine_result->bytes = bytes;
  Node& node = *at_engines_.at(&d);
  node.value = {bytes, bytes->data(), bytes->size()};
  Node::forget(std::move(node.inputs));
  node.inputs.clear();
  at_engines_.erase(&d);
}

void PendingValues::forget(const OpDesc& d) {
  at_engines_.erase(&d);
}

void PendingValues::read(const MemoryImage& image, MemoryImage::SpaceKey key, uint64_t addr, void* out, uint64_t n,
                         uint8_t fill, const MaterializeLimits& limits, Materialization* done) {
  if (n > limits.result_bytes) {
    throw PendingValueError(place(key, addr, n) + " are more than may be materialized (" +
                            std::to_string(limits.result_bytes) + " bytes)");
  }
  Nodes order;
  image.for_each_piece(key, addr, n, [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t) {
    if (e && e->producer()) plan(*node_of(*e), order);
  });
  double operations = 0;
  uint64_t bytes = 0;
  for (const Node* node : order) {
    operations += operations_of(*node->desc);
    bytes += node->desc->value_bytes();
  }
  if (operations > limits.operations || bytes > limits.computed_bytes) {
    char text[160];
    std::snprintf(text, sizeof text,
                  " depend on %zu ops of %.3g operations and %llu bytes; at most %.3g operations and %llu bytes may be "
                  "computed",
                  order.size(), operations, static_cast<unsigned long long>(bytes), limits.operations,
                  static_cast<unsigned long long>(limits.computed_bytes));
    throw PendingValueError(place(key, addr, n) + text);
  }
  if (done) {
    for (const Node* node : order) done->computed.push_back({node->desc->pe, node->desc->seq});
    done->operations += operations;
    done->bytes += bytes;
  }
  run_all(order);
  auto* to = static_cast<uint8_t*>(out);
  image.for_each_piece(key, addr, n, [&](uint64_t, uint64_t len, const MemoryImage::Extent* e, uint64_t offset) {
    if (!e) {
      std::memset(to, fill, len);
    } else if (e->producer()) {
      std::memcpy(to, node_of(*e)->value.data() + e->offset() + offset, len);
    } else {
      std::memcpy(to, e->data() + offset, len);
    }
    to += len;
  });
}

std::shared_ptr<const OpDesc> read_from_outside(const MemoryImage& image, PendingValues* values,
                                                MemoryImage::SpaceKey key, uint64_t addr, void* out, uint64_t n) {
  if (values) {
    values->read(image, key, addr, out, n);
    return nullptr;
  }
  std::shared_ptr<const OpDesc> producer;
  image.for_each_piece(key, addr, n, [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t) {
    if (e && e->producer() && !producer) producer = e->shared_producer();
  });
  if (!producer) image.read(key, addr, out, n);
  return producer;
}

}  // namespace kernbench::phase2
