// SPDX-License-Identifier: Apache-2.0
// Records of every kind, for the tests of op logs.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/log/oplog_json.h"
#include "replay_helpers.h"

namespace kernbench {

inline TensorRef ref(Space space, uint32_t pe, uint64_t addr, DType t, const Dims& shape, const Dims& strides = {}) {
  TensorRef r = hbm(addr, t, shape, strides);
  r.space = space;
  r.pe = pe;
  return r;
}

inline OpLogHeader header() {
  OpLogHeader h;
  h.components = {"sip0.cube0.pe0.pe_dma", "sip0.cube0.pe0.pe_gemm", "host \"port\""};
  h.pes = {"sip0.cube0.pe0", "sip0.cube0.pe1"};
  h.configuration = "{\"ns_per_mm\":0.01}";
  h.isa = "avx2";
  return h;
}

/// One record of every kind, with all fields that its row can have.
inline std::vector<OpRecord> one_of_each() {
  std::vector<OpRecord> all;
  const auto add = [&](CommandType type, OpKind kind, const std::string& name) -> OpDesc& {
    auto d = std::make_shared<OpDesc>();
    d->type = type;
    d->kind = kind;
    d->name = name;
    d->pe = 1;
    d->seq = all.size();
    d->submit_ns = 0.1 + static_cast<double>(all.size()) / 3;
    d->handle_id = 7 + all.size();
    d->where = {"kernels/a b.cpp", 42};
    OpRecord r;
    r.op_id = all.size() + 1;
    r.t_start = 1.0 / 3 + static_cast<double>(all.size());
    r.t_end = r.t_start + 1e-3;
    r.component = all.size() % 3;
    r.desc = d;
    all.push_back(r);
    return *d;
  };
  OpDesc& load = add(CommandType::load, OpKind::memory, "dma_read");
  load.operands = {operand(ref(Space::hbm, kNoPe, 0x7ffffffffffull, DType::f16, {4, 8}, {100, 1})),
                   operand(ref(Space::tcm, 1, 64, DType::u8, {4, 8}, {0, 1})), immediate(-INFINITY)};
  load.output = ref(Space::tcm, 1, 128, DType::f16, {4, 8});
  OpDesc& store = add(CommandType::store, OpKind::memory, "dma_write");
  store.operands = {operand(load.output)};
  store.output = ref(Space::sram, kNoPe, 16, DType::f16, {4, 8}, {9, 1});
  OpDesc& gemm = add(CommandType::gemm, OpKind::gemm, "gemm_i8");
  gemm.op = "gemm";
  gemm.operands = {operand(ref(Space::tcm, 1, 0, DType::i8, {3, 5})),
                   operand(ref(Space::tcm, 1, 32, DType::u8, {4, 3}))};
  gemm.output = ref(Space::tcm, 1, 64, DType::i32, {5, 4});
  gemm.m = 5;
  gemm.n = 4;
  gemm.k = 3;
  gemm.transpose_a = gemm.transpose_b = true;
  gemm.dtype_acc = DType::i32;
  OpDesc& math = add(CommandType::math, OpKind::math, "clamp");
  math.op = "clamp";
  math.operands = {immediate(0.1), operand(ref(Space::tcm, 1, 0, DType::bf16, {2, 3}, {0, 1})), immediate(NAN)};
  math.output = ref(Space::tcm, 0, 8, DType::bf16, {2, 3});
  OpDesc& sum = add(CommandType::math, OpKind::math, "sum");
  sum.op = "sum";
  sum.reduction = sum.keepdims = true;
  sum.axis = -1;
  sum.operands = {operand(ref(Space::hbm, kNoPe, 0, DType::f32, {2, 3}))};
  sum.output = ref(Space::tcm, 0, 8, DType::f32, {2, 1});
  OpDesc& composite = add(CommandType::composite, OpKind::gemm, "composite_gemm");
  composite.op = "gemm";
  composite.operands = {operand(ref(Space::hbm, kNoPe, 0, DType::f8e4m3, {64, 32}, {640, 1})),
                        operand(ref(Space::hbm, kNoPe, 1 << 20, DType::f8e4m3, {32, 16}))};
  composite.output = ref(Space::hbm, kNoPe, 1 << 21, DType::f32, {64, 16}, {48, 1});
  composite.m = 64;
  composite.n = 16;
  composite.k = 32;
  composite.tile_m = 32;
  composite.tile_n = 16;
  composite.tile_k = 8;
  composite.epilogue = {{"add", Scope::per_output_tile, {operand(ref(Space::tcm, 1, 0, DType::f32, {16}))}},
                        {"mul", Scope::per_k_tile, {immediate(0.25)}},
                        {"relu", Scope::once, {}}};
  OpDesc& elementwise = add(CommandType::composite, OpKind::math, "composite_math");
  elementwise.op = "add";
  elementwise.operands = {operand(ref(Space::hbm, kNoPe, 0, DType::f32, {100})), immediate(2)};
  elementwise.output = ref(Space::hbm, kNoPe, 4096, DType::f32, {100});
  elementwise.m = 1;
  elementwise.n = 100;
  elementwise.tile_m = 1;
  elementwise.tile_n = 30;
  OpDesc& foreign = add(CommandType::store, OpKind::memory, "dma_write");
  foreign.operands.clear();
  foreign.output = ref(Space::hbm, kNoPe, 4096, DType::u8, {100});
  foreign.pe = kNoPe;
  foreign.seq = 0;
  foreign.submit_ns = 0;
  foreign.where = {};
  all.back().foreign = true;
  all.back().effect_ns = 8.0 / 3;
  all.back().dependency_ids = {1, 3};
  OpDesc& unknown = add(CommandType::math, OpKind::unknown, "my_message");
  unknown.with("bank", 3)
      .with("rows", uint64_t{1} << 40)
      .with("share", 0.25)
      .with("why", "a \"timer\"")
      .with("all", true);
  OpDesc& materialize = add(CommandType::store, OpKind::memory, "materialize");
  materialize.operands = {operand(ref(Space::tcm, 1, 64, DType::f32, {4}))};
  materialize.output = ref(Space::tcm, 1, 64, DType::f32, {4});
  auto what = std::make_shared<Materialization>();
  what->computed = {{1, 4}, {0, 3}};
  what->operations = 1e10 / 3;
  what->bytes = 1 << 20;
  materialize.materialized = what;
  OpDesc& copy = add(CommandType::store, OpKind::memory, "ipcq_copy");
  copy.operands = {operand(ref(Space::tcm, 0, 64, DType::f32, {4}))};
  copy.output = ref(Space::tcm, 1, 640, DType::f32, {4});
  for (int s = 0; s < kTileStages; ++s) {
    OpRecord r;
    r.op_id = all.size() + 1;
    r.t_start = 0.1 * static_cast<double>(s);
    r.t_end = r.t_start + 0.7;
    r.is_token = true;
    r.token.stage = static_cast<Stage>(s);
    r.token.tile_id = 3;
    r.token.composite_op_id = 6;
    r.token.fed_ns = 1.0 / 7;
    r.token.buffer_offset = 4096;
    if (r.token.stage == Stage::store) r.token.buffer_pieces = {{4096, 512}, {65536, 1536}};
    const bool engine = r.token.stage == Stage::gemm || r.token.stage == Stage::math;
    if (engine) {
      r.token.m = 32;
      r.token.n = 16;
      r.token.k = r.token.stage == Stage::gemm ? 8 : 0;
    } else {
      r.token.bytes = 1024;
    }
    all.push_back(r);
  }
  return all;
}

inline std::vector<std::string> as_text(std::vector<OpRecord> records) {
  sort_log(records);
  std::vector<std::string> lines;
  for (const OpRecord& r : records) {
    lines.emplace_back();
    append_json(lines.back(), r, header());
  }
  return lines;
}

}  // namespace kernbench
