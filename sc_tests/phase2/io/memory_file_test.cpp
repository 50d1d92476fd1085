// SPDX-License-Identifier: Apache-2.0
// Memory files: a replay from files gives the same bits as a replay in the same process; damage is refused.
#include "kernbench/phase2/io/memory_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/log/oplog_file.h"

namespace kernbench::memory_file {
namespace {

const MemoryImage::SpaceKey kHbm{Space::hbm, kNoPe};

class MemoryFile : public ::testing::Test {
 protected:
  void SetUp() override {
    base_ = "kernbench_memory_file_" + std::to_string(getpid());
    const Bytes x = random_tensor(DType::f32, {64}, 1);
    image_.write(kHbm, 0, x.data(), x.size());
    image_.write(kHbm, 1000, "odd", 3);
  }
  void TearDown() override {
    std::remove(path().c_str());
    std::remove(log_path().c_str());
  }
  std::string path() const { return base_ + ".kbmem"; }
  std::string log_path() const { return base_ + ".sqlite"; }
  std::string whole() const {
    std::stringstream s;
    s << std::ifstream(path(), std::ios::binary).rdbuf();
    return s.str();
  }
  void rewrite(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  std::string error() const {
    try {
      read_memory_file(path());
    } catch (const OpLogError& e) {
      return e.what();
    }
    return "";
  }

  /// A foreign write over the first half of x, then exp of x into y.
  std::vector<OpRecord> program() const {
    auto write = std::make_shared<OpDesc>();
    write->type = CommandType::store;
    write->kind = OpKind::memory;
    write->name = "dma_write";
    write->output.shape = {128};
    write->output.strides = {1};
    write->output.dtype = DType::u8;
    write->data = std::make_shared<const Bytes>(random_tensor(DType::f32, {32}, 2));
    OpRecord foreign;
    foreign.op_id = 1;
    foreign.desc = write;
    foreign.foreign = true;
    foreign.effect_ns = 0.5;
    auto exp = std::make_shared<OpDesc>();
    exp->name = exp->op = "exp";
    Operand x;
    x.ref.shape = {64};
    x.ref.strides = {1};
    exp->operands = {x};
    exp->output = x.ref;
    exp->output.addr = 4096;
    exp->pe = 0;
    exp->submit_ns = 1;
    OpRecord compute;
    compute.op_id = 2;
    compute.t_start = 1;
    compute.desc = exp;
    return {foreign, compute};
  }

  MemoryImage image_;

 private:
  std::string base_;
};

TEST_F(MemoryFile, with_the_log_gives_the_bits_of_a_replay_in_place) {
  MemoryFileWriter memory(path(), image_);
  const auto log = make_op_log(log_path());
  OpLogHeader header;
  header.components = {"pe_math"};
  header.pes = {"pe0"};
  log->begin(header);
  for (const OpRecord& r : program()) {
    memory.record(OpRecord(r));
    log->record(OpRecord(r));
  }
  memory.close();
  log->close();
  const MemoryFileContents from_file = read_memory_file(path());
  EXPECT_TRUE(from_file.complete);
  OpLogContents read = read_op_log(log_path());
  attach_data(read.records, from_file);
  const MemoryImage got = replay(read.records, from_file.image).memory;
  const MemoryImage want = replay(program(), image_).memory;
  Bytes a(4096 + 256), b(a.size());
  got.read(kHbm, 0, a.data(), a.size());
  want.read(kHbm, 0, b.data(), b.size());
  EXPECT_EQ(a, b);
  EXPECT_EQ(got.state_of(kHbm, 4096, 256).state, MemoryImage::State::real);
}

TEST_F(MemoryFile, says_what_its_own_spaces_are_called) {
  const MemoryImage::SpaceKey reg{add_space("memory_file_reg"), kNoPe};
  image_.write(reg, 1 << 20, "abc", 3);
  MemoryFileWriter(path(), image_).close();
  const std::string good = whole(), name = "memory_file_reg";
  char got[3] = {};
  read_memory_file(path()).image.read(reg, 1 << 20, got, sizeof got);
  EXPECT_EQ(std::string(got, 3), "abc");

  // Another process has another number for it, and may lack the name.
  const size_t at = good.find(name);
  ASSERT_NE(at, std::string::npos);
  rewrite(good.substr(0, at - 40) + good.substr(at + 16));  // without the chunk of the name, which is padded to 16
  EXPECT_NE(error().find("no such address space"), std::string::npos) << error();
}

TEST_F(MemoryFile, a_foreign_write_without_its_bytes_is_an_error) {
  MemoryFileWriter(path(), image_).close();
  std::vector<OpRecord> records = program();
  auto bare = std::make_shared<OpDesc>(*records[0].desc);
  bare->data = nullptr;
  records[0].desc = bare;
  EXPECT_THROW(attach_data(records, read_memory_file(path())), OpLogError);
}

TEST_F(MemoryFile, refuses_every_flipped_bit) {
  MemoryFileWriter writer(path(), image_);
  writer.add(5, "abcdefghij", 10);
  writer.close();
  const std::string good = whole();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    const size_t at = rng() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 << rng() % 8));
    rewrite(bad);
    try {
      const MemoryFileContents c = read_memory_file(path());
      // Padding is not content. A damaged size looks like a file that was cut off, and is reported as such.
      EXPECT_TRUE(!c.complete || c.data.at(5)->size() == 10) << "byte " << at;
      if (c.complete) {
        Bytes x(256);
        c.image.read(kHbm, 0, x.data(), 256);
        EXPECT_EQ(x, random_tensor(DType::f32, {64}, 1)) << "byte " << at;
        EXPECT_EQ(0, std::memcmp(c.data.at(5)->data(), "abcdefghij", 10)) << "byte " << at;
      }
    } catch (const OpLogError& e) {
      EXPECT_EQ(std::string(e.what()).find(path()), 0u) << e.what();
    }
  }
}

TEST_F(MemoryFile, cut_off_says_so_and_keeps_what_is_whole) {
  MemoryFileWriter writer(path(), image_);
  writer.add(5, "abcdefghij", 10);
  writer.close();
  const std::string good = whole();
  rewrite(good.substr(0, good.size() - 50));
  const MemoryFileContents c = read_memory_file(path());
  EXPECT_FALSE(c.complete);
  EXPECT_EQ(c.image.state_of(kHbm, 0, 256).state, MemoryImage::State::real);
}

TEST_F(MemoryFile, other_files_and_versions_are_told) {
  rewrite("garbage");
  EXPECT_NE(error().find("is no memory file"), std::string::npos) << error();
  rewrite("KBMEM002");
  EXPECT_NE(error().find("version 002, expected 001"), std::string::npos) << error();
  std::remove(path().c_str());
  EXPECT_NE(error().find("cannot be opened"), std::string::npos) << error();
}

}  // namespace
}  // namespace kernbench::memory_file
