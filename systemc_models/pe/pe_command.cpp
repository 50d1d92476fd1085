// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_command.h"

#include <algorithm>
#include <limits>

namespace kernbench::pe {

namespace {

TilePart part_of(const TileOperand& x, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  if (x.transposed) {
    std::swap(row, col);
    std::swap(rows, cols);
  }
  TilePart p;
  p.addr = x.addr + static_cast<uint64_t>(row) * x.row_bytes + static_cast<uint64_t>(col) * x.element_bytes;
  p.rows = {static_cast<uint64_t>(rows), static_cast<uint64_t>(cols) * x.element_bytes, x.row_bytes};
  p.nbytes = p.rows.count * p.rows.bytes;
  p.translation = x.translation;
  return p;
}

}  // namespace

PieceTransaction transaction_at(const TilePart& part, uint64_t done) {
  const Translation& t = *part.translation;
  // Adjacent rows are merged.
  const bool dense = part.rows.count == 1 || part.rows.stride == part.rows.bytes;
  const uint64_t row_bytes = dense ? part.nbytes : part.rows.bytes;
  const uint64_t row = done / row_bytes, column = done % row_bytes;
  const uint64_t first = part.addr - t.virtual_addr + row * part.rows.stride + column;
  const Translation::Piece& piece = t.piece_at(first);
  const uint64_t room = piece.offset + piece.nbytes - first;
  PieceTransaction x;
  x.virtual_addr = t.virtual_addr + first;
  x.physical.addr = piece.addr + (first - piece.offset);
  if (dense || column > 0 || room < row_bytes) {
    x.physical.nbytes = std::min(row_bytes - column, room);
    x.physical.rows = {1, x.physical.nbytes, 0};
    return x;
  }
  const uint64_t rows = std::min(part.rows.count - row, (room - row_bytes) / part.rows.stride + 1);
  x.physical.nbytes = rows * row_bytes;
  x.physical.rows = {rows, row_bytes, part.rows.stride};
  return x;
}

uint64_t CompositePlan::tile_bytes() const {
  // Sizes from a file may be so large that their product does not fit 64 bits.
  uint64_t sum = 0;
  bool too_many = false;
  const auto add = [&](int64_t rows, int64_t cols, const TileOperand& x) {
    uint64_t bytes = 0;
    too_many |= __builtin_mul_overflow(static_cast<uint64_t>(rows), static_cast<uint64_t>(cols), &bytes) ||
                __builtin_mul_overflow(bytes, uint64_t{x.element_bytes}, &bytes) ||
                __builtin_add_overflow(sum, bytes, &sum);
  };
  add(tm, tn, output);
  for (size_t x = 0; x < inputs.size(); ++x) add(gemm && x == 1 ? tk : tm, gemm && x == 0 ? tk : tn, inputs[x]);
  return too_many ? std::numeric_limits<uint64_t>::max() : sum;
}

void PeCommand::describe(OpRecord& r) const {
  r.desc = desc;
  r.dependency_ids = after;
  if (ranged && !ranged->parts.empty()) ranged->parts.front().describe(r);
}

namespace {

/// For a tile's part of one input.
inline uint64_t input_bytes(const PeItem& t, size_t index) {
  const CompositePlan& p = t.command->plan;
  const int64_t rows = p.gemm && index == 1 ? t.tile_k : t.tile_m, cols = p.gemm && index == 0 ? t.tile_k : t.tile_n;
  return static_cast<uint64_t>(rows * cols) * p.inputs[index].element_bytes;
}

}  // namespace

uint64_t PeItem::fetch_bytes() const {
  if (command->plan.gemm) return input_bytes(*this, 0) + input_bytes(*this, 1);
  uint64_t sum = 0;
  for (size_t x = 0; x < command->plan.inputs.size(); ++x) sum += input_bytes(*this, x);
  return sum;
}

uint64_t PeItem::store_bytes() const {
  return static_cast<uint64_t>(tile_m * tile_n) * command->plan.output.element_bytes;
}

TilePart PeItem::input_part(size_t index) const {
  const CompositePlan& p = command->plan;
  const TileOperand& x = p.inputs[index];
  if (!p.gemm) return part_of(x, i * p.tm, j * p.tn, tile_m, tile_n);
  return index == 0 ? part_of(x, i * p.tm, k * p.tk, tile_m, tile_k) : part_of(x, k * p.tk, j * p.tn, tile_k, tile_n);
}

TilePart PeItem::output_part() const {
  const CompositePlan& p = command->plan;
  return part_of(p.output, i * p.tm, j * p.tn, tile_m, tile_n);
}

std::string PeItem::to_string() const {
  if (!command || !command->desc) return "";
  const OpDesc& d = *command->desc;
  return (token ? "tile " + std::to_string(tile_id) + " of " : "") + d.name +
         (d.where.line > 0 ? " at " + kernbench::to_string(d.where) : "");
}

void PeItem::describe(OpRecord& r) const {
  if (!token) return command->describe(r);
  r.is_token = true;
  TokenInfo& t = r.token;
  t.stage = stage();
  t.tile_id = tile_id;
  t.composite_op_id = command->op_id;
  t.fed_ns = fed_ns;
  t.buffer_offset = buffer.first.offset;
  if (!buffer.others.empty()) {
    t.buffer_pieces.assign(1, buffer.first);
    t.buffer_pieces.insert(t.buffer_pieces.end(), buffer.others.begin(), buffer.others.end());
  }
  switch (t.stage) {
    case Stage::dma_read:
      for (size_t x = 0; x < command->plan.inputs.size(); ++x) {
        if (command->plan.inputs[x].in_memory) t.bytes += input_bytes(*this, x);
      }
      break;
    case Stage::fetch:
      t.bytes = fetch_bytes();
      break;
    case Stage::store:
    case Stage::dma_write:
      t.bytes = store_bytes();
      break;
    case Stage::gemm:
    case Stage::math:
      t.m = tile_m;
      t.n = tile_n;
      t.k = t.stage == Stage::gemm ? tile_k : 0;
      break;
  }
}

}  // namespace kernbench::pe
