// SPDX-License-Identifier: Apache-2.0
// Reads fields of a JSON file, for `kernbench pipeline`; collects all errors with the path of the field.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench::work {

class JsonFieldReader {
 protected:
  using json = nlohmann::json;
  static constexpr int64_t kMaxSize = int64_t{1} << 31;
  static constexpr int64_t kMostBytes = int64_t{1} << 50;
  static constexpr double kLatestNs = 1e12;

  explicit JsonFieldReader(std::string file) : file_(std::move(file)) {}
  ~JsonFieldReader() = default;

  void fault(const std::string& path, const std::string& message) {
    if (faults_.size() < 50) faults_.push_back(file_ + ": " + (path.empty() ? "top level" : path) + ": " + message);
  }

  bool keys(const json& o, const std::string& path, std::initializer_list<const char*> legal) {
    if (!o.is_object()) {
      fault(path, "found " + shown(o) + ", expected an object");
      return false;
    }
    for (const auto& [key, value] : o.items()) {
      if (std::find(legal.begin(), legal.end(), key) != legal.end()) continue;
      fault(path, "unknown key '" + key + "', legal are " + joined(legal));
    }
    return true;
  }
  const json* array(const json& o, const std::string& path, const char* key, bool required = true) {
    const auto it = o.is_object() ? o.find(key) : o.end();
    if (it == o.end()) {
      if (required) fault(path, std::string("'") + key + "' is missing, expected a list");
      return nullptr;
    }
    if (it->is_array()) return &*it;
    fault(path + "." + key, "found " + shown(*it) + ", expected a list");
    return nullptr;
  }
  std::string text(const json& o, const std::string& path, const char* key, const char* fallback = nullptr) {
    const auto it = o.is_object() ? o.find(key) : o.end();
    if (it != o.end() && it->is_string()) return it->get<std::string>();
    if (it == o.end() && fallback) return fallback;
    fault(path + "." + key, it == o.end() ? "is missing, expected text" : "found " + shown(*it) + ", expected text");
    return "";
  }
  double time(const json& o, const std::string& path, const char* key) {
    const auto it = o.is_object() ? o.find(key) : o.end();
    if (it != o.end() && it->is_number()) {
      const double v = it->get<double>();
      if (std::isfinite(v) && v >= 0 && v <= kLatestNs) return v;
    }
    fault(path + "." + key,
          (it == o.end() ? "is missing" : "found " + shown(*it)) + ", expected a time in ns from 0 to 1e12");
    return 0;
  }
  int64_t whole(const json& v, const std::string& path, int64_t least, int64_t most) {
    if (v.is_number_integer() || v.is_number_unsigned()) {
      const bool fits = !v.is_number_unsigned() || v.get<uint64_t>() <= static_cast<uint64_t>(most);
      if (fits && v.get<int64_t>() >= least && v.get<int64_t>() <= most) return v.get<int64_t>();
    }
    fault(path, fmt::format("found {}, expected a whole number from {} to {}", shown(v), least, most));
    return least;
  }
  int64_t size(const json& o, const std::string& path, const char* key, int64_t fallback = 0) {
    const auto it = o.is_object() ? o.find(key) : o.end();
    if (it != o.end()) return whole(*it, path + "." + key, 1, kMaxSize);
    if (fallback == 0) fault(path + "." + key, "is missing, expected a size");
    return std::max<int64_t>(1, fallback);
  }
  uint64_t address(const json& o, const std::string& path) {
    const auto it = o.find("addr");
    if (it != o.end() && it->is_number_unsigned()) return it->get<uint64_t>();
    fault(path + ".addr", (it == o.end() ? "is missing" : "found " + shown(*it)) + ", expected an address");
    return 0;
  }

  /// TCM bytes that a GEMM or MATH command moves; absent ones are 0.
  void read_streams(const json& o, const std::string& path, PeCommand& c) {
    const auto bytes = [&](const char* key) {
      const auto it = o.find(key);
      return it == o.end() ? 0 : static_cast<uint64_t>(whole(*it, path + "." + key, 0, kMostBytes));
    };
    c.in_bytes = bytes("in_bytes");
    c.out_bytes = bytes("out_bytes");
  }

  void read_gemm(const json& o, const std::string& path, PeCommand& c) {
    c.type = CommandType::gemm;
    c.m = size(o, path, "m");
    c.n = size(o, path, "n");
    c.k = size(o, path, "k");
    c.dtype = text(o, path, "dtype", "");
    read_streams(o, path, c);
  }
  void read_math(const json& o, const std::string& path, PeCommand& c) {
    c.type = CommandType::math;
    c.op = text(o, path, "op");
    c.elements = size(o, path, "elements");
    read_streams(o, path, c);
  }
  /// hbm, sram, or another space of the created machine; or `too`.
  void check_space(const std::string& space, const std::string& path, const char* too = nullptr) {
    std::vector<std::string> known = memory_spaces();
    if (too) known.emplace_back(too);
    if (std::find(known.begin(), known.end(), space) != known.end()) return;
    std::string list;
    for (size_t i = 0; i < known.size(); ++i) list += (i == 0 ? "" : i + 1 < known.size() ? ", " : " or ") + known[i];
    fault(path + ".space", "found '" + space + "', expected " + list);
  }
  /// Space and address of a DMA command of that many bytes, in one row.
  void read_memory(const json& o, const std::string& path, uint64_t nbytes, PeCommand& c) {
    check_space(text(o, path, "space", "hbm"), path);
    c.dma.addr = address(o, path);
    c.dma.nbytes = nbytes;
    c.dma.rows = {1, nbytes, 0};
  }

  std::string file_;
  std::vector<std::string> faults_;
};

}  // namespace kernbench::work
