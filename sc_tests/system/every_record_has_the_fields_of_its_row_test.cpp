// SPDX-License-Identifier: Apache-2.0
// The op log's matrix (data rules §3), row by row: records of random kernels on a platform, and samples of other
// records, have the fields of their row with the correct types, and are consistent with each other as the contract
// requires.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "../phase2/record_samples.h"
#include "random_kernel.h"

namespace kernbench::testing::every_record_has_the_fields_of_its_row {
namespace {

using Json = nlohmann::json;
using Fields = std::vector<std::string>;

Fields operator+(Fields a, const Fields& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Fields kDestination = {"dst_space", "dst_addr"};
const Fields kMove = Fields{"src_space", "src_addr", "nbytes", "shape", "dtype"} + kDestination;
const Fields kGemm = Fields{"src_a_addr", "src_a_space", "src_b_addr",  "src_b_space", "shape_a",  "shape_b",
                            "shape_out",  "m",           "n",           "k",           "dtype_in", "dtype_acc",
                            "dtype_out",  "transpose_a", "transpose_b", "layout_a",    "layout_b", "layout_out"} +
                     kDestination;
const Fields kMath = Fields{"op",      "input_addrs", "input_spaces", "input_shapes", "input_dtypes",
                            "scalars", "shape_out",   "dtype",        "axis",         "keepdims"} +
                     kDestination;
const Fields kComposite = {"op", "tile_m", "tile_n", "out_addr", "out_nbytes", "epilogue", "submit_ns"};
const Fields kToken = {"tile_id", "stage_type", "composite_op_id"};

/// The row's name and its fields.
std::pair<std::string, Fields> row_of(const Json& r) {
  const std::string name = r["op_name"], kind = r["op_kind"];
  const Json& p = r["params"];
  if (p.value("foreign", false))
    return {"foreign " + name, Fields{"nbytes", "shape", "dtype", "effect_ns"} + kDestination};
  if (name == "dma_read" || name == "dma_write") return {name, kMove + Fields{"handle_id", "submit_ns"}};
  if (name == "materialize") return {name, kMove + Fields{"handle_id", "submit_ns", "materialized"}};
  if (name == "ipcq_copy") return {name, kMove};
  if (name.rfind("TileToken/", 0) == 0)
    return {name, kToken + (kind == "memory" ? Fields{"bytes"} : Fields{"m", "n", "k"})};
  if (name.rfind("composite_", 0) == 0)
    return {"composite_ " + kind, kComposite + (kind == "gemm" ? kGemm + Fields{"tile_k"} : kMath)};
  if (kind == "gemm") return {"gemm_{dtype}", kGemm + Fields{"submit_ns"}};
  return {kind == "math" ? "a math op" : kind, kind == "math" ? kMath + Fields{"submit_ns"} : Fields{}};
}

bool is_kind(const std::string& field, const Json& v) {
  const auto ends = [&](const std::string& end) {
    return field.size() >= end.size() && field.compare(field.size() - end.size(), end.size(), end) == 0;
  };
  if (field.rfind("input_", 0) == 0 || field == "scalars" || field == "epilogue" || field.rfind("shape", 0) == 0)
    return v.is_array();
  if (field.rfind("transpose", 0) == 0 || field == "keepdims") return v.is_boolean();
  if (ends("_ns")) return v.is_number();
  if (ends("space") || field == "op" || field == "stage_type" || field.rfind("dtype", 0) == 0 ||
      field.rfind("layout", 0) == 0)
    return v.is_string();
  return field == "materialized" ? v.is_object() : v.is_number_integer();
}

/// Empty, or the fault of a single record.
std::string fault_of(const Json& r, std::map<std::string, int>& rows) {
  for (const char* column :
       {"op_id", "t_start", "t_end", "component_id", "op_kind", "op_name", "params", "dependency_ids"}) {
    if (!r.contains(column)) return std::string("no ") + column;
  }
  if (r.size() != 8) return "more than a record's columns";
  const auto [row, fields] = row_of(r);
  ++rows[row];
  const Json& p = r["params"];
  for (const std::string& f : fields) {
    if (!p.contains(f)) return "no params." + f;
    if (!is_kind(f, p[f])) return "params." + f + " is " + p[f].dump();
  }
  // An address in a TCM comes with the PE's id.
  for (const std::string prefix : {"src", "dst", "src_a", "src_b"}) {
    if (p.value(prefix + "_space", "") == "tcm" && !p.value(prefix + "_pe", Json()).is_string())
      return "no params." + prefix + "_pe";
  }
  for (size_t i = 0; i < p.value("input_spaces", Json::array()).size(); ++i) {
    if (p["input_spaces"][i] == "tcm" && !p["input_pes"][i].is_string()) return "no PE of input " + std::to_string(i);
  }
  for (const Json& e : p.value("epilogue", Json::array())) {
    if (!e.contains("op") || !e.contains("scope")) return "an epilogue without op and scope";
    for (const Json& o : e["operands"]) {
      if (!o.contains("scalar") && !o.contains("dtype")) return "an epilogue's operand without dtype";
    }
  }
  if (!(r["t_start"] <= r["t_end"])) return "ends before it starts";
  return "";
}

/// Empty, or a fault among all records of a run.
std::string fault_of_all(const std::vector<Json>& log, std::map<std::string, int>& rows) {
  std::set<uint64_t> ids;
  std::map<std::string, std::set<uint64_t>> program;
  std::map<uint64_t, std::set<uint64_t>> tiles;
  std::map<uint64_t, const Json*> by_id;
  for (const Json& r : log) {
    const std::string fault = fault_of(r, rows);
    if (!fault.empty()) return r.dump() + ": " + fault;
    if (!ids.insert(r["op_id"].get<uint64_t>()).second) return r.dump() + ": an op_id used again";
    by_id[r["op_id"].get<uint64_t>()] = &r;
    const Json& p = r["params"];
    if (p.contains("seq")) {
      program[p["pe"]].insert(p["seq"].get<uint64_t>());
      if (p["submit_ns"] > r["t_start"]) return r.dump() + ": served before it was submitted";
    }
  }
  for (const Json& r : log) {
    const Json& p = r["params"];
    if (!p.contains("tile_id")) continue;
    const auto composite = by_id.find(p["composite_op_id"].get<uint64_t>());
    if (composite == by_id.end()) return r.dump() + ": of no composite";
    const Json& c = *composite->second;
    if (r["t_start"] < c["t_start"] || r["t_end"] > c["t_end"]) return r.dump() + ": outside of its composite";
    tiles[p["composite_op_id"].get<uint64_t>()].insert(p["tile_id"].get<uint64_t>());
  }
  for (const auto& [composite, seen] : tiles) {
    if (*seen.rbegin() + 1 != seen.size()) return "tile_ids of " + std::to_string(composite) + " do not count from 0";
  }
  for (const auto& [pe, seen] : program) {
    if (*seen.rbegin() + 1 != seen.size()) return "the program order of " + pe + " has gaps";
  }
  return "";
}

std::vector<Json> as_json(const std::vector<OpRecord>& records, const OpLogHeader& h) {
  std::vector<Json> all;
  for (const OpRecord& r : records) {
    std::string text;
    append_json(text, r, h);
    all.push_back(Json::parse(text));
  }
  return all;
}

TEST(OpLogMatrix, every_record_of_random_kernels_has_the_fields_of_its_row) {
  std::map<std::string, int> rows;
  for (unsigned seed = 1; seed < 7; ++seed) {
    const std::string told = in_child([seed] {
      RandomKernelRun run(seed);
      const std::string fault = run.simulate();
      if (!fault.empty()) return fault;
      OpLogHeader h;
      for (const auto& pe : run.platform->graph().pes) h.pes.push_back(pe.id);
      std::map<std::string, int> counts;
      const std::string wrong = fault_of_all(as_json(run.log.records(), h), counts);
      return wrong.empty() ? Json(counts).dump() : wrong;
    });
    ASSERT_EQ(told[0], '{') << told;
    const std::map<std::string, int> counts = Json::parse(told);
    for (const auto& [row, n] : counts) rows[row] += n;
  }
  for (const char* row : {"dma_read", "dma_write", "gemm_{dtype}", "a math op", "composite_ gemm", "composite_ math",
                          "materialize", "TileToken/DMA_READ", "TileToken/FETCH", "TileToken/GEMM", "TileToken/MATH",
                          "TileToken/STORE", "TileToken/DMA_WRITE"}) {
    EXPECT_GT(rows[row], 0) << row;
  }
}

TEST(OpLogMatrix, samples_of_every_row_have_its_fields) {
  std::map<std::string, int> rows;
  for (const Json& r : as_json(one_of_each(), header())) EXPECT_EQ(fault_of(r, rows), "") << r.dump();
  for (const char* row : {"ipcq_copy", "foreign dma_write", "unknown"}) EXPECT_EQ(rows[row], 1) << row;
}

}  // namespace
}  // namespace kernbench::testing::every_record_has_the_fields_of_its_row
