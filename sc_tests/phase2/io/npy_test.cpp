// SPDX-License-Identifier: Apache-2.0
// .npy files: round trips, numpy's own files, and every way in which a file can be wrong.
#include "kernbench/phase2/io/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/io/random.h"

namespace kernbench {
namespace {

class Npy : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "kernbench_npy_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { ASSERT_EQ(0, std::system(("rm -r " + dir_).c_str())); }
  std::string path(const std::string& name) const { return dir_ + "/" + name; }
  std::string put(const std::string& bytes) const {
    const std::string p = path("x.npy");
    std::ofstream(p, std::ios::binary) << bytes;
    return p;
  }
  static std::string error_of(const std::string& file) {
    try {
      read_npy(file);
    } catch (const NpyError& e) {
      return e.what();
    }
    return "";
  }

 private:
  std::string dir_;
};

std::string file_of(const std::string& header, const std::string& data, int version = 1) {
  std::string s("\x93NUMPY", 6);
  s += static_cast<char>(version);
  s += '\0';
  const size_t n = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) s += static_cast<char>(n >> (8 * i) & 0xff);
  return s + header + data;
}

TEST_F(Npy, every_type_comes_back_as_written) {
  for (DType t : {DType::f32, DType::f16, DType::i8, DType::u8, DType::i16, DType::i32}) {
    for (const Dims& shape : {Dims{}, Dims{5}, Dims{3, 4}, Dims{2, 0, 3}, Dims{2, 1, 3, 1, 2, 2}}) {
      const NpyArray in{t, shape, random_tensor(t, shape, 42)};
      write_npy(path("a.npy"), in);
      const NpyArray out = read_npy(path("a.npy"));
      EXPECT_EQ(out.dtype, t);
      EXPECT_EQ(out.shape, shape);
      EXPECT_EQ(out.bytes, in.bytes) << name_of(t) << " " << shape.to_string();
    }
  }
}

TEST_F(Npy, types_it_lacks_are_f32_exact_on_write_and_rounded_on_load) {
  for (DType t : {DType::bf16, DType::f8e4m3, DType::f8e5m2}) {
    const NpyArray in{t, {7}, random_tensor(t, {7}, 1)};
    write_npy(path("a.npy"), in);
    EXPECT_EQ(read_npy(path("a.npy")).dtype, DType::f32);
    EXPECT_EQ(read_npy_as(path("a.npy"), t).bytes, in.bytes) << name_of(t);
  }
  const float third = 1.0f / 3;
  write_npy(path("b.npy"), DType::f32, {1}, &third);
  const NpyArray rounded = read_npy_as(path("b.npy"), DType::bf16);
  uint16_t bits;
  std::memcpy(&bits, rounded.bytes.data(), 2);
  EXPECT_EQ(bits, f32_to_bf16(third));
}

TEST_F(Npy, fortran_order_becomes_row_major) {
  const std::string header = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n";
  const NpyArray t = read_npy(put(file_of(header, std::string("\1\2\3\4\5\6", 6))));
  EXPECT_EQ(t.bytes, (Bytes{1, 3, 5, 2, 4, 6}));
}

TEST_F(Npy, versions_2_and_3_are_read) {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n";
  for (int version : {2, 3}) EXPECT_EQ(read_npy(put(file_of(header, "ab", version))).bytes, (Bytes{'a', 'b'}));
}

TEST_F(Npy, errors_are_one_line_with_what_was_found_and_what_is_expected) {
  const auto header = [](const std::string& descr, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "no .npy file"},
      {"garbage that is long enough to be something", "no .npy file"},
      {file_of(header("'<f8'", "(1,)"), std::string(8, 0)), "'<f8' is not supported"},
      {file_of(header("'>f4'", "(1,)"), std::string(4, 0)), "big endian"},
      {file_of(header("[('a', '<f4')]", "(1,)"), std::string(4, 0)), "structured"},
      {file_of(header("'<f4'", "(3,)"), std::string(8, 0)), "holds 8 bytes of data, expected 12"},
      {file_of(header("'<f4'", "(1,)"), std::string(8, 0)), "holds 8 bytes of data, expected 4"},
      {file_of(header("'<f4'", "(-1,)"), ""), "expected a number"},
      {file_of(header("'<f4'", "(99999999999999999999,)"), ""), "absurd"},
      {file_of(header("'<f4'", "(200000000, 200000000, 200000000)"), ""), "absurd"},
      {file_of(header("'<f4'", "(2147483648, 21922337203685, 0)"), ""), "absurd"},
      {file_of(header("'<f4'", "(1,1,1,1,1,1,1)"), std::string(4, 0)), "more than 6 dimensions"},
      {file_of("{'descr': '<f4', 'shape': (1,)}", std::string(4, 0)), "lacks"},
      {file_of("{'descr': '<f4', ", ""), "header"},
      {file_of("{'color': 'red'}", ""), "'color'"},
      {file_of("{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}", std::string(4, 0)), "neither True nor False"},
      {file_of(header("'<f4'", "(1,)"), std::string(4, 0), 4), "version 4"},
      {file_of(header("'<f4'", "(1,)"), "").substr(0, 30), "truncated"},
  };
  for (const auto& [bytes, expected] : cases) {
    const std::string file = put(bytes);
    const std::string error = error_of(file);
    EXPECT_NE(error.find(expected), std::string::npos) << "got: " << error << "\nexpected: " << expected;
    EXPECT_EQ(error.find(file), 0u) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  EXPECT_NE(error_of(path("nowhere.npy")).find("cannot be opened"), std::string::npos);
}

TEST_F(Npy, no_mutation_of_a_file_crashes_the_reader) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  const std::string good = file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", std::string(16, 1));
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good.substr(0, i % 3 ? good.size() : rng() % good.size());
    for (int k = 0; k < 1 + i % 3 && !bad.empty(); ++k) bad[rng() % bad.size()] = static_cast<char>(rng());
    try {
      const NpyArray t = read_npy(put(bad));
      EXPECT_EQ(t.bytes.size(), static_cast<size_t>(t.shape.elements()) * size_of(t.dtype));
    } catch (const NpyError&) {
    }
  }
}

TEST_F(Npy, asked_for_another_type_says_both) {
  const int32_t v = 1;
  write_npy(path("a.npy"), DType::i32, {1}, &v);
  try {
    read_npy_as(path("a.npy"), DType::f16);
    FAIL();
  } catch (const NpyError& e) {
    EXPECT_NE(std::string(e.what()).find("holds i32, expected f16"), std::string::npos) << e.what();
  }
}

TEST_F(Npy, numpy_reads_ours_and_we_read_numpys) {
  if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) GTEST_SKIP() << "no numpy here";
  const NpyArray in{DType::f16, {3, 5}, random_tensor(DType::f16, {3, 5}, 9)};
  write_npy(path("ours.npy"), in);
  const std::string script = "import numpy as n; a = n.load('" + path("ours.npy") +
                             "'); assert a.dtype == n.float16 and a.shape == (3, 5); n.save('" + path("theirs.npy") +
                             "', n.asfortranarray(a))";
  ASSERT_EQ(0, std::system(("/usr/bin/python3 -c \"" + script + "\"").c_str()));
  const NpyArray out = read_npy(path("theirs.npy"));
  EXPECT_EQ(out.dtype, DType::f16);
  EXPECT_EQ(out.shape, (Dims{3, 5}));
  EXPECT_EQ(out.bytes, in.bytes);
}

}  // namespace
}  // namespace kernbench
