// SPDX-License-Identifier: Apache-2.0
// The memory image behaves like bytes in a real memory, and copies no more than necessary.
#include "kernbench/phase2/memory/memory_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "kernbench/phase2/memory/range_value.h"
#include "kernbench/phase2/op/runs.h"
#include "replay_helpers.h"

namespace kernbench {
namespace {

using State = MemoryImage::State;
const MemoryImage::SpaceKey kHbm{Space::hbm, kNoPe};

std::shared_ptr<OpDesc> op(CommandType type, const std::string& name) {
  auto d = std::make_shared<OpDesc>();
  d->type = type;
  d->name = name;
  return d;
}

/// One byte of the model.
struct Cell {
  State state = State::unwritten;
  uint8_t value = 0;
  const OpDesc* producer = nullptr;
  uint64_t offset = 0;
  bool operator==(const Cell& o) const {
    return state == o.state && value == o.value && producer == o.producer && offset == o.offset;
  }
};

Cell cell_of(const MemoryImage& image, MemoryImage::SpaceKey key, uint64_t addr) {
  Cell c;
  image.for_each_piece(key, addr, 1, [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t offset) {
    if (!e) return;
    if (e->producer()) {
      c = {State::pending, 0, e->producer(), e->offset() + offset};
    } else {
      c = {State::real, e->data()[offset], nullptr, 0};
    }
  });
  return c;
}

/// Halves of one buffer, each produced separately: the bytes `from`, `from` + 1, …
struct Halves {
  struct Half final : LaterBytes {
    void fill() const override {
      for (uint64_t i = 0; i < size; ++i) to[i] = static_cast<uint8_t>(from + i);
      ++fills;
    }
    uint64_t from = 0, size = 0;
    uint8_t* to = nullptr;
    mutable std::atomic<int> fills{0};
  };
  static std::shared_ptr<Halves> of(uint64_t n, uint64_t from) {
    auto h = std::make_shared<Halves>();
    h->buffer.resize(n);
    for (const bool second : {false, true}) {
      Half& half = h->half[second];
      half.to = h->buffer.data() + (second ? n / 2 : 0);
      half.from = from + (second ? n / 2 : 0);
      half.size = second ? n - n / 2 : n / 2;
    }
    return h;
  }
  static void write(MemoryImage& image, MemoryImage::SpaceKey key, uint64_t addr, const std::shared_ptr<Halves>& h) {
    for (const Half& half : h->half)
      image.write_shared(key, addr + static_cast<uint64_t>(half.to - h->buffer.data()), {h, half.to, half.size, &half});
  }
  Bytes buffer;
  Half half[2];
};

TEST(MemoryImage, agrees_with_a_byte_array_under_random_operations) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  constexpr uint64_t kSize = 2048, kBase = 0xfffff000;
  const auto pick = [&](uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(rng); };
  std::vector<std::shared_ptr<OpDesc>> producers;
  for (int i = 0; i < 4; ++i) producers.push_back(op(CommandType::math, "producer" + std::to_string(i)));

  for (int round = 0; round < 20; ++round) {
    MemoryImage image;
    std::vector<Cell> model(kSize);
    MemoryImage old_image;
    std::vector<Cell> old_model(kSize);
    for (int step = 0; step < 200; ++step) {
      const uint64_t n = 1 + pick(step % 3 ? 64 : 700);
      const uint64_t at = pick(kSize - n);
      switch (pick(9)) {
        case 0:
        case 1: {
          Bytes bytes(n);
          for (uint64_t i = 0; i < n; ++i) {
            bytes[i] = static_cast<uint8_t>(rng());
            model[at + i] = {State::real, bytes[i], nullptr, 0};
          }
          const uint64_t way = pick(4);
          if (way == 0) {
            const uint64_t from = pick(256);
            Halves::write(image, kHbm, kBase + at, Halves::of(n, from));
            for (uint64_t i = 0; i < n; ++i) model[at + i].value = static_cast<uint8_t>(from + i);
          } else if (way == 1) {
            image.write(kHbm, kBase + at, bytes.data(), n);
          } else {
            image.write_shared(kHbm, kBase + at, SharedBytes::take(std::move(bytes)));
          }
          break;
        }
        case 2: {
          const auto& p = producers[pick(producers.size())];
          const uint64_t offset = pick(1000);
          image.bind_pending(kHbm, kBase + at, n, {p, offset});
          for (uint64_t i = 0; i < n; ++i) model[at + i] = {State::pending, 0, p.get(), offset + i};
          break;
        }
        case 3:
          image.erase(kHbm, kBase + at, n);
          for (uint64_t i = 0; i < n; ++i) model[at + i] = {};
          break;
        case 4: {  // rows of one strided tensor into another; they may overlap
          const int64_t rows = 1 + static_cast<int64_t>(pick(6)), cols = 1 + static_cast<int64_t>(pick(12));
          const int64_t from_stride = pick(4) ? cols + static_cast<int64_t>(pick(20)) : 0;
          const int64_t to_stride = cols + static_cast<int64_t>(pick(20));
          const TensorRef from = hbm(kBase + pick(kSize - 32 * 6), DType::u8, {rows, cols}, {from_stride, 1});
          const TensorRef to = hbm(kBase + pick(kSize - 32 * 6), DType::u8, {rows, cols}, {to_stride, 1});
          std::vector<Cell> moved;
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < cols; ++c) {
              moved.push_back(model[from.addr - kBase + static_cast<uint64_t>(r * from_stride + c)]);
            }
          }
          for (int64_t r = 0, i = 0; r < rows; ++r) {
            for (int64_t c = 0; c < cols; ++c, ++i) {
              model[to.addr - kBase + static_cast<uint64_t>(r * to_stride + c)] = moved[static_cast<size_t>(i)];
            }
          }
          image.transfer(from, to);
          break;
        }
        case 5:
        case 6:
        case 7: {  // a part of a range's current contents, elsewhere; unwritten bytes leave the memory unchanged
          const RangeValue held(image, hbm(kBase + at, DType::u8, {static_cast<int64_t>(n)}));
          const uint64_t from = pick(n), len = 1 + pick(n - from), to = pick(kSize - len);
          const std::vector<Cell> cells(model.begin() + static_cast<std::ptrdiff_t>(at + from),
                                        model.begin() + static_cast<std::ptrdiff_t>(at + from + len));
          held.put(image, kHbm, kBase + to, from, len);
          for (uint64_t i = 0; i < len; ++i) {
            if (cells[i].state != State::unwritten) model[to + i] = cells[i];
          }
          break;
        }
        default:
          old_image = image.snapshot();
          old_model = model;
      }
    }
    for (uint64_t i = 0; i < kSize; ++i) {
      ASSERT_TRUE(cell_of(image, kHbm, kBase + i) == model[i]) << "round " << round << " byte " << i;
      ASSERT_TRUE(cell_of(old_image, kHbm, kBase + i) == old_model[i]) << "snapshot, round " << round << " byte " << i;
    }
    // Extents never overlap and are never empty.
    uint64_t end = 0;
    image.for_each_extent(kHbm, kBase, kSize, [&](uint64_t at, uint64_t n, const MemoryImage::Extent*, uint64_t) {
      ASSERT_GE(at, end);
      ASSERT_GT(n, 0u);
      end = at + n;
    });
    // The state of a range is the worst of its bytes, and the position is the first of them.
    for (int i = 0; i < 50; ++i) {
      const uint64_t n = 1 + pick(100), at = pick(kSize - n);
      const auto got = image.state_of(kHbm, kBase + at, n);
      State want = State::real;
      for (State s : {State::unwritten, State::pending}) {
        for (uint64_t b = 0; b < n && want == State::real; ++b) {
          if (model[at + b].state == s) {
            want = s;
            ASSERT_EQ(got.first_bad, kBase + at + b);
          }
        }
      }
      ASSERT_EQ(got.state, want);
    }
  }
}

/// Extents of a range as "address+size of producer+offset".
std::string extents_of(const MemoryImage& image, uint64_t addr, uint64_t n) {
  std::string text;
  image.for_each_extent(kHbm, addr, n, [&](uint64_t at, uint64_t len, const MemoryImage::Extent* e, uint64_t offset) {
    text += (text.empty() ? "" : " ") + std::to_string(at) + "+" + std::to_string(len);
    if (e) text += ":" + e->producer()->name + std::to_string(e->offset() + offset);
  });
  return text;
}

TEST(MemoryImage, what_is_bound_over_several_extents_cuts_those_at_its_ends) {
  MemoryImage image;
  const auto a = op(CommandType::math, "a"), b = op(CommandType::math, "b");
  for (uint64_t i = 0; i < 200; ++i) image.bind_pending(kHbm, 10 * i, 8, {a, 100 * i});
  image.bind_pending(kHbm, 13, 1972, {b, 5});
  EXPECT_EQ(image.extent_count(), 5u);
  EXPECT_EQ(extents_of(image, 0, 2000), "0+8:a0 8+2 10+3:a100 13+1972:b5 1985+3:a19805 1988+2 1990+8:a19900 1998+2");
  image.bind_pending(kHbm, 0, 13, {a, 0});  // ends where a non-continuing one begins
  EXPECT_EQ(extents_of(image, 0, 20), "0+13:a0 13+7:b5");
}

TEST(MemoryImage, what_is_bound_within_an_extent_leaves_both_its_ends) {
  MemoryImage image;
  const auto a = op(CommandType::math, "a"), b = op(CommandType::math, "b");
  image.bind_pending(kHbm, 100, 50, {a, 7});
  image.bind_pending(kHbm, 120, 0, {b, 0});
  EXPECT_EQ(extents_of(image, 100, 50), "100+50:a7");
  image.bind_pending(kHbm, 120, 10, {b, 0});
  EXPECT_EQ(extents_of(image, 100, 50), "100+20:a7 120+10:b0 130+20:a37");
  image.bind_pending(kHbm, 120, 10, {a, 27});  // the same bounds, over earlier contents
  EXPECT_EQ(extents_of(image, 100, 50), "100+50:a7");
}

TEST(MemoryImage, a_whole_space_can_be_bound_at_once) {
  constexpr uint64_t kAll = ~uint64_t{0};  // the largest size
  MemoryImage image;
  const auto a = op(CommandType::math, "a"), b = op(CommandType::math, "b");
  for (uint64_t i = 0; i < 100; ++i) image.bind_pending(kHbm, i << 57, 64, {a, 0});
  image.bind_pending(kHbm, 0, kAll, {b, 0});
  EXPECT_EQ(image.extent_count(), 1u);
  image.bind_pending(kHbm, kAll, 1, {b, kAll});
  EXPECT_EQ(image.extent_count(), 2u);  // 2^64 bytes are more than one has
  image.bind_pending(kHbm, 1, kAll, {a, 0});
  EXPECT_EQ(extents_of(image, 0, 2), "0+1:b0 1+1:a0");
  EXPECT_EQ(extents_of(image, kAll, 1), std::to_string(kAll) + "+1:a" + std::to_string(kAll - 1));
  EXPECT_THROW(image.bind_pending(kHbm, 2, kAll, {a, 0}), std::out_of_range);
  image.erase(kHbm, 0, kAll);
  EXPECT_EQ(image.extent_count(), 1u);
}

TEST(MemoryImage, many_small_adjacent_writes_leave_few_extents) {
  MemoryImage image;
  for (uint32_t i = 0; i < 10000; ++i) image.write(kHbm, 4 * i, &i, 4);
  EXPECT_LE(image.extent_count(), 40000u / 2048 + 1);
  uint32_t v;
  image.read(kHbm, 4 * 7777, &v, 4);
  EXPECT_EQ(v, 7777u);
}

TEST(MemoryImage, tiles_written_back_side_by_side_merge) {
  MemoryImage image;
  const auto producer = op(CommandType::gemm, "gemm_f32");
  for (uint64_t i = 0; i < 1000; ++i) image.bind_pending(kHbm, i * 64, 64, {producer, i * 64});
  EXPECT_EQ(image.extent_count(), 1u);
}

TEST(MemoryImage, small_writes_into_a_large_extent_change_neither_its_copies_nor_the_number_of_extents) {
  MemoryImage image;
  image.write_shared(kHbm, 0, SharedBytes::take(Bytes(1 << 16, 1)));
  const MemoryImage before = image.snapshot();
  for (uint64_t at = 0; at < 1 << 16; at += 8) image.write(kHbm, at, "x", 1);
  EXPECT_LE(image.extent_count(), 16u);
  const uint8_t* block = image.view(kHbm, 0, 4096);
  image.write(kHbm, 16, "y", 1);
  EXPECT_EQ(image.view(kHbm, 0, 4096), block);  // no other owner
  const MemoryImage then = image.snapshot();
  image.write(kHbm, 16, "z", 1);
  EXPECT_EQ(*before.view(kHbm, 16, 1), 1);
  EXPECT_EQ(*then.view(kHbm, 16, 1), 'y');
  EXPECT_EQ(*image.view(kHbm, 16, 1), 'z');
}

TEST(MemoryImage, moving_bulk_data_shares_its_buffer) {
  MemoryImage image;
  Bytes big(1 << 20, 7);
  const uint8_t* where = big.data();
  image.write_shared(kHbm, 0, SharedBytes::take(std::move(big)));
  image.transfer(hbm(0, DType::u8, {1 << 20}), tcm(3, 64, DType::u8, {1 << 20}));
  EXPECT_EQ(image.view({Space::tcm, 3}, 64, 1 << 20), where);
  EXPECT_EQ(image.snapshot().view({Space::tcm, 3}, 64, 1 << 20), where);
  EXPECT_EQ(image.view({Space::tcm, 4}, 64, 1), nullptr);
}

TEST(MemoryImage, bytes_are_made_when_somebody_looks_at_them_and_once) {
  constexpr uint64_t kHalf = 1 << 16;
  const auto halves = Halves::of(2 * kHalf, 3);
  MemoryImage image;
  Halves::write(image, kHbm, 0, halves);
  image.transfer(hbm(100, DType::u8, {2 * kHalf - 100}), tcm(3, 64, DType::u8, {2 * kHalf - 100}));
  EXPECT_EQ(image.state_of(tcm(3, 64, DType::u8, {2 * kHalf - 100})).state, State::real);
  const MemoryImage copy = image.snapshot();
  image.erase(kHbm, 0, 10);
  EXPECT_EQ(halves->half[0].fills + halves->half[1].fills, 0);

  std::vector<std::thread> threads;
  std::vector<uint8_t> found(4);
  for (size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] { copy.read({Space::tcm, 3}, 64 + kHalf + t, &found[t], 1); });
  for (std::thread& t : threads) t.join();
  for (size_t t = 0; t < found.size(); ++t) EXPECT_EQ(found[t], static_cast<uint8_t>(3 + 100 + kHalf + t));
  EXPECT_EQ(halves->half[0].fills, 0);
  EXPECT_EQ(halves->half[1].fills, 1);
  ASSERT_NE(image.view(kHbm, 10, 4), nullptr);
  EXPECT_EQ(*image.view(kHbm, 10, 4), 13);
  EXPECT_EQ(halves->half[0].fills, 1);
}

/// An all_gather by halving: each of 256 PEs ends with the blocks of all, each made by a separate op.
TEST(MemoryImage, what_many_ranges_hold_of_one_another_costs_each_few_extents) {
  constexpr uint32_t kPes = 256;
  constexpr uint64_t kBlock = 16;
  MemoryImage image;
  std::vector<std::shared_ptr<OpDesc>> producers;
  for (uint32_t pe = 0; pe < kPes; ++pe) {
    producers.push_back(op(CommandType::math, "producer"));
    image.bind_pending({Space::tcm, pe}, pe * kBlock, kBlock, {producers.back(), 0});
  }
  for (uint32_t size = 1; size < kPes; size *= 2) {
    std::vector<RangeValue> sent;
    const auto held_by = [&](uint32_t pe) { return pe / size * size * kBlock; };
    for (uint32_t pe = 0; pe < kPes; ++pe)
      sent.emplace_back(image, tcm(pe, held_by(pe), DType::u8, {static_cast<int64_t>(size * kBlock)}));
    for (uint32_t pe = 0; pe < kPes; ++pe)
      sent[pe ^ size].put(image, {Space::tcm, pe}, held_by(pe ^ size), 0, size * kBlock);
  }
  EXPECT_LE(image.extent_count(), 16u * kPes);
  for (uint32_t pe = 0; pe < kPes; pe += 85) {
    for (uint32_t block = 0; block < kPes; ++block) {
      const Cell c = cell_of(image, {Space::tcm, pe}, block * kBlock + 3);
      EXPECT_TRUE(c == (Cell{State::pending, 0, producers[block].get(), 3})) << pe << " " << block;
    }
  }
}

TEST(MemoryImage, a_tile_of_many_pieces_costs_its_handle_one_extent) {
  constexpr uint64_t kRow = 16, kPitch = 64;
  const MemoryImage::SpaceKey key{Space::tcm, 1};
  const auto producer = op(CommandType::gemm, "gemm_f16");
  MemoryImage image;
  for (uint64_t r = 0; r < 40; ++r) image.bind_pending(kHbm, r * kPitch, kPitch, {producer, r * kPitch * 8});
  const auto tile = [](uint64_t addr, int64_t rows) { return hbm(addr, DType::u8, {rows, kRow}, {kPitch, 1}); };
  const auto load = [&](int64_t rows) {
    image.drop(key);
    const size_t before = image.extent_count();
    image.transfer(tile(8, rows), tcm(1, 100, DType::u8, {rows, kRow}));
    return image.extent_count() - before;
  };
  const auto is_row = [&](MemoryImage::SpaceKey space, uint64_t addr, uint64_t row) {
    return cell_of(image, space, addr) == Cell{State::pending, 0, producer.get(), row * kPitch * 8 + 8};
  };
  EXPECT_EQ(load(4), 4u);
  EXPECT_EQ(load(32), 1u);
  for (uint64_t r = 0; r < 32; ++r) EXPECT_TRUE(is_row(key, 100 + r * kRow, r)) << r;
  EXPECT_EQ(image.state_of(key, 100, 32 * kRow).state, State::pending);
  EXPECT_EQ(image.state_of(key, 100, 32 * kRow + 1).first_bad, 100 + 32 * kRow);

  // Cut in the middle, and copied to rows of another memory.
  image.write(key, 100 + 10 * kRow, "x", 1);
  EXPECT_TRUE(is_row(key, 100 + 9 * kRow, 9));
  EXPECT_EQ(cell_of(image, key, 100 + 10 * kRow).value, 'x');
  EXPECT_TRUE(is_row(key, 100 + 11 * kRow, 11));
  image.transfer(tcm(1, 100, DType::u8, {32, kRow}), tile(1 << 20, 32));
  for (uint64_t r = 0; r < 32; ++r) EXPECT_EQ(is_row(kHbm, (1 << 20) + r * kPitch, r), r != 10) << r;
  EXPECT_EQ(image.state_of(kHbm, (1 << 20) + kRow, 1).state, State::unwritten);

  // Copied back with an offset of one row, and with a hole, which stays.
  image.transfer(tile(kPitch, 36), tile(0, 36));
  EXPECT_TRUE(is_row(kHbm, 8, 1));
  EXPECT_TRUE(is_row(kHbm, 30 * kPitch + 8, 31));
  image.erase(kHbm, 20 * kPitch, kPitch);
  EXPECT_GT(load(32), 1u);
  EXPECT_EQ(image.state_of(key, 100, 32 * kRow).first_bad, 100 + 20 * kRow);
  EXPECT_EQ(load(0), 0u);
}

TEST(MemoryImage, reads_other_dtypes_from_the_same_bytes) {
  MemoryImage image;
  const float one = 1.0f;
  image.write(kHbm, 16, &one, 4);
  const Bytes as_u8 = image.gather(hbm(16, DType::u8, {4}));
  EXPECT_EQ(as_u8, (Bytes{0, 0, 0x80, 0x3f}));
}

TEST(MemoryImage, refuses_a_transfer_between_different_sizes_with_both_counts) {
  MemoryImage image;
  try {
    image.transfer(hbm(0, DType::f32, {4}), hbm(64, DType::f16, {4}));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("16"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("8"), std::string::npos) << e.what();
  }
}

TEST(MemoryImage, names_the_place_and_the_op_when_pending_bytes_are_read) {
  MemoryImage image;
  image.bind_pending(kHbm, 0x100, 16, {op(CommandType::math, "exp"), 0});
  Bytes out(16);
  try {
    image.read(kHbm, 0xf8, out.data(), 16);
    FAIL();
  } catch (const std::logic_error& e) {
    EXPECT_NE(std::string(e.what()).find("0x100"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("exp"), std::string::npos) << e.what();
  }
}

TEST(MemoryImage, tells_the_nearest_written_range) {
  MemoryImage image;
  EXPECT_EQ(image.nearest(kHbm, 5), "");
  Bytes b(16);
  image.write(kHbm, 0x100, b.data(), 16);
  image.bind_pending(kHbm, 0x110, 16, {op(CommandType::math, "exp"), 0});
  image.write(kHbm, 0x1000, b.data(), 16);
  EXPECT_EQ(image.nearest(kHbm, 0x180), "nearest written range: [0x100, 0x120)");
  EXPECT_EQ(image.nearest(kHbm, 0xf00), "nearest written range: [0x1000, 0x1010)");
  EXPECT_EQ(image.nearest(kHbm, 0x2000), "nearest written range: [0x1000, 0x1010)");
  EXPECT_EQ(image.nearest(kHbm, 0), "nearest written range: [0x100, 0x120)");
}

TEST(MemoryImage, holds_the_last_byte_of_the_address_range) {
  MemoryImage image;
  const uint8_t b[2] = {1, 2};
  image.write(kHbm, UINT64_MAX - 1, b, 2);
  uint8_t got[2] = {};
  image.read(kHbm, UINT64_MAX - 1, got, 2);
  EXPECT_EQ(got[1], 2);
  EXPECT_THROW(image.write(kHbm, UINT64_MAX, b, 2), std::out_of_range);
}

/// The rows of a strided tensor.
TEST(Runs, of_a_slice_are_its_rows_and_of_a_transposed_view_its_elements) {
  std::vector<std::pair<uint64_t, uint64_t>> runs;
  const auto add = [&](uint64_t addr, uint64_t n) { runs.emplace_back(addr, n); };
  for_each_run(hbm(100, DType::f16, {2, 3}, {8, 1}), add);
  EXPECT_EQ(runs, (std::vector<std::pair<uint64_t, uint64_t>>{{100, 6}, {116, 6}}));
  runs.clear();
  for_each_run(hbm(0, DType::f32, {2, 2}, {1, 5}), add);
  EXPECT_EQ(runs, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 4}, {20, 4}, {4, 4}, {24, 4}}));
  runs.clear();
  for_each_run(hbm(0, DType::f32, {2, 3, 4}), add);
  EXPECT_EQ(runs, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 96}}));
  runs.clear();
  for_each_run(hbm(0, DType::f32, {}), add);
  EXPECT_EQ(runs, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 4}}));
  runs.clear();
  for_each_run(hbm(0, DType::f32, {3, 0}), add);
  EXPECT_TRUE(runs.empty());
}

TEST(Effects, a_load_of_a_pending_range_gives_a_pending_handle_with_the_same_producer) {
  MemoryImage image;
  auto make = op(CommandType::math, "exp");
  make->output = hbm(0, DType::f32, {4, 4});
  EXPECT_TRUE(apply_effect(make, image));
  auto load = op(CommandType::load, "dma_read");
  load->operands = {operand(hbm(16, DType::f32, {2, 4}))};
  load->output = tcm(0, 0, DType::f32, {2, 4});
  EXPECT_FALSE(apply_effect(load, image));
  const auto state = image.state_of(load->output);
  EXPECT_EQ(state.state, State::pending);
  EXPECT_EQ(state.producer, make);
  EXPECT_EQ(cell_of(image, {Space::tcm, 0}, 0).offset, 16u);
}

TEST(Effects, a_store_of_real_data_makes_pending_bytes_real_again) {
  MemoryImage image;
  auto make = op(CommandType::math, "exp");
  make->output = hbm(0, DType::f32, {4});
  apply_effect(make, image);
  auto store = op(CommandType::store, "dma_write");
  store->operands = {operand(tcm(0, 0, DType::f32, {2}))};
  store->output = hbm(4, DType::f32, {2});
  store->data = std::make_shared<const Bytes>(Bytes{1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_FALSE(apply_effect(store, image));
  EXPECT_EQ(image.state_of(kHbm, 4, 8).state, State::real);
  EXPECT_EQ(image.state_of(kHbm, 0, 16).state, State::pending);
  EXPECT_EQ(image.state_of(kHbm, 0, 16).first_bad, 0u);
  EXPECT_EQ(cell_of(image, kHbm, 12).offset, 12u);
}

TEST(Effects, a_load_shares_rows_or_copies_them_as_asked) {
  MemoryImage image;
  std::vector<float> matrix(16 * 64);
  std::iota(matrix.begin(), matrix.end(), 0.f);
  image.write(kHbm, 0, matrix.data(), matrix.size() * sizeof(float));
  for (const uint64_t share_from : {uint64_t{0}, uint64_t{1024}}) {
    auto load = op(CommandType::load, "dma_read");
    TensorRef columns = hbm(64, DType::f32, {16, 32});  // 128 bytes per row
    columns.strides = {64, 1};
    load->operands = {operand(columns)};
    load->output = tcm(0, 4096, DType::f32, {16, 32});
    image.drop({Space::tcm, 0});
    const size_t extents = image.extent_count();
    EXPECT_FALSE(apply_effect(load, image, share_from));
    EXPECT_EQ(image.extent_count() - extents, 1u);
    EXPECT_EQ(image.view({Space::tcm, 0}, 4096, 16 * 128) != nullptr, share_from > 0);
    std::vector<float> got(16 * 32);
    image.read({Space::tcm, 0}, 4096, got.data(), got.size() * sizeof(float));
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], matrix[16 + i / 32 * 64 + i % 32]) << i;
  }
}

TEST(Effects, a_masked_load_reads_only_where_the_mask_is_set) {
  MemoryImage image;
  const int32_t values[] = {10, 20};
  image.write(kHbm, 0, values, 8);  // two of four elements: the others were never written
  const uint8_t mask[] = {1, 1, 0, 0};
  image.write({Space::tcm, 0}, 0, mask, 4);
  auto load = op(CommandType::load, "dma_read");
  Operand other;
  other.is_scalar = true;
  other.scalar = -7;
  load->operands = {operand(hbm(0, DType::i32, {4})), operand(tcm(0, 0, DType::u8, {4})), other};
  load->output = tcm(0, 64, DType::i32, {4});
  EXPECT_FALSE(apply_effect(load, image));
  int32_t got[4];
  image.read({Space::tcm, 0}, 64, got, 16);
  EXPECT_EQ(std::vector<int32_t>(got, got + 4), (std::vector<int32_t>{10, 20, -7, -7}));
}

TEST(Effects, a_masked_store_leaves_the_other_bytes_alone) {
  MemoryImage image;
  const int16_t old[] = {1, 2, 3, 4};
  image.write(kHbm, 0, old, 8);
  const int16_t fresh[] = {11, 12, 13, 14};
  image.write({Space::tcm, 0}, 0, fresh, 8);
  const uint8_t mask[] = {0, 1, 1, 0};
  image.write({Space::tcm, 0}, 16, mask, 4);
  auto store = op(CommandType::store, "dma_write");
  store->operands = {operand(tcm(0, 0, DType::i16, {4})), operand(tcm(0, 16, DType::u8, {4}))};
  store->output = hbm(0, DType::i16, {4});
  EXPECT_FALSE(apply_effect(store, image));
  int16_t got[4];
  image.read(kHbm, 0, got, 8);
  EXPECT_EQ(std::vector<int16_t>(got, got + 4), (std::vector<int16_t>{1, 12, 13, 4}));
}

TEST(Effects, a_pending_mask_makes_the_op_itself_the_producer) {
  MemoryImage image;
  auto compare = op(CommandType::math, "lt");
  compare->output = tcm(0, 16, DType::u8, {4});
  apply_effect(compare, image);
  Bytes zeros(64);
  image.write(kHbm, 0, zeros.data(), 64);
  image.write({Space::tcm, 0}, 0, zeros.data(), 16);
  auto store = op(CommandType::store, "dma_write");
  store->operands = {operand(tcm(0, 0, DType::f32, {4})), operand(compare->output)};
  store->output = hbm(0, DType::f32, {4});
  EXPECT_TRUE(apply_effect(store, image));
  EXPECT_EQ(image.state_of(kHbm, 0, 16).producer, store);
  auto load = op(CommandType::load, "dma_read");
  load->operands = {operand(hbm(32, DType::f32, {4})), operand(compare->output)};
  load->output = tcm(0, 64, DType::f32, {4});
  EXPECT_TRUE(apply_effect(load, image));
  EXPECT_EQ(image.state_of(load->output).producer, load);
}

TEST(Effects, a_compute_op_binds_every_row_of_a_strided_output) {
  MemoryImage image;
  auto gemm = op(CommandType::composite, "composite_gemm");
  gemm->output = hbm(8, DType::f32, {2, 2}, {6, 1});
  EXPECT_TRUE(apply_effect(gemm, image));
  EXPECT_EQ(image.state_of(kHbm, 8, 8).state, State::pending);
  EXPECT_EQ(image.state_of(kHbm, 16, 16).state, State::unwritten);
  EXPECT_EQ(cell_of(image, kHbm, 32).offset, 8u);
}

}  // namespace
}  // namespace kernbench
