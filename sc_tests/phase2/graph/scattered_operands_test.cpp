// SPDX-License-Identifier: Apache-2.0
// Is an operand in several physical pieces logged, read back, moved and replayed as one tensor?
#include <gtest/gtest.h>

#include <cstring>

#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/log/oplog_json.h"
#include "replay_helpers.h"

namespace kernbench::scattered_operands {
namespace {

constexpr MemoryImage::SpaceKey kHbm{Space::hbm, kNoPe};

/// A tensor whose span is cut into pieces of these sizes, the i-th at base + (i + 1) · 0x10000.
TensorRef scattered(DType t, const Dims& shape, const std::vector<uint64_t>& sizes, const Dims& strides = {},
                    uint64_t base = 0) {
  TensorRef r = hbm(base + 0x10000, t, shape, strides);
  auto where = std::make_shared<Translation>();
  where->virtual_addr = kVirtualBase + 64;
  uint64_t offset = 0;
  for (uint64_t size : sizes) {
    where->pieces.push_back({offset, base + (where->pieces.size() + 1) * 0x10000, size});
    offset += size;
  }
  r.translation = where;
  return r;
}

std::shared_ptr<OpDesc> command(CommandType type, OpKind kind, const std::string& name, uint64_t seq) {
  auto d = std::make_shared<OpDesc>();
  d->type = type;
  d->kind = kind;
  d->name = name;
  d->op = kind == OpKind::memory ? "" : kind == OpKind::gemm ? "gemm" : "add";
  d->pe = 0;
  d->seq = seq;
  d->submit_ns = static_cast<double>(seq + 1);
  return d;
}

OpLogHeader header() {
  OpLogHeader h;
  h.components = {"pe_dma"};
  h.pes = {"pe0"};
  return h;
}

std::string json_of(const OpRecord& r) {
  std::string text;
  append_json(text, r, header());
  return text;
}

/// y = x + x, with rows of 3 of 4 columns that cross ends of pieces; then z = y.
std::vector<OpRecord> program() {
  const TensorRef x = scattered(DType::f32, {3, 3}, {20, 8, 16}, {4, 1});
  auto add = command(CommandType::composite, OpKind::math, "composite_math", 0);
  add->operands = {operand(x), operand(x)};
  add->output = scattered(DType::f32, {3, 3}, {4, 40}, {}, 0x1000000);
  add->m = add->n = add->tile_m = add->tile_n = 3;
  auto load = command(CommandType::load, OpKind::memory, "dma_read", 1);
  load->operands = {operand(add->output)};
  load->output = tcm(0, 0, DType::f32, {3, 3});
  auto store = command(CommandType::store, OpKind::memory, "dma_write", 2);
  store->operands = {operand(load->output)};
  store->output = scattered(DType::f32, {3, 3}, {12, 12, 12}, {}, 0x2000000);
  return {record(1, add, 1.5), record(2, load, 2.5), record(3, store, 3.5)};
}

TEST(ScatteredOperands, come_out_of_a_log_as_they_went_in) {
  std::vector<OpRecord> records = program();
  auto gemm = command(CommandType::composite, OpKind::gemm, "composite_gemm", 3);
  gemm->operands = {operand(scattered(DType::f32, {4, 2}, {16, 16})), operand(scattered(DType::f32, {2, 3}, {24}))};
  gemm->output = scattered(DType::f32, {4, 3}, {24, 24});
  gemm->m = gemm->tile_m = 4;
  gemm->n = gemm->tile_n = 3;
  gemm->k = gemm->tile_k = 2;
  records.push_back(record(4, gemm, 4.5));
  OpRecordParser parser(header());
  for (const OpRecord& r : records) {
    OpRecord again;
    const std::string text = json_of(r);
    ASSERT_TRUE(parser.parse_line(text, again));
    EXPECT_EQ(json_of(again), text);
    EXPECT_NE(text.find("virtual_addr\":4503599627370560"), std::string::npos) << text;
  }
  EXPECT_EQ(json_of(records[3]).find("src_b_pieces"), std::string::npos) << "one piece needs no list";
}

TEST(ScatteredOperands, with_pieces_that_do_not_hold_the_tensor_are_refused) {
  const std::string good = json_of(program()[1]);
  const std::string pieces =
      "[{\"offset\":0,\"addr\":16842752,\"nbytes\":4},{\"offset\":4,\"addr\":16908288,\"nbytes\":40}]";
  const size_t at = good.find(pieces);
  ASSERT_NE(at, std::string::npos) << good;
  for (const char* bad : {"[]", "[{\"offset\":0,\"addr\":16842752,\"nbytes\":4}]",
                          "[{\"offset\":0,\"addr\":1,\"nbytes\":4},{\"offset\":5,\"addr\":2,\"nbytes\":40}]",
                          "[{\"offset\":4,\"addr\":1,\"nbytes\":40}]", "7"}) {
    std::string text = good;
    text.replace(at, pieces.size(), bad);
    OpRecord r;
    OpRecordParser parser(header());
    EXPECT_THROW(parser.parse_line(text, r), std::exception) << bad;
  }
}

TEST(ScatteredOperands, are_replayed_byte_for_byte) {
  MemoryImage image;
  const TensorRef x = scattered(DType::f32, {3, 3}, {20, 8, 16}, {4, 1});
  for (int i = 0; i < 11; ++i) {
    const float value = static_cast<float>(i);
    image.write(kHbm, x.address_at(4 * static_cast<uint64_t>(i)), &value, 4);
  }
  const std::vector<OpRecord> records = program();
  for (int threads : {1, 3}) {
    ReplayOptions options;
    options.threads = threads;
    const ReplayResult r = replay(records, image, options);
    const Bytes z = r.memory.gather(records[2].desc->output);
    ASSERT_EQ(z.size(), 36u);
    for (int i = 0; i < 9; ++i) {
      float value;
      std::memcpy(&value, z.data() + 4 * i, 4);
      EXPECT_EQ(value, static_cast<float>(2 * (4 * (i / 3) + i % 3))) << i;
    }
    // Each piece holds its own part.
    float value;
    r.memory.read(kHbm, 0x2020000, &value, 4);
    EXPECT_EQ(value, 8.0f) << "the first element of the second row";
  }
}

TEST(ScatteredOperands, under_a_mask_are_touched_where_the_mask_says) {
  MemoryImage image;
  auto store = command(CommandType::store, OpKind::memory, "dma_write", 0);
  store->operands = {operand(tcm(0, 0, DType::i16, {6})), operand(tcm(0, 64, DType::u8, {6}))};
  store->output = scattered(DType::i16, {6}, {4, 2, 6});
  const int16_t values[6] = {1, 2, 3, 4, 5, 6};
  const uint8_t mask[6] = {1, 0, 1, 1, 0, 1};
  image.write({Space::tcm, 0}, 0, values, sizeof values);
  image.write({Space::tcm, 0}, 64, mask, sizeof mask);
  EXPECT_FALSE(apply_effect(store, image));
  for (uint64_t i = 0; i < 6; ++i) {
    const auto state = image.state_of(kHbm, store->output.address_at(2 * i), 2).state;
    EXPECT_EQ(state == MemoryImage::State::real, mask[i] == 1) << i;
  }
  auto load = command(CommandType::load, OpKind::memory, "dma_read", 1);
  load->operands = {operand(store->output), operand(tcm(0, 64, DType::u8, {6})), immediate(-7)};
  load->output = tcm(0, 128, DType::i16, {6});
  EXPECT_FALSE(apply_effect(load, image));
  int16_t back[6];
  image.read({Space::tcm, 0}, 128, back, sizeof back);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(back[i], mask[i] ? values[i] : -7) << i;
}

}  // namespace
}  // namespace kernbench::scattered_operands
