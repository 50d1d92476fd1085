// SPDX-License-Identifier: Apache-2.0
// Are the buffers of a PE's tiles in flight disjoint and inside the reserved TCM, for any sequence of tiles?
#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <random>
#include <sstream>

#include "kernbench/platform/work/command_driver.h"
#include "kernbench/platform/work/pipeline.h"
#include "kernbench/systemc_models/pe/tile_buffers.h"
#include "system_support.h"

namespace kernbench::testing::tile_buffers_never_overlap {
namespace {

TEST(TileBuffers, use_every_free_byte_once_in_pieces_if_need_be) {
  constexpr uint64_t kBytes = 300;
  std::mt19937_64 r(1);
  TileBuffers room(kBytes);
  std::vector<bool> taken(kBytes);
  std::vector<std::pair<TileBuffer, uint64_t>> buffers;
  const auto mark = [&](const TileBuffer& b, bool as) {
    uint64_t nbytes = 0;
    std::vector<BufferPiece> pieces = b.others;
    pieces.push_back(b.first);
    for (const BufferPiece& p : pieces) {
      nbytes += p.nbytes;
      for (uint64_t at = p.offset; at < p.offset + p.nbytes; ++at) {
        EXPECT_LT(at, kBytes);
        EXPECT_NE(taken.at(at), as) << "byte " << at;
        taken.at(at) = as;
      }
    }
    return nbytes;
  };
  const auto longest_hole = [&] {
    uint64_t longest = 0, now = 0;
    for (const bool t : taken) longest = std::max(longest, now = t ? 0 : now + 1);
    return longest;
  };
  int in_pieces = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t n = r() % 2 ? 40 : 1 + r() % 90;  // often a repeated size
    if (n <= room.free_bytes() && r() % 3) {
      const uint64_t hole = longest_hole();
      TileBuffer b = room.take(n);
      EXPECT_EQ(mark(b, true), n);
      EXPECT_EQ(b.others.empty(), n <= hole) << "contiguous where there is contiguous room, and only there";
      in_pieces += !b.others.empty();
      buffers.emplace_back(std::move(b), n);
    } else if (!buffers.empty()) {
      std::swap(buffers[r() % buffers.size()], buffers.back());
      EXPECT_EQ(mark(buffers.back().first, false), buffers.back().second);
      room.give_back(std::move(buffers.back().first));
      buffers.pop_back();
    }
    EXPECT_EQ(room.free_bytes(), static_cast<uint64_t>(std::count(taken.begin(), taken.end(), false)));
    if (HasFailure()) break;
  }
  EXPECT_GT(in_pieces, 100);
  EXPECT_THROW(room.take(room.free_bytes() + 1), std::logic_error);
}

// ---- From the op log ------------------------------------------------------------------------------------------------

struct Life {
  double from = 0, to = 0;
  std::vector<BufferPiece> pieces;
};
using Lives = std::map<std::pair<uint64_t, uint32_t>, Life>;  // by composite's op_id and tile

class LifeLog : public OpLogSink {
 public:
  explicit LifeLog(Lives& lives) : lives_(lives) {}
  void record(OpRecord&& r) override {
    if (!r.is_token) return;
    const auto [it, fresh] = lives_.try_emplace({r.token.composite_op_id, r.token.tile_id});
    Life& life = it->second;
    std::vector<BufferPiece> pieces = r.token.buffer_pieces;
    if (pieces.empty()) pieces.push_back({r.token.buffer_offset, 0});  // its bytes are the composite's tile bytes
    EXPECT_EQ(pieces.front().offset, r.token.buffer_offset);
    EXPECT_TRUE(fresh || life.pieces.size() == pieces.size()) << "a tile's buffer changed on its way";
    life.from = r.token.fed_ns;
    life.to = std::max(life.to, r.t_end);
    life.pieces = std::move(pieces);
  }

 private:
  Lives& lives_;
};

struct Machine {
  uint64_t reserved = 0;
  std::string yaml;
};

Machine random_machine(std::mt19937_64& r) {
  Machine m;
  m.reserved = 9'500 + r() % 30'000;  // the largest tile below is 9,126 bytes
  const auto depth = [&r] { return ", queue_depth: " + std::to_string(1 + r() % 5); };
  const auto engines = [&r] { return std::to_string(1 + r() % 3); };
  std::ostringstream y;
  y << "timing: {links: " << (r() % 2 ? "ideal" : "cut_through") << ", response: routed}\n"
    << "nodes:\n- {id: mem, kind: hbm_ctrl}\n"
    << "- {id: p.pe_cpu, kind: pe_cpu}\n- {id: p.pe_scheduler, kind: pe_scheduler}\n"
    << "- {id: p.pe_dma, kind: pe_dma, attrs: {rd_engines: " << engines() << ", wr_engines: " << engines() << depth()
    << "}}\n"
    << "- {id: p.pe_fetch_store, kind: pe_fetch_store, attrs: {overhead_ns: " << r() % 3 << depth() << "}}\n"
    << "- {id: p.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: " << 64 * (1 + r() % 16) << ", freq_ghz: 1" << depth()
    << "}}\n"
    << "- {id: p.pe_math, kind: pe_math, attrs: {lanes: " << 4 * (1 + r() % 16) << ", freq_ghz: 1" << depth() << "}}\n"
    << "- {id: p.pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: " << std::setprecision(17)
    << static_cast<double>(m.reserved) / 1048576 << ", read_bw_gbs: 200, write_bw_gbs: 100}}\n"
    << "links:\n- {from: p.pe_dma, to: mem, distance_mm: 0, bw_gbs: " << 32 * (1 + r() % 8) << "}\n"
    << "memories:\n- {node: mem, space: hbm, base: 0, size: 67108864}\n";
  m.yaml = y.str();
  return m;
}

std::string random_composites(std::mt19937_64& r) {
  const auto upto = [&r](uint64_t n) { return 1 + r() % n; };
  const auto place = [&r] {
    return std::string("{\"space\": \"") + (r() % 4 ? "hbm" : "tcm") +
           "\", \"addr\": " + std::to_string(r() % 99 * 64) + "}";
  };
  std::ostringstream w;
  w << "{\"pes\": [{\"pe\": \"p\", \"composites\": [";
  const uint64_t count = 2 + r() % 6;
  for (uint64_t c = 0; c < count; ++c) {
    const uint64_t m = upto(90), n = upto(90), k = upto(90), most = r() % 2 ? 27 : 9;
    const auto tile = [&] { return 12 + upto(most); };
    w << (c ? ", " : "") << "{\"id\": \"c" << c << "\", \"submit_ns\": " << r() % 400 << ", \"m\": " << m
      << ", \"n\": " << n << ", \"dtype\": \"f16\", \"dtype_bytes\": 2, ";
    if (r() % 3) {
      w << "\"kind\": \"gemm\", \"k\": " << k << ", \"tile\": [" << tile() << ", " << tile() << ", " << tile()
        << "], \"a\": " << place() << ", \"b\": " << place() << ", \"c\": " << place() << "}";
    } else {
      w << "\"kind\": \"math\", \"op\": \"exp\", \"tile\": [" << tile() << ", " << tile() << "], \"inputs\": ["
        << place() << ", " << place() << "], \"out\": " << place() << "}";
    }
  }
  w << "]}]}";
  return w.str();
}

Lives play(Platform& platform, PipelineWork& work) {
  Lives lives;
  LifeLog log(lives);
  platform.attach_log(&log);
  CommandDriver driver("driver", platform);
  for (PipelineWork::Entry& e : work.pes.at(0).composites) driver.submit(0, *e.command, e.submit_ns);
  platform.machine().run_ahead();
  sc_core::sc_start();
  platform.attach_log(nullptr);
  for (const PipelineWork::Entry& e : work.pes[0].composites) {
    for (auto it = lives.lower_bound({e.command->op_id, 0}); it != lives.end() && it->first.first == e.command->op_id;
         ++it) {
      if (it->second.pieces.size() == 1) it->second.pieces[0].nbytes = e.command->plan.tile_bytes();
    }
  }
  return lives;
}

struct Seen {
  int tiles = 0, in_pieces = 0, full = 0;  ///< full: fed into a region without space for another one of its kind
};

/// A fault in the lifetimes of tiles in a region; empty: none.
std::string check(const Lives& lives, const PipelineWork& work, uint64_t reserved, Seen& seen) {
  std::ostringstream wrong;
  std::map<uint64_t, uint64_t> tile_bytes;  // by composite
  size_t tiles = 0;
  for (const PipelineWork::Entry& e : work.pes[0].composites) {
    tile_bytes[e.command->op_id] = e.command->plan.tile_bytes();
    tiles += static_cast<size_t>(e.command->plan.tiles());
  }
  if (lives.size() != tiles) wrong << lives.size() << " tiles in the log, " << tiles << " in the work\n";
  // op_ids of composites, and ids of tiles, follow the order of feeding.
  std::vector<Lives::const_iterator> alive;
  for (auto it = lives.begin(); it != lives.end(); ++it) {
    const Life& life = it->second;
    alive.erase(std::remove_if(alive.begin(), alive.end(), [&](auto x) { return x->second.to <= life.from; }),
                alive.end());
    uint64_t own = 0, others = 0;
    for (const BufferPiece& p : life.pieces) {
      own += p.nbytes;
      if (p.offset + p.nbytes > reserved) wrong << "a piece ends behind the region\n";
    }
    if (own != tile_bytes.at(it->first.first)) wrong << "a buffer of " << own << " bytes\n";
    for (const auto other : alive) {
      others += tile_bytes.at(other->first.first);
      for (const BufferPiece& p : life.pieces) {
        for (const BufferPiece& q : other->second.pieces) {
          if (p.offset < q.offset + q.nbytes && q.offset < p.offset + p.nbytes)
            wrong << "at " << life.from << " ns two tiles have offset " << std::max(p.offset, q.offset) << "\n";
        }
      }
    }
    if (others + own > reserved) wrong << others + own << " bytes in flight in " << reserved << "\n";
    alive.push_back(it);
    ++seen.tiles;
    seen.in_pieces += life.pieces.size() > 1;
    seen.full += others + 2 * own > reserved;
  }
  return wrong.str();
}

TEST(TilesInFlight, never_share_an_address_nor_exceed_the_reserved_tcm) {
  Seen all;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 r(seed);
    const Machine machine = random_machine(r);
    const std::string json = random_composites(r);
    const std::string said = in_child([&] {
      const auto platform = platform_from_text(machine.yaml);
      std::istringstream in(json);
      PipelineWork work = read_pipeline_work(in, "work.json", *platform);
      const Lives lives = play(*platform, work);
      Seen seen;
      const std::string wrong = check(lives, work, machine.reserved, seen);
      std::ostringstream out;
      wrong.empty() ? out << seen.tiles << " " << seen.in_pieces << " " << seen.full : out << "wrong: " << wrong;
      return out.str();
    });
    Seen seen;
    std::istringstream counts(said);
    ASSERT_TRUE(counts >> seen.tiles >> seen.in_pieces >> seen.full)
        << "seed " << seed << ": " << said.substr(0, 1000) << "\n"
        << machine.yaml << json;
    all.tiles += seen.tiles;
    all.in_pieces += seen.in_pieces;
    all.full += seen.full;
  }
  // Otherwise the programs would prove nothing.
  EXPECT_GT(all.tiles, 10'000);
  EXPECT_GT(all.in_pieces, 100);
  EXPECT_GT(all.full, 1'000);
}

TEST(Tile, larger_than_the_reserved_tcm_is_refused_with_both_sizes) {
  std::mt19937_64 r(1);
  const Machine machine = random_machine(r);
  const auto platform = platform_from_text(machine.yaml);
  const std::pair<const char*, const char*> sizes[] = {{"100", "60000 bytes"},
                                                       {"2147483648", "18446744073709551615 bytes"}};  // or more
  for (const auto& [size, bytes] : sizes) {
    std::string json = R"({"pes": [{"pe": "p", "composites": [{"id": "big", "kind": "gemm", "submit_ns": 0, "m": N,
        "n": N, "k": N, "tile": [N, N, N], "dtype": "f16", "dtype_bytes": 2, "a": {"space": "tcm", "addr": 0},
        "b": {"space": "tcm", "addr": 0}, "c": {"space": "tcm", "addr": 0}}]}]})";
    for (size_t at; (at = json.find('N')) != json.npos;) json.replace(at, 1, size);
    std::istringstream in(json);
    PipelineWork work = read_pipeline_work(in, "work.json", *platform);
    try {
      platform->pes().pe(0).scheduler->validate(*work.pes.at(0).composites.at(0).command);
      FAIL() << size;
    } catch (const AccessError& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find(std::to_string(machine.reserved) + " bytes"), std::string::npos) << text;
      EXPECT_NE(text.find(bytes), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace kernbench::testing::tile_buffers_never_overlap
