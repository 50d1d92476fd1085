// Op logs: what goes into a file comes out of it, also after a kill, and damage is told.
#include "kernbench/phase2/oplog_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kernbench {
namespace {

TensorRef ref(Space space, uint32_t pe, uint64_t addr, DType t, const Dims& shape, const Dims& strides = {}) {
  TensorRef r;
  r.space = space;
  r.pe = pe;
  r.addr = addr;
  r.dtype = t;
  r.shape = shape;
  r.strides = strides.rank() ? strides : TensorRef::row_major(shape);
  return r;
}

Operand tensor(const TensorRef& r) {
  Operand o;
  o.ref = r;
  return o;
}
Operand scalar(double v) {
  Operand o;
  o.is_scalar = true;
  o.scalar = v;
  return o;
}

OpLogHeader header() {
  OpLogHeader h;
  h.components = {"sip0.cube0.pe0.pe_dma", "sip0.cube0.pe0.pe_gemm", "host \"port\""};
  h.pes = {"sip0.cube0.pe0", "sip0.cube0.pe1"};
  h.configuration = "{\"ns_per_mm\":0.01}";
  h.isa = "avx2";
  return h;
}

/// One record of every kind, with everything that its row can hold.
std::vector<OpRecord> one_of_each() {
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
  load.operands = {tensor(ref(Space::hbm, kNoPe, 0x7ffffffffffull, DType::f16, {4, 8}, {100, 1})),
                   tensor(ref(Space::tcm, 1, 64, DType::u8, {4, 8}, {0, 1})), scalar(-INFINITY)};
  load.output = ref(Space::tcm, 1, 128, DType::f16, {4, 8});
  OpDesc& store = add(CommandType::store, OpKind::memory, "dma_write");
  store.operands = {tensor(load.output)};
  store.output = ref(Space::sram, kNoPe, 16, DType::f16, {4, 8}, {9, 1});
  OpDesc& gemm = add(CommandType::gemm, OpKind::gemm, "gemm_i8");
  gemm.op = "gemm";
  gemm.operands = {tensor(ref(Space::tcm, 1, 0, DType::i8, {3, 5})), tensor(ref(Space::tcm, 1, 32, DType::u8, {4, 3}))};
  gemm.output = ref(Space::tcm, 1, 64, DType::i32, {5, 4});
  gemm.m = 5;
  gemm.n = 4;
  gemm.k = 3;
  gemm.transpose_a = gemm.transpose_b = true;
  gemm.dtype_acc = DType::i32;
  OpDesc& math = add(CommandType::math, OpKind::math, "clamp");
  math.op = "clamp";
  math.operands = {scalar(0.1), tensor(ref(Space::tcm, 1, 0, DType::bf16, {2, 3}, {0, 1})), scalar(NAN)};
  math.output = ref(Space::tcm, 0, 8, DType::bf16, {2, 3});
  OpDesc& sum = add(CommandType::math, OpKind::math, "sum");
  sum.op = "sum";
  sum.reduction = sum.keepdims = true;
  sum.axis = -1;
  sum.operands = {tensor(ref(Space::hbm, kNoPe, 0, DType::f32, {2, 3}))};
  sum.output = ref(Space::tcm, 0, 8, DType::f32, {2, 1});
  OpDesc& composite = add(CommandType::composite, OpKind::gemm, "composite_gemm");
  composite.op = "gemm";
  composite.operands = {tensor(ref(Space::hbm, kNoPe, 0, DType::f8e4m3, {64, 32}, {640, 1})),
                        tensor(ref(Space::hbm, kNoPe, 1 << 20, DType::f8e4m3, {32, 16}))};
  composite.output = ref(Space::hbm, kNoPe, 1 << 21, DType::f32, {64, 16}, {48, 1});
  composite.m = 64;
  composite.n = 16;
  composite.k = 32;
  composite.tile_m = 32;
  composite.tile_n = 16;
  composite.tile_k = 8;
  composite.epilogue = {{"add", Scope::per_output_tile, {tensor(ref(Space::tcm, 1, 0, DType::f32, {16}))}},
                        {"mul", Scope::per_k_tile, {scalar(0.25)}},
                        {"relu", Scope::once, {}}};
  OpDesc& elementwise = add(CommandType::composite, OpKind::math, "composite_math");
  elementwise.op = "add";
  elementwise.operands = {tensor(ref(Space::hbm, kNoPe, 0, DType::f32, {100})), scalar(2)};
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
  unknown.handle_id = 0;
  OpDesc& materialize = add(CommandType::store, OpKind::memory, "materialize");
  materialize.operands = {tensor(ref(Space::tcm, 1, 64, DType::f32, {4}))};
  materialize.output = ref(Space::tcm, 1, 64, DType::f32, {4});
  auto what = std::make_shared<Materialization>();
  what->computed = {{1, 4}, {0, 3}};
  what->operations = 1e10 / 3;
  what->bytes = 1 << 20;
  materialize.materialized = what;
  OpDesc& copy = add(CommandType::store, OpKind::memory, "ipcq_copy");
  copy.operands = {tensor(ref(Space::tcm, 0, 64, DType::f32, {4}))};
  copy.output = ref(Space::tcm, 1, 640, DType::f32, {4});
  for (int s = 0; s < kStages; ++s) {
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

std::vector<std::string> as_text(std::vector<OpRecord> records) {
  sort_log(records);
  std::vector<std::string> lines;
  for (const OpRecord& r : records) {
    lines.emplace_back();
    append_json(lines.back(), r, header());
  }
  return lines;
}

class OpLogFile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    char name[] = "kernbench_oplog_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { ASSERT_EQ(0, std::system(("rm -r " + dir_).c_str())); }
  std::string path() const { return dir_ + "/log" + GetParam(); }
  std::string error() const {
    try {
      read_op_log(path());
    } catch (const OpLogError& e) {
      return e.what();
    }
    return "";
  }

 private:
  std::string dir_;
};

TEST_P(OpLogFile, gives_back_every_record_as_it_was) {
  const auto log = make_op_log(path());
  log->begin(header());
  for (const OpRecord& r : one_of_each()) log->record(OpRecord(r));
  log->close();
  const OpLogContents got = read_op_log(path());
  EXPECT_TRUE(got.complete);
  EXPECT_EQ(got.header.components, header().components);
  EXPECT_EQ(got.header.pes, header().pes);
  EXPECT_EQ(got.header.configuration, header().configuration);
  EXPECT_EQ(got.header.isa, "avx2");
  EXPECT_EQ(as_text(got.records), as_text(one_of_each()));
  for (const OpRecord& r : got.records) {
    if (r.op_id != 1) continue;
    EXPECT_EQ(std::string(r.desc->where.file), "kernels/a b.cpp");
    EXPECT_EQ(r.desc->where.line, 42);
  }
}

TEST_P(OpLogFile, two_runs_give_the_same_bytes) {
  std::string bytes[2];
  for (std::string& b : bytes) {
    const auto log = make_op_log(path());
    log->begin(header());
    for (const OpRecord& r : one_of_each()) log->record(OpRecord(r));
    log->close();
    std::stringstream s;
    s << std::ifstream(path(), std::ios::binary).rdbuf();
    b = s.str();
  }
  EXPECT_FALSE(bytes[0].empty());
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST_P(OpLogFile, survives_a_kill_with_all_but_the_last_moments) {
  int ready[2];
  ASSERT_EQ(0, pipe(ready));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto log = make_op_log(path());
    log->begin(header());
    const std::vector<OpRecord> all = one_of_each();
    for (uint64_t id = 1;; ++id) {
      OpRecord r = all[id % all.size()];
      r.op_id = id;
      log->record(std::move(r));
      if (id == 2000) {
        usleep(400 * 1000);  // longer than any batch waits
        OpRecord more = all[0];
        more.op_id = ++id;
        log->record(std::move(more));
        if (write(ready[1], "x", 1) != 1) _exit(1);
      }
    }
  }
  char c;
  ASSERT_EQ(1, read(ready[0], &c, 1));
  usleep(20 * 1000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  const OpLogContents got = read_op_log(path());
  EXPECT_FALSE(got.complete);
  EXPECT_GE(got.records.size(), std::string(GetParam()) == ".jsonl" ? 1900u : 2000u);
  EXPECT_EQ(got.header.pes, header().pes);
}

TEST_P(OpLogFile, that_is_cut_short_or_garbage_is_told_in_one_line) {
  const auto log = make_op_log(path());
  log->begin(header());
  for (int i = 0; i < 500; ++i) {
    for (OpRecord r : one_of_each()) {
      r.op_id += static_cast<uint64_t>(i) * 100;
      log->record(std::move(r));
    }
  }
  log->close();
  std::stringstream s;
  s << std::ifstream(path(), std::ios::binary).rdbuf();
  const std::string whole = s.str();
  const auto rewrite = [&](const std::string& bytes) { std::ofstream(path(), std::ios::binary) << bytes; };

  rewrite(whole.substr(0, whole.size() / 2 + 3));
  if (std::string(GetParam()) == ".jsonl") {
    const OpLogContents got = read_op_log(path());
    EXPECT_FALSE(got.complete);
    EXPECT_GT(got.records.size(), 3000u);
    std::string damaged = whole;
    damaged[whole.size() / 2] ^= 0x55;
    damaged[whole.find('{', whole.size() / 2)] = '}';
    rewrite(damaged);
  }
  EXPECT_EQ(error().find(path()), 0u) << error();
  EXPECT_EQ(error().find('\n'), std::string::npos) << error();
  rewrite("some garbage that is no log of anything at all");
  EXPECT_NE(error().find("is no op log"), std::string::npos) << error();
  rewrite("");
  EXPECT_NE(error().find("is no op log"), std::string::npos) << error();
}

TEST_P(OpLogFile, that_cannot_be_made_is_told_at_once) {
  EXPECT_THROW(make_op_log(std::string("no/such/directory/log") + GetParam()), OpLogError);
}

INSTANTIATE_TEST_SUITE_P(Forms, OpLogFile, ::testing::Values(".jsonl", ".sqlite"),
                         [](const auto& param_info) { return std::string(param_info.param + 1); });

TEST(OpLog, a_full_disk_is_told) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const auto log = make_jsonl_log("/dev/full");
  EXPECT_THROW(log->begin(header()), OpLogError);
}

TEST(OpLog, other_endings_are_refused) {
  EXPECT_THROW(make_op_log("log.txt"), OpLogError);
}

TEST(OpLog, numbers_are_in_shortest_exact_form) {
  const auto text = [](double v) {
    std::string s;
    append_number(s, v);
    return s;
  };
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(18.085), "18.085");
  EXPECT_EQ(text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(text(4096), "4096");
  EXPECT_EQ(text(0), "0");
}

TEST(OpLog, the_sqlite_view_has_the_columns_of_a_record) {
  if (std::system("sqlite3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no sqlite3 here";
  const std::string file = "kernbench_view_test.sqlite";
  const auto log = make_sqlite_log(file);
  log->begin(header());
  for (const OpRecord& r : one_of_each()) log->record(OpRecord(r));
  log->close();
  const std::string command =
      "sqlite3 " + file +
      " \"SELECT op_id, component_id, op_kind, op_name, json_extract(params, '$.tile_id'), json_extract(params, "
      "'$.stage_type'), json_extract(params, '$.m') FROM ops WHERE op_id IN (3, 14) ORDER BY op_id\"";
  FILE* p = popen(command.c_str(), "r");
  ASSERT_NE(p, nullptr);
  char buf[512] = {};
  const size_t n = fread(buf, 1, sizeof buf - 1, p);
  EXPECT_EQ(0, pclose(p));
  std::remove(file.c_str());
  EXPECT_EQ(std::string(buf, n),
            "3|host \"port\"|gemm|gemm_i8|||5\n"
            "14|sip0.cube0.pe0.pe_dma|gemm|TileToken/GEMM|3|GEMM|32\n");
}

}  // namespace
}  // namespace kernbench
