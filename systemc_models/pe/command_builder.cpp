// SPDX-License-Identifier: Apache-2.0
// Converts a kernel's request (OpDesc) to a command of its PE (PeCommand).
#include <algorithm>

#include "kernbench/phase2/op/chain.h"
#include "kernbench/phase2/op/combiner.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"

namespace kernbench::pe {

namespace {

/// The address as engines see it: virtual if the tensor was reached through virtual addresses.
uint64_t address_of(const TensorRef& t) {
  return t.translation ? t.translation->virtual_addr : t.addr;
}

/// Rows of a strided tensor. A tensor with more than one change of stride cannot be a single transaction.
TilePart transaction_of(const TensorRef& t) {
  TilePart p;
  p.addr = address_of(t);
  p.translation = t.translation.get();
  p.nbytes = t.nbytes();
  const uint64_t element = size_of(t.dtype);
  int dim = t.shape.rank() - 1;
  int64_t run = 1;  // contiguous elements
  while (dim >= 0 && (t.shape[dim] == 1 || t.strides[dim] == run)) run *= t.shape[dim--];
  p.rows = {1, static_cast<uint64_t>(run) * element, 0};
  if (dim < 0) return p;
  const int64_t stride = t.strides[dim];
  int64_t rows = t.shape[dim--];
  while (dim >= 0 && (t.shape[dim] == 1 || t.strides[dim] == stride * rows)) rows *= t.shape[dim--];
  if (dim >= 0) {
    throw KernelFault("a load or store of shape " + t.shape.to_string() + " with strides " + t.strides.to_string() +
                      " (elements) is not a set of equally spaced rows: split it");
  }
  p.rows.count = static_cast<uint64_t>(rows);
  p.rows.stride = static_cast<uint64_t>(stride) * element;
  return p;
}

/// Bytes that a stream of a tensor's elements moves: each stored element once, regardless of broadcasting (stride 0).
uint64_t own_bytes(const TensorRef& t) {
  uint64_t bytes = size_of(t.dtype);
  for (int i = 0; i < t.shape.rank(); ++i) {
    if (t.strides[i] != 0) bytes *= static_cast<uint64_t>(t.shape[i]);
  }
  return bytes;
}

/// Timing rules §5: a repeated operand counts each time; immediates do not count.
void fill_streams(const OpDesc& d, PeCommand& c) {
  for (const Operand& o : d.operands) {
    if (!o.is_scalar) c.in_bytes += own_bytes(o.ref);
  }
  c.out_bytes = own_bytes(d.output);
}

/// The passes of a MATH command over its elements, and their ops. A chain's ops are one service.
void fill_passes(const OpDesc& d, PeCommand& c) {
  const MathOp* op = c.math_op = find_math_op(d.op);
  if (op && op->steps != Steps::one && !d.operands[0].is_scalar) {
    const Dims& shape = d.operands[0].ref.shape;
    c.steps = steps_of(*op, shape[d.axis < 0 ? d.axis + shape.rank() : d.axis]);
  }
  if (op && op->kind == MathKind::chain) {
    const std::vector<Chain::Step>& steps = Chain::of(d.argument)->steps();
    c.combines.reserve(steps.size());
    for (const Chain::Step& s : steps) c.combines.emplace_back(s.op->name);
    return;
  }
  if (d.argument.empty() || !op || (!op->is_reduction() && op->kind != MathKind::scan)) return;
  const Combiner combiner(d.argument, d.operands.size() + 1 - static_cast<size_t>(op->arity));
  for (const Combiner::Step& s : combiner.steps()) {
    if (s.op) c.combines.emplace_back(s.op->name);
  }
}

TileOperand tile_operand(const TensorRef& t, bool transposed) {
  TileOperand x;
  x.in_memory = t.space != Space::tcm;
  x.addr = address_of(t);
  x.translation = t.translation.get();
  x.element_bytes = static_cast<uint32_t>(size_of(t.dtype));
  const int rank = t.shape.rank();
  if (rank > 2) throw KernelFault("a composite's operand has shape " + t.shape.to_string() + ": at most 2 dimensions");
  int64_t row = rank == 2 ? t.strides[0] : 0;
  const int64_t inner = rank > 0 ? t.strides[rank - 1] : 1;
  if (inner != 1 && t.shape[rank - 1] != 1) {
    if (rank == 2 && (row == 1 || t.shape[0] == 1)) {  // a transposed view
      transposed = !transposed;
      row = inner;
    } else if (x.in_memory) {
      throw KernelFault("a composite's operand in memory has strides " + t.strides.to_string() +
                        " (elements): its rows must be contiguous");
    }
  }
  x.row_bytes = static_cast<uint64_t>(row) * x.element_bytes;
  x.transposed = transposed;
  return x;
}

void fill_composite(const OpDesc& d, PeCommand& c) {
  CompositePlan& p = c.plan;
  p.gemm = d.op == "gemm";
  p.m = d.m;
  p.n = d.n;
  p.k = p.gemm ? d.k : 1;
  p.tm = std::clamp<int64_t>(d.tile_m, 1, std::max<int64_t>(1, p.m));
  p.tn = std::clamp<int64_t>(d.tile_n, 1, std::max<int64_t>(1, p.n));
  p.tk = p.gemm ? std::clamp<int64_t>(d.tile_k, 1, std::max<int64_t>(1, p.k)) : 1;
  for (size_t i = 0; i < d.operands.size(); ++i) {
    if (d.operands[i].is_scalar) continue;
    const bool transposed = p.gemm && (i == 0 ? d.transpose_a : d.transpose_b);
    p.inputs.push_back(tile_operand(d.operands[i].ref, transposed));
  }
  p.output = tile_operand(d.output, false);
  if (p.gemm) {
    p.dtype = name_of(d.operands[0].ref.dtype);
  } else {
    p.per_tile.push_back(d.op);
  }
  for (const EpilogueOp& e : d.epilogue) {
    switch (e.scope) {
      case Scope::per_k_tile:
        p.per_tile.push_back(e.op);
        break;
      case Scope::per_output_tile:
        p.per_output_tile.push_back(e.op);
        break;
      case Scope::once:
        p.once.push_back(e.op);
        break;
    }
  }
}

/// Cuts the destinations where one of them is not contiguous in physical memory (multicast rules §19.8).
std::shared_ptr<const std::vector<MulticastPart>> multicast_of(const std::vector<TensorRef>& destinations) {
  auto parts = std::make_shared<std::vector<MulticastPart>>();
  const uint64_t nbytes = destinations.front().nbytes();
  for (uint64_t done = 0; done < nbytes;) {
    MulticastPart& part = parts->emplace_back();
    part.nbytes = nbytes - done;
    for (const TensorRef& t : destinations) {
      const TilePart whole = transaction_of(t);
      if (!t.translation) {
        part.to.addresses.push_back(whole.addr + done);
        continue;
      }
      const PieceTransaction piece = transaction_at(whole, done);
      part.nbytes = std::min(part.nbytes, piece.physical.nbytes);
      part.to.addresses.push_back(piece.physical.addr);
      part.virtual_addresses.push_back(piece.virtual_addr);
    }
    done += part.nbytes;
  }
  return parts;
}

}  // namespace

void fill_command(const OpDesc& d, PeCommand& c) {
  c.type = d.type;
  switch (d.type) {
    case CommandType::load:
      if (!d.ranged) c.dma = transaction_of(d.operands[0].ref);
      break;
    case CommandType::store:
      if (!d.ranged) c.dma = transaction_of(d.output);
      if (d.destinations) c.multicast = multicast_of(*d.destinations);
      break;
    case CommandType::atomic:
      c.type = CommandType::store;  // served by the write channel
      break;
    case CommandType::gemm:
      c.m = d.m;
      c.n = d.n;
      c.k = d.k;
      c.dtype = name_of(d.operands[0].ref.dtype);
      if (d.operands[1].ref.dtype != d.operands[0].ref.dtype) c.dtype_b = name_of(d.operands[1].ref.dtype);
      fill_streams(d, c);
      break;
    case CommandType::math:
      c.op = d.op;
      c.elements = d.output.shape.elements();
      for (const Operand& o : d.operands) {
        if (!o.is_scalar) c.elements = std::max(c.elements, o.ref.shape.elements());
      }
      fill_passes(d, c);
      fill_streams(d, c);
      break;
    case CommandType::send:
    case CommandType::receive:
      break;  // handled by pe_ipcq, not by an engine
    case CommandType::composite:
      fill_composite(d, c);
      break;
  }
}

}  // namespace kernbench::pe
