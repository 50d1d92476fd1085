// SPDX-License-Identifier: Apache-2.0
// A foreign engine's registers for a command or tile, and the operand values that it finds in the TCM.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/op/math_op.h"
#include "kernbench/phase2/op/runs.h"
#include "kernbench/systemc_models/pe/tlm_engine.h"
#include "kernbench/systemc_models/pe/tlm_engine_registers.h"

namespace kernbench::pe {

namespace reg = engine_registers;

struct TlmEngine::Registers {
  Bytes bytes = Bytes(reg::kEnd);

  void set(uint64_t offset, uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) bytes[offset + i] = static_cast<uint8_t>(value >> 8 * i);
  }
  void set_name(uint64_t offset, const std::string& name) {
    std::copy_n(name.begin(), std::min<size_t>(name.size(), 8), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  /// `strides` in elements.
  void set_tensor(uint64_t block, uint64_t address, DType dtype, const Dims& strides) {
    set(block + reg::kAddress, address);
    set(block + reg::kDtype, reg::dtype_code(dtype));
    for (int i = 0; i < strides.rank(); ++i)
      set(block + reg::kStride + 8 * static_cast<uint64_t>(i), static_cast<uint64_t>(strides[i]) * size_of(dtype));
  }
  void set_immediate(uint64_t block, double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    set(block + reg::kImmediate, bits);
  }
};

namespace {

uint64_t operand_block(size_t index) {
  return reg::kOperand + index * reg::kOperandBytes;
}

bool is_chain(const PeCommand& c) {
  return c.math_op && c.math_op->kind == MathKind::chain;
}

bool is_gemm(const OpDesc& d) {
  return d.op == "gemm";
}

/// The loop nest of a math op, outermost loop first.
Dims loops_of(const OpDesc& d) {
  if (!d.reduction) return d.output.shape;
  const auto first = std::find_if(d.operands.begin(), d.operands.end(), [](const Operand& o) { return !o.is_scalar; });
  return first->ref.shape;
}

/// An operand's strides in these loops, in elements, by numpy's broadcasting.
Dims strides_along(const Dims& loops, const TensorRef& t) {
  Dims strides;
  const int missing = loops.rank() - t.shape.rank();
  for (int i = 0; i < loops.rank(); ++i) {
    const int d = i - missing;
    strides.push_back(d < 0 || (t.shape[d] == 1 && loops[i] != 1) ? 0 : t.strides[d]);
  }
  return strides;
}

/// The same for the result. The axis of a reduction has stride 0.
Dims result_strides(const Dims& loops, const OpDesc& d) {
  if (!d.reduction) return strides_along(loops, d.output);
  Dims strides;
  for (int i = 0, at = 0; i < loops.rank(); ++i) {
    const bool reduced = i == d.axis;
    strides.push_back(reduced ? 0 : d.output.strides[at]);
    if (!reduced || d.keepdims) ++at;
  }
  return strides;
}

/// Strides of rows and columns in memory, in elements.
Dims matrix_strides(const TensorRef& t, bool transposed) {
  const int rank = t.shape.rank();
  int64_t row = rank >= 2 ? t.strides[rank - 2] : 0, column = rank >= 1 ? t.strides[rank - 1] : 0;
  if (transposed) std::swap(row, column);
  return {row, column};
}

/// Arranges dense values like the tensor in the TCM.
TcmWindow::Range laid_out(const TensorRef& whole, const Bytes& values) {
  const TensorRef t = without_repeats(whole);
  TcmWindow::Range r;
  r.address = t.addr;
  if (values.empty()) return r;
  r.bytes.resize(t.span_bytes());
  const uint8_t* from = values.data();
  for_each_run(t, [&](uint64_t address, uint64_t n) {
    std::memcpy(r.bytes.data() + (address - t.addr), from, n);
    from += n;
  });
  return r;
}

Dims dense_strides(int64_t rows, int64_t columns) {
  return TensorRef::row_major({rows, columns});
}

/// Type in which a composite's tiles are kept until the last one is done.
DType accumulator_dtype(const OpDesc& d) {
  return is_gemm(d) ? d.dtype_acc : d.output.dtype;
}

/// A tile's part of a matrix.
struct TileShape {
  int64_t row, column, rows, columns;
  uint64_t elements() const { return static_cast<uint64_t>(rows * columns); }
};

TileShape result_shape(const PeItem& t) {
  const CompositePlan& p = t.command->plan;
  return {t.i * p.tm, t.j * p.tn, t.tile_m, t.tile_n};
}

TileShape operand_shape(const PeItem& t, size_t index) {
  const CompositePlan& p = t.command->plan;
  if (!p.gemm) return result_shape(t);
  if (index == 0) return {t.i * p.tm, t.k * p.tk, t.tile_m, t.tile_k};
  return {t.k * p.tk, t.j * p.tn, t.tile_k, t.tile_n};
}

/// A matrix in dense values. A vector repeats its row; a broadcast element repeats.
struct Matrix {
  const uint8_t* data;
  int64_t row, column;  ///< elements
  uint64_t item;

  Matrix(const Bytes& values, const TensorRef& ref, bool transposed) : data(values.data()), item(size_of(ref.dtype)) {
    const Dims shape = without_repeats(ref).shape, dense = TensorRef::row_major(shape);
    const auto stride = [&](int from_last) {
      const int d = shape.rank() - from_last;
      return d < 0 || shape[d] == 1 ? 0 : dense[d];
    };
    row = stride(2);
    column = stride(1);
    if (transposed) std::swap(row, column);
  }
  /// Dense, of `columns` columns.
  Matrix(const Bytes& values, DType dtype, int64_t columns)
      : data(values.data()), row(columns), column(1), item(size_of(dtype)) {}
  Bytes part(const TileShape& s) const {
    Bytes out(s.elements() * item);
    uint8_t* to = out.data();
    for (int64_t r = s.row; r < s.row + s.rows; ++r) {
      for (int64_t c = s.column; c < s.column + s.columns; ++c, to += item)
        std::memcpy(to, data + static_cast<uint64_t>(r * row + c * column) * item, item);
    }
    return out;
  }
};

/// An epilogue's operand for the tile; broadcast operands stay as they are.
EvalInput epilogue_input(const Operand& o, const Bytes& values, const TileShape& tile) {
  if (o.is_scalar) return EvalInput::immediate(o.scalar);
  EvalInput in = EvalInput::tensor(values.data(), o.ref.dtype, without_repeats(o.ref).shape);
  const auto narrow = [&](int from_last, int64_t first, int64_t count) {
    const int d = in.shape.rank() - from_last;
    if (d < 0 || in.shape[d] == 1) return;
    in.data += static_cast<uint64_t>(first * in.strides[d]) * size_of(in.dtype);
    in.shape[d] = count;
  };
  narrow(2, tile.row, tile.rows);
  narrow(1, tile.column, tile.columns);
  return in;
}

/// Applies an epilogue's ops to a dense part of the accumulator: those of each k step, or those of finished tiles.
Bytes with_epilogue(const OpDesc& d, const std::vector<Bytes>& operands, const Bytes& accumulator,
                    const TileShape& part, bool per_k_tile, DType to, Isa isa) {
  OpDesc e;
  e.type = CommandType::composite;
  e.name = d.name;
  e.op = "cast";
  e.m = part.rows;
  e.n = part.columns;
  e.tile_m = d.tile_m;
  e.tile_n = d.tile_n;
  e.output.dtype = to;
  e.output.shape = {part.rows, part.columns};
  e.output.strides = TensorRef::row_major(e.output.shape);
  Operand head;
  head.ref = e.output;
  head.ref.dtype = accumulator_dtype(d);
  e.operands = {head};
  std::vector<EvalInput> inputs = {EvalInput::tensor(accumulator.data(), head.ref.dtype, head.ref.shape)};
  size_t at = d.operands.size();
  for (const EpilogueOp& op : d.epilogue) {
    const bool mine = (op.scope == Scope::per_k_tile) == per_k_tile;
    for (const Operand& o : op.operands) {
      if (mine) inputs.push_back(epilogue_input(o, operands[at], part));
      ++at;
    }
    if (mine) e.epilogue.push_back(op);
  }
  return evaluate(e, inputs, isa);
}

}  // namespace

// ---- the descriptor that the registers refer to

Bytes TlmEngine::describe() const {
  Registers r;
  const PeItem& item = current();
  const PeCommand& c = *item.command;
  r.set(reg::kPe, pe().index);
  if (c.desc) r.set(reg::kCommand, c.desc->seq);
  const bool last = item.token && item.last_k;
  r.set(reg::kFlags, (item.token ? reg::kTile : 0) | (has_data() ? reg::kData : 0) | (last ? reg::kLast : 0) |
                         (item.token && stage_ == Stage::gemm && item.k > 0 ? reg::kAccumulate : 0));
  std::vector<std::string> ops;
  if (stage_ == Stage::gemm) {
    ops.emplace_back("gemm");
  } else if (item.token) {
    const CompositePlan& p = c.plan;
    ops = p.per_tile;
    if (item.last_k) ops.insert(ops.end(), p.per_output_tile.begin(), p.per_output_tile.end());
    if (item.last_output) ops.insert(ops.end(), p.once.begin(), p.once.end());
  } else if (is_chain(c)) {
    ops = c.combines;
  } else {
    ops.push_back(c.op);
  }
  r.set(reg::kOps, ops.size());
  for (size_t i = 0; i < ops.size() && i < reg::kMostOps; ++i) r.set_name(reg::kOp + 8 * i, ops[i]);
  if (item.token) {
    describe_tile(r);
  } else {
    describe_command(r);
  }
  return std::move(r.bytes);
}

void TlmEngine::describe_command(Registers& r) const {
  const PeCommand& c = *current().command;
  const bool gemm = stage_ == Stage::gemm;
  if (gemm) {
    r.set(reg::kM, static_cast<uint64_t>(c.m));
    r.set(reg::kN, static_cast<uint64_t>(c.n));
    r.set(reg::kK, static_cast<uint64_t>(c.k));
  }
  if (!c.desc) {  // a driver's command has no more data
    if (const auto dtype = parse_dtype(c.dtype)) r.set(operand_block(0) + reg::kDtype, reg::dtype_code(*dtype));
    return;
  }
  const OpDesc& d = *c.desc;
  const Dims loops = gemm ? Dims{} : loops_of(d);
  if (!gemm) {
    r.set(reg::kAxis, static_cast<uint64_t>(d.axis));
    r.set(reg::kRank, static_cast<uint64_t>(loops.rank()));
    for (int i = 0; i < loops.rank(); ++i)
      r.set(reg::kShape + 8 * static_cast<uint64_t>(i), static_cast<uint64_t>(loops[i]));
  }
  const size_t operands = std::min<size_t>(d.operands.size(), reg::kMostOperands);
  r.set(reg::kOperands, operands);
  for (size_t i = 0; i < operands; ++i) {
    const Operand& o = d.operands[i];
    if (o.is_scalar) {
      r.set_immediate(operand_block(i), o.scalar);
      continue;
    }
    const bool transposed = gemm && (i == 0 ? d.transpose_a : d.transpose_b);
    r.set_tensor(operand_block(i), o.ref.addr, o.ref.dtype,
                 gemm ? matrix_strides(o.ref, transposed) : strides_along(loops, o.ref));
  }
  r.set_tensor(reg::kResult, d.output.addr, d.output.dtype,
               gemm ? matrix_strides(d.output, false) : result_strides(loops, d));
}

void TlmEngine::describe_tile(Registers& r) const {
  const PeItem& t = current();
  const PeCommand& c = *t.command;
  const bool gemm = stage_ == Stage::gemm;
  r.set(reg::kTileId, t.tile_id);
  r.set(reg::kM, static_cast<uint64_t>(t.tile_m));
  r.set(reg::kN, static_cast<uint64_t>(t.tile_n));
  if (gemm) {
    r.set(reg::kK, static_cast<uint64_t>(t.tile_k));
  } else {
    r.set(reg::kRank, 2);
    r.set(reg::kShape, static_cast<uint64_t>(t.tile_m));
    r.set(reg::kShape + 8, static_cast<uint64_t>(t.tile_n));
  }
  if (!c.desc) {
    if (const auto dtype = parse_dtype(c.plan.dtype)) r.set(operand_block(0) + reg::kDtype, reg::dtype_code(*dtype));
    return;
  }
  const OpDesc& d = *c.desc;
  const Dims result = dense_strides(t.tile_m, t.tile_n);
  if (is_gemm(d)) r.set_tensor(reg::kResult, reg::kAccumulator, d.dtype_acc, result);
  if (is_gemm(d) && !gemm) return;  // the ops of an epilogue, on the accumulator
  r.set(reg::kOperands, d.operands.size());
  uint64_t address = tile_address();
  for (size_t i = 0; i < d.operands.size(); ++i) {
    const Operand& o = d.operands[i];
    if (o.is_scalar) {
      r.set_immediate(operand_block(i), o.scalar);
      continue;
    }
    const TileShape s = operand_shape(t, i);
    r.set_tensor(operand_block(i), address, o.ref.dtype, dense_strides(s.rows, s.columns));
    address += s.elements() * size_of(o.ref.dtype);
  }
  if (!is_gemm(d)) r.set_tensor(reg::kResult, address, d.output.dtype, result);
}

/// Address of the tile's buffer in the TCM, as if it were contiguous.
uint64_t TlmEngine::tile_address() const {
  return pe().tcm->allocatable_bytes() + current().buffer.first.offset;
}

// ---- data

/// Whether the engine computes the op's result.
bool TlmEngine::has_data() const {
  const PeCommand& c = *current().command;
  return computes_ && c.desc && c.desc->engine_result && is_gemm(*c.desc) == (stage_ == Stage::gemm);
}

/// Whether the epilogue has ops that apply to the accumulator after each k step, or to finished tiles.
bool TlmEngine::has_epilogue(const OpDesc& d, bool per_k_tile) {
  return std::any_of(d.epilogue.begin(), d.epilogue.end(),
                     [&](const EpilogueOp& e) { return (e.scope == Scope::per_k_tile) == per_k_tile; });
}

/// Prepares the ranges that the registers name. PendingValueError if an operand is unavailable.
void TlmEngine::open_window() {
  PeItem& item = current();
  window_.set_tcm(tcm(), item);
  const auto [at, first] = results_.try_emplace(item.command);
  Result& r = at->second;
  if (first) r.desc = item.command->desc;
  if (r.failed) throw PendingValueError("an earlier tile has failed");
  const OpDesc& d = *r.desc;
  if (first) {
    try {
      r.operands = system_.pending_values()->operands(d);
    } catch (const PendingValueError&) {
      r.failed = true;
      throw;
    }
    if (item.token) r.bytes.resize(static_cast<uint64_t>(d.output.shape.elements()) * size_of(accumulator_dtype(d)));
  }
  std::vector<TcmWindow::Range> operands;
  TcmWindow::Range result;
  if (!item.token) {
    for (size_t i = 0; i < d.operands.size(); ++i) {
      if (!d.operands[i].is_scalar) operands.push_back(laid_out(d.operands[i].ref, r.operands[i]));
    }
    result.address = d.output.addr;
    result.bytes.resize(d.output.nbytes() > 0 ? d.output.span_bytes() : 0);
    return window_.open(std::move(operands), std::move(result));
  }
  const bool gemm = stage_ == Stage::gemm;
  uint64_t address = tile_address();
  for (size_t i = 0; i < d.operands.size(); ++i) {
    const Operand& o = d.operands[i];
    if (o.is_scalar) continue;
    const TileShape s = operand_shape(item, i);
    const Matrix values(r.operands[i], o.ref, gemm && (i == 0 ? d.transpose_a : d.transpose_b));
    operands.push_back({address, values.part(s)});
    address += s.elements() * size_of(o.ref.dtype);
  }
  result.address = gemm ? reg::kAccumulator : address;
  result.bytes = Matrix(r.bytes, accumulator_dtype(d), item.command->plan.n).part(result_shape(item));
  window_.open(std::move(operands), std::move(result));
}

/// Takes the engine's written bytes as the op's result, or as a tile's part of it.
void TlmEngine::take_result() {
  const PeItem& item = current();
  Result& r = results_.at(item.command);
  const OpDesc& d = *r.desc;
  const TcmWindow::Result got = window_.close();
  if (!failed_) {
    // A tile is dense. A command's rows may have gaps between them.
    uint64_t bytes = 0, written = 0;
    const auto see = [&](uint64_t first, uint64_t n) {
      bytes += n;
      const auto at = got.written.begin() + static_cast<std::ptrdiff_t>(first);
      written += static_cast<uint64_t>(std::count(at, at + static_cast<std::ptrdiff_t>(n), true));
    };
    if (item.token) {
      see(0, got.bytes.size());
      put_tile(r, has_epilogue(d, true) ? with_epilogue(d, r.operands, got.bytes, result_shape(item), true,
                                                        accumulator_dtype(d), system_.pending_values()->isa())
                                        : got.bytes);
    } else {
      r.bytes.resize(d.output.nbytes());
      uint8_t* to = r.bytes.data();
      for_each_run(d.output, [&](uint64_t address, uint64_t n) {
        see(address - d.output.addr, n);
        std::memcpy(to, got.bytes.data() + (address - d.output.addr), n);
        to += n;
      });
    }
    if (written < bytes) fault(fmt::format("the engine has written {} of the {} bytes of the result", written, bytes));
  }
  r.failed |= failed_;
  if (item.token && ++r.tiles_done < item.command->plan.tiles()) return;
  if (r.failed) {
    system_.pending_values()->forget(d);
  } else {
    give(r);
  }
  results_.erase(item.command);
}

void TlmEngine::put_tile(Result& r, const Bytes& tile) const {
  const PeItem& t = current();
  const uint64_t item = size_of(accumulator_dtype(*r.desc));
  const auto row_bytes = static_cast<uint64_t>(t.tile_n) * item;
  const TileShape s = result_shape(t);
  for (int64_t i = 0; i < t.tile_m; ++i) {
    const auto to = static_cast<uint64_t>((s.row + i) * t.command->plan.n + s.column) * item;
    std::memcpy(r.bytes.data() + to, tile.data() + static_cast<uint64_t>(i) * row_bytes, row_bytes);
  }
}

/// An accumulator is rounded once, at the end.
void TlmEngine::give(Result& r) {
  const OpDesc& d = *r.desc;
  const DType from = d.type == CommandType::composite ? accumulator_dtype(d) : d.output.dtype;
  if (has_epilogue(d, false)) {
    r.bytes =
        with_epilogue(d, r.operands, r.bytes, {0, 0, d.m, d.n}, false, d.output.dtype, system_.pending_values()->isa());
  } else if (from != d.output.dtype) {
    Bytes rounded(d.output.nbytes());
    convert(r.bytes.data(), from, rounded.data(), d.output.dtype, static_cast<size_t>(d.output.shape.elements()));
    r.bytes = std::move(rounded);
  }
  system_.pending_values()->give(d, std::move(r.bytes));
}

}  // namespace kernbench::pe
