// SPDX-License-Identifier: Apache-2.0
// A complete program in plain arithmetic (plain_values.h). A byte of memory is either exact or belongs to a value with
// a range. No op function of the project is called.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "byte_memory.h"
#include "kernbench/phase2/log/op_record.h"
#include "plain_values.h"
#include "sequential_machine.h"

namespace kernbench::testing {

/// A byte: exact, or one of the bytes of an inexact value.
struct PlainByte {
  struct Holder {
    DType dtype;
    Value value;
  };
  uint8_t byte = 0;
  std::shared_ptr<const Holder> holder = nullptr;
  uint8_t index = 0;
};

class PlainMachine : public ByteMemory<PlainByte> {
 public:
  explicit PlainMachine(const MemoryImage& at_start) { fill(at_start); }

  /// Returns the values of the op's output, row-major.
  std::vector<Value> run(const OpDesc& d) {
    if (d.ranged) {
      run_ranges(d);
      return writes_its_output(d) ? read(d.output) : std::vector<Value>{};
    }
    if (d.type == CommandType::load || d.type == CommandType::store) {
      move(d);
    } else {
      write(d.output, computed(d));
    }
    return read(d.output);
  }

  std::vector<Value> read(const TensorRef& t) {
    const std::vector<PlainByte> cells = get(t);
    std::vector<Value> values;
    for (size_t i = 0; i < cells.size(); i += size_of(t.dtype)) values.push_back(value_at(&cells[i], t.dtype));
    return values;
  }

 private:
  static Value value_at(const PlainByte* cells, DType t) {
    uint8_t bytes[4];
    bool bits = true, whole = cells[0].holder && cells[0].holder->dtype == t;
    for (uint8_t b = 0; b < size_of(t); ++b) {
      bytes[b] = cells[b].byte;
      bits &= !cells[b].holder;
      whole &= cells[b].holder == cells[0].holder && cells[b].index == b;
    }
    return bits ? Value::exactly(decoded(bytes, t)) : whole ? cells[0].holder->value : Value::anything();
  }

  static std::vector<PlainByte> cells_of(const Value& v, DType t) {
    std::vector<PlainByte> cells(size_of(t));
    if (v.exact() && !std::isnan(v.lo)) {
      uint8_t bytes[4];
      encode(v.lo, t, bytes);
      for (size_t b = 0; b < cells.size(); ++b) cells[b].byte = bytes[b];
      return cells;
    }
    const auto holder = std::make_shared<const PlainByte::Holder>(PlainByte::Holder{t, v});
    for (size_t b = 0; b < cells.size(); ++b) cells[b] = {0, holder, static_cast<uint8_t>(b)};
    return cells;
  }

  void write(const TensorRef& t, const std::vector<Value>& values) {
    std::vector<PlainByte> cells;
    for (const Value& v : values) {
      for (const PlainByte& c : cells_of(v, t.dtype)) cells.push_back(c);
    }
    put(t, cells);
  }

  void run_ranges(const OpDesc& d) {
    const DType type = d.output.dtype;
    if (d.type == CommandType::store) return to_ranges(*d.ranged, get(d.operands.at(0).ref));
    std::vector<PlainByte> out(writes_its_output(d) ? d.output.nbytes() : 0);
    const std::vector<PlainByte> other =
        cells_of(rounded(Value::exactly(d.ranged->other), type, !is_float(type)), type);
    for (const MovedRange& r : d.ranged->left_out) {
      for (uint64_t i = 0; !out.empty() && i < r.nbytes; ++i) out.at(r.offset + i) = other[i % other.size()];
    }
    if (d.type == CommandType::load) {
      from_ranges(*d.ranged, out);
    } else {
      run_atomic(d, out);
    }
    if (!out.empty()) put(d.output, out);
  }
  void run_atomic(const OpDesc& d, std::vector<PlainByte>& out) {
    const DType type = d.output.dtype;
    const size_t item = size_of(type);
    std::vector<std::vector<PlainByte>> operands;
    for (const Operand& o : d.operands) operands.push_back(o.is_scalar ? std::vector<PlainByte>{} : get(o.ref));
    const auto operand_at = [&](size_t i, uint64_t at) {
      return d.operands[i].is_scalar ? rounded(Value::exactly(d.operands[i].scalar), type, !is_float(type))
                                     : value_at(&operands[i][at], type);
    };
    std::vector<PlainByte*> cells;
    each_in_ranges(*d.ranged, [&](PlainByte& c, uint64_t at) {
      cells.push_back(&c);
      if (cells.size() < item) return;
      const uint64_t first = at + 1 - item;
      std::vector<PlainByte> held;
      for (const PlainByte* cell : cells) held.push_back(*cell);
      if (!out.empty()) std::copy(held.begin(), held.end(), out.begin() + static_cast<int64_t>(first));
      const Value old = value_at(held.data(), type);
      const Value made = operands.size() > 1 ? swapped(old, operand_at(0, first), operand_at(1, first))
                                             : after_atomic(d.op, old, operand_at(0, first), type);
      const std::vector<PlainByte> now = cells_of(made, type);
      for (size_t b = 0; b < item; ++b) *cells[b] = now[b];
      cells.clear();
    });
  }
  static Value swapped(const Value& old, const Value& value, const Value& expected) {
    if (!old.exact() || !value.exact() || !expected.exact()) return Value::anything();
    return old.lo == expected.lo ? value : old;
  }
  /// The value of an element after an atomic. For a maximum or minimum, the sign of a zero and a result with NaN are
  /// left open.
  static Value after_atomic(const std::string& op, const Value& old, const Value& value, DType type) {
    if (op == "xchg") return value;
    const bool integers = !is_float(type);
    if (in(op, {"max", "min"})) {
      if (!old.exact() || !value.exact() || std::isnan(old.lo) || std::isnan(value.lo)) return Value::anything();
      if (!integers && old.lo == 0 && value.lo == 0) return Value::some_zero();
      return op == "max" ? Value::exactly(std::max(old.lo, value.lo)) : Value::exactly(std::min(old.lo, value.lo));
    }
    if (integers && !(old.exact() && value.exact())) return Value::anything();
    if (type == DType::u32) return Value::exactly(of_bits(op, old.lo, value.lo));
    return rounded(plain_elementwise(op == "add" ? op : "bitwise_" + op, {old, value}, integers), type, integers);
  }
  static double of_bits(const std::string& op, double old, double value) {
    const auto a = static_cast<uint32_t>(old), b = static_cast<uint32_t>(value);
    return op == "add" ? a + b : op == "and" ? a & b : op == "or" ? a | b : a ^ b;
  }

  void move(const OpDesc& d) {
    if (d.operands.empty()) {
      std::vector<PlainByte> cells;
      for (uint8_t b : *d.data) cells.push_back({b});
      return put(d.output, cells);
    }
    const size_t item = size_of(d.output.dtype);
    std::vector<PlainByte> source = get(d.operands[0].ref);
    if (d.operands.size() > 1) {
      const std::vector<Value> mask = read(d.operands[1].ref);
      std::vector<PlainByte> rest;
      if (d.type == CommandType::store) {
        rest = get(d.output);
      } else {
        const Value other = rounded(Value::exactly(d.operands[2].scalar), d.output.dtype, !is_float(d.output.dtype));
        for (size_t i = 0; i < mask.size(); ++i) {
          for (const PlainByte& c : cells_of(other, d.output.dtype)) rest.push_back(c);
        }
      }
      for (size_t i = 0; i < mask.size(); ++i) {
        std::vector<PlainByte> chosen(item);
        if (mask[i].exact()) {
          const PlainByte* from = mask[i].lo == 0 ? &rest[i * item] : &source[i * item];
          chosen.assign(from, from + item);
        } else {
          chosen =
              cells_of(hull(value_at(&source[i * item], d.output.dtype), value_at(&rest[i * item], d.output.dtype)),
                       d.output.dtype);
        }
        std::copy(chosen.begin(), chosen.end(), source.begin() + static_cast<int64_t>(i * item));
      }
    }
    put(d.output, source);
  }

  std::vector<Value> computed(const OpDesc& d) {
    if (d.op == "gemm" || d.type == CommandType::composite) return fused(d);
    if (d.op == "device_assert") return {Value::exactly(1)};  // if it holds
    if (in(d.op, {"randn", "dequantize"}) || (in(d.op, {"reduce", "associative_scan"}) && is_tuple(d)))
      return std::vector<Value>(static_cast<size_t>(d.output.shape.elements()), Value::anything());
    if (in(d.op, {"reduce", "xor_sum", "argsort", "sum", "max", "min", "argmax", "softmax", "argmin", "prod", "cumsum",
                  "cumprod", "associative_scan", "sort", "topk", "flip"}))
      return along_axis(d);
    if (d.op == "cat") return joined(d);
    if (d.op == "gather") return gathered(d);
    if (d.op == "histogram") return counted(d);
    if (in(d.op, {"randint", "rand"})) return drawn(d);
    std::vector<Value> out;
    const int64_t n = d.output.shape.elements();
    if (in(d.op, {"full", "arange"})) {
      const double step = d.operands.size() > 1 ? d.operands[1].scalar : 0;
      for (int64_t i = 0; i < n; ++i) {
        const double v = d.operands[0].scalar + static_cast<double>(i) * step;
        out.push_back(is_float(d.output.dtype) ? rounded(Value::exactly(v), d.output.dtype, true)
                                               : Value::exactly(wrapped(std::trunc(v), d.output.dtype)));
      }
      return out;
    }
    const bool integers = in_integers(d.op, d.operands, nullptr);
    std::vector<std::vector<Value>> x;
    for (const Operand& o : d.operands) x.push_back(broadcast(o, d.output.shape, integers));
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      std::vector<Value> at;
      for (const auto& v : x) at.push_back(v[i]);
      out.push_back(rounded(plain_elementwise(d.op, at, integers), d.output.dtype, integers));
    }
    return out;
  }

  static bool is_tuple(const OpDesc& d) { return d.operands.size() > (d.op == "reduce" ? 1u : 2u); }

  /// Whether an op is computed in i32: its operands (first the running tile) contain no float and no fraction.
  static bool in_integers(const std::string& op, const std::vector<Operand>& operands, const bool* running) {
    if (needs_floats(op) || (running && !*running)) return false;
    bool tensor = running != nullptr;
    for (size_t i = op == "where" && !running ? 1 : 0; i < operands.size(); ++i) {
      const Operand& o = operands[i];
      if (o.is_scalar ? o.scalar != std::trunc(o.scalar) : is_float(o.ref.dtype)) return false;
      tensor |= !o.is_scalar;
    }
    return tensor;
  }

  /// An operand as an op over `shape` reads it, in f32 or i32.
  std::vector<Value> broadcast(const Operand& o, const Dims& shape, bool integers) {
    const auto n = static_cast<size_t>(shape.elements());
    if (o.is_scalar)
      return std::vector<Value>(
          n, Value::exactly(integers ? wrapped(std::trunc(o.scalar), DType::i32) : f32_of(o.scalar)));
    TensorRef t = o.ref;
    const Dims own = t.shape, strides = t.strides;
    t.shape = shape;
    t.strides = shape;
    for (int i = 0; i < shape.rank(); ++i) {
      const int j = i - (shape.rank() - own.rank());
      t.strides[i] = j < 0 || own[j] == 1 ? 0 : strides[j];
    }
    std::vector<Value> values = read(t);
    if (!integers && !is_float(t.dtype)) {
      for (Value& v : values) v = f32_of(v);
    }
    return values;
  }

  std::vector<Value> along_axis(const OpDesc& d) {
    const TensorRef& t = d.operands[0].ref;
    const int axis = d.axis < 0 ? d.axis + t.shape.rank() : d.axis;
    const bool integers = !is_float(t.dtype) && d.op != "softmax";
    const std::vector<Value> all = broadcast(d.operands[0], t.shape, integers);
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; ++i) outer *= t.shape[i];
    for (int i = axis + 1; i < t.shape.rank(); ++i) inner *= t.shape[i];
    const int64_t length = t.shape[axis];
    std::vector<Value> out(static_cast<size_t>(d.output.shape.elements()));
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        std::vector<Value> line;
        for (int64_t k = 0; k < length; ++k) line.push_back(all[static_cast<size_t>((o * length + k) * inner + i)]);
        if (in(d.op, {"cumsum", "cumprod", "associative_scan", "sort", "argsort", "topk", "flip"})) {
          const std::vector<Value> made = reordered(d, line, integers);
          for (size_t k = 0; k < made.size(); ++k)
            out[static_cast<size_t>((o * static_cast<int64_t>(made.size()) + static_cast<int64_t>(k)) * inner + i)] =
                rounded(made[k], d.output.dtype, integers);
        } else if (d.op == "softmax") {
          const std::vector<Value> shares = softmax(line);
          for (int64_t k = 0; k < length; ++k)
            out[static_cast<size_t>((o * length + k) * inner + i)] =
                rounded(shares[static_cast<size_t>(k)], d.output.dtype, false);
        } else {
          out[static_cast<size_t>(o * inner + i)] =
              rounded(reduced(d.op, line, integers), d.output.dtype, integers || in(d.op, {"argmax", "argmin"}));
        }
      }
    }
    return out;
  }

  static Value reduced(const std::string& op, const std::vector<Value>& line, bool integers) {
    if (op == "argmax") return argmax(line);
    if (op == "argmin") return argmin(line);
    Value r = line[0];
    if (in(op, {"prod", "xor_sum", "reduce"})) {
      const char* by = op == "prod" ? "mul" : op == "reduce" ? "maximum" : "bitwise_xor";
      for (size_t k = 1; k < line.size(); ++k) r = plain_elementwise(by, {r, line[k]}, integers);
      return r;
    }
    if (op != "sum") {
      for (size_t k = 1; k < line.size(); ++k)
        r = plain_elementwise(op == "max" ? "maximum" : "minimum", {r, line[k]}, integers);
      return !integers && r.known && r.lo == 0 && r.hi == 0 ? Value::some_zero() : r;  // +0 and -0 are unordered
    }
    double magnitude = 0;
    for (size_t k = 1; k < line.size(); ++k) r = added(r, line[k]);
    for (const Value& v : line) magnitude += v.known ? std::max(std::abs(v.lo), std::abs(v.hi)) : 0;
    return integers ? wrapped(r, DType::i32) : with_rounding(r, static_cast<double>(line.size()), magnitude);
  }

  /// A sum of products or terms in f32, in any order: `terms` roundings, each of at most half a unit of the magnitude.
  static Value with_rounding(const Value& v, double terms, double magnitude) {
    if (!v.known || (v.exact() && std::isnan(v.lo))) return v;
    if (!(magnitude < 1e38)) return Value::anything();
    if (magnitude == 0) return Value::some_zero();
    const Value r = f32_of(v.widened((terms + 2) * (magnitude * 0x1p-24 + 0x1p-149)));
    return r.known && r.lo == 0 && r.hi == 0 ? Value::some_zero() : r;  // a sum may begin with an additional +0
  }

  static Value argmin(const std::vector<Value>& line) {
    std::vector<Value> turned;
    for (const Value& v : line) turned.push_back(v.known ? Value{-v.hi, -v.lo, true} : v);
    return argmax(turned);
  }

  /// A line of a scan or a sort, or a reversed line.
  static std::vector<Value> reordered(const OpDesc& d, std::vector<Value> line, bool integers) {
    if (d.op == "flip") {
      std::reverse(line.begin(), line.end());
      return line;
    }
    const double option = d.operands[1].scalar;
    if (in(d.op, {"sort", "argsort", "topk"})) {
      const bool exact = std::all_of(line.begin(), line.end(), [](const Value& v) { return v.exact(); });
      const bool descending = d.op == "topk" || option != 0;
      if (exact) {
        const auto less = [](const Value& a, const Value& b) {
          return !std::isnan(a.lo) && (std::isnan(b.lo) || a.lo < b.lo);
        };
        std::vector<size_t> order(line.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
          return descending ? less(line[b], line[a]) : less(line[a], line[b]);
        });
        std::vector<Value> sorted;
        for (const size_t i : order)
          sorted.push_back(d.op == "argsort" ? Value::exactly(static_cast<double>(i)) : line[i]);
        line = sorted;
      } else if (d.op == "argsort") {
        line.assign(line.size(), Value::between(0, static_cast<double>(line.size() - 1)));
      } else {
        line.assign(line.size(), Value::anything());
      }
      if (d.op == "topk") line.resize(static_cast<size_t>(option));
      return line;
    }
    const char* by = d.op == "cumsum" ? "add" : d.op == "cumprod" ? "mul" : "maximum";
    if (option != 0) std::reverse(line.begin(), line.end());
    for (size_t k = 1; k < line.size(); ++k) {
      if (d.op == "associative_scan") {
        line[k] = plain_elementwise(by, {line[k], line[k - 1]}, integers);
      } else {
        line[k] = plain_elementwise(by, {line[k - 1], line[k]}, integers);
      }
    }
    if (option != 0) std::reverse(line.begin(), line.end());
    return line;
  }

  /// Elements of consecutive tensors, with `length` of each along the last axis.
  std::vector<Value> joined(const OpDesc& d) {
    std::vector<std::vector<Value>> parts;
    for (const Operand& o : d.operands) parts.push_back(read(o.ref));
    const Dims& shape = d.output.shape;
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < d.axis; ++i) outer *= shape[i];
    for (int i = d.axis + 1; i < shape.rank(); ++i) inner *= shape[i];
    std::vector<Value> out;
    for (int64_t o = 0; o < outer; ++o) {
      for (size_t p = 0; p < parts.size(); ++p) {
        const auto run = static_cast<int64_t>(d.operands[p].ref.shape[d.axis]) * inner;
        out.insert(out.end(), parts[p].begin() + o * run, parts[p].begin() + (o + 1) * run);
      }
    }
    return out;
  }

  /// For vectors.
  std::vector<Value> gathered(const OpDesc& d) {
    const std::vector<Value> x = read(d.operands[0].ref), index = read(d.operands[1].ref);
    std::vector<Value> out;
    for (const Value& i : index) out.push_back(x.at(static_cast<size_t>(i.lo)));
    return out;
  }

  std::vector<Value> counted(const OpDesc& d) {
    std::vector<Value> out(static_cast<size_t>(d.output.shape.elements()), Value::exactly(0));
    const std::vector<Value> all = read(d.operands[0].ref);
    const bool exact = std::all_of(all.begin(), all.end(), [](const Value& v) { return v.exact(); });
    if (!exact) return std::vector<Value>(out.size(), Value::between(0, static_cast<double>(all.size())));
    for (const Value& v : all) {
      if (v.lo < 0 || v.lo >= static_cast<double>(out.size())) continue;
      Value& count = out[static_cast<size_t>(v.lo)];
      count = Value::exactly(count.lo + 1);
    }
    return out;
  }

  /// A word of Philox 4x32-10, or its value in [0, 1).
  std::vector<Value> drawn(const OpDesc& d) {
    std::vector<Value> out;
    for (const Value& offset : read(d.operands[0].ref)) {
      uint64_t c[4] = {static_cast<uint64_t>(offset.lo), 0, 0, 0},
               key[2] = {static_cast<uint64_t>(d.operands[1].scalar), 0};
      for (int round = 0; round < 10; ++round) {
        const uint64_t a = 0xD2511F53 * c[0], b = 0xCD9E8D57 * c[2];
        c[0] = (b >> 32) ^ c[1] ^ key[0];
        c[2] = (a >> 32) ^ c[3] ^ key[1];
        c[1] = b & 0xffffffff;
        c[3] = a & 0xffffffff;
        key[0] = (key[0] + 0x9E3779B9) & 0xffffffff;
        key[1] = (key[1] + 0xBB67AE85) & 0xffffffff;
      }
      const uint64_t word = c[static_cast<size_t>(d.operands[3].scalar)];
      const auto folded = static_cast<float>(word >> 31 ? 0xffffffff - word : word);
      out.push_back(Value::exactly(d.op == "randint" ? static_cast<double>(word)
                                                     : static_cast<double>(folded * 4.6566127342e-10f)));
    }
    return out;
  }

  static Value argmax(const std::vector<Value>& line) {
    size_t best = 0;
    bool exact = true;
    double floor = -INFINITY;
    for (const Value& v : line) {
      if (!v.known) return Value::between(0, static_cast<double>(line.size() - 1));
      exact &= v.exact();
      floor = std::max(floor, v.lo);
    }
    if (exact) {
      for (size_t k = 1; k < line.size(); ++k) {
        if (!std::isnan(line[best].lo) && (line[k].lo > line[best].lo || std::isnan(line[k].lo))) best = k;
      }
      return Value::exactly(static_cast<double>(best));
    }
    Value r = Value::anything();
    for (size_t k = 0; k < line.size(); ++k) {
      if (std::isnan(line[k].lo)) return Value::between(0, static_cast<double>(line.size() - 1));
      const Value here = Value::exactly(static_cast<double>(k));
      if (line[k].hi >= floor) r = r.known ? hull(r, here) : here;
    }
    return r;
  }

  static std::vector<Value> softmax(const std::vector<Value>& line) {
    const size_t n = line.size();
    double top = -INFINITY;
    for (const Value& v : line) {
      if (!v.known || (!v.exact() && !(std::isfinite(v.lo) && std::isfinite(v.hi))))
        return std::vector<Value>(n, Value::anything());
      if (std::isnan(v.lo)) return std::vector<Value>(n, Value::exactly(NAN));
      top = std::max(top, v.hi);
    }
    if (std::isinf(top)) return std::vector<Value>(n, Value::exactly(NAN));  // of inf, or of a row of -inf
    std::vector<Value> shares;
    for (size_t k = 0; k < n; ++k) {
      const double own_lo = std::exp(line[k].lo - top), own_hi = std::exp(line[k].hi - top);
      double others_lo = 0, others_hi = 0;
      for (size_t j = 0; j < n; ++j) {
        if (j == k) continue;
        others_lo += std::exp(line[j].lo - top);
        others_hi += std::exp(line[j].hi - top);
      }
      const double lo = own_lo + others_hi > 0 ? own_lo / (own_lo + others_hi) : 0;
      const double hi = own_hi + others_lo > 0 ? own_hi / (own_hi + others_lo) : 1;
      // x - max is rounded before exp, then each exp, then their sum.
      const double deepest = std::min(150.0, std::abs(line[k].lo - top));
      const double by = hi * 0x1p-24 * (2 * deepest + 200 + static_cast<double>(n)) + 0x1p-147;
      shares.push_back(Value::between(std::max(0.0, lo - by), hi + by));
    }
    return shares;
  }

  std::vector<Value> fused(const OpDesc& d) {
    const bool gemm = d.op == "gemm";
    Dims shape = d.output.shape;
    while (shape.rank() < 2) shape = shape.rank() == 0 ? Dims{1} : Dims{1, shape[0]};
    const int64_t m = shape[0], n = shape[1];
    const bool integer_head = gemm ? !is_float(d.operands[0].ref.dtype) && !is_float(d.operands[1].ref.dtype)
                                   : in_integers(d.op, d.operands, nullptr);
    std::vector<std::vector<Value>> x;  // the head's operands, then those of each epilogue op as f32, then as i32
    for (const Operand& o : d.operands) {
      x.push_back(broadcast(o, gemm ? o.ref.shape : shape, integer_head));
    }
    struct More {
      std::vector<std::vector<Value>> as_float, as_integer;
    };
    std::vector<More> more;
    for (const EpilogueOp& e : d.epilogue) {
      more.emplace_back();
      for (const Operand& o : e.operands) {
        more.back().as_float.push_back(broadcast(o, shape, false));
        more.back().as_integer.push_back(broadcast(o, shape, true));
      }
    }
    const int64_t step = gemm ? (d.tile_k > 0 ? d.tile_k : d.k) : 1, depth = gemm ? d.k : 1;
    const int64_t last_row = d.tile_m > 0 ? (m - 1) / d.tile_m * d.tile_m : 0;
    const int64_t last_col = d.tile_n > 0 ? (n - 1) / d.tile_n * d.tile_n : 0;
    std::vector<Value> out;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<size_t>(i * n + j);
        Value acc = gemm && d.operands.size() > 2 ? x[2][at] : Value::exactly(0);
        bool integers = integer_head;
        const auto epilogue = [&](Scope scope) {
          for (size_t e = 0; e < d.epilogue.size(); ++e) {
            if (d.epilogue[e].scope != scope) continue;
            const bool still = in_integers(d.epilogue[e].op, d.epilogue[e].operands, &integers);
            if (integers && !still) acc = f32_of(acc);
            integers = still;
            std::vector<Value> args{acc};
            for (const auto& v : integers ? more[e].as_integer : more[e].as_float) args.push_back(v[at]);
            acc = plain_elementwise(d.epilogue[e].op, args, integers);
          }
        };
        for (int64_t k0 = 0; k0 < depth; k0 += step) {
          if (gemm) {
            acc = plus_product(d, x, acc, i, j, k0, std::min(depth, k0 + step), integer_head, integers);
          } else {
            std::vector<Value> args;
            for (const auto& v : x) args.push_back(v[at]);
            acc = plain_elementwise(d.op, args, integers);
          }
          epilogue(Scope::per_k_tile);
        }
        epilogue(Scope::per_output_tile);
        if (i >= last_row && j >= last_col) epilogue(Scope::once);
        out.push_back(rounded(acc, d.output.dtype, integers));
      }
    }
    return out;
  }

  static Value added(const Value& a, const Value& b) {
    if (!a.known || !b.known) return Value::anything();
    if (a.exact() && b.exact()) return Value::exactly(a.lo + b.lo);
    return Value::between(a.lo + b.lo, a.hi + b.hi);
  }
  static Value product(const Value& a, const Value& b, bool integers) {
    if (!a.known || !b.known) return Value::anything();
    if (a.exact() && b.exact()) return Value::exactly(integers ? plain_integer("mul", {a.lo, b.lo}) : a.lo * b.lo);
    const double corners[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    if (!std::all_of(corners, corners + 4, [](double v) { return std::isfinite(v); })) return Value::anything();
    return Value::between(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
  }

  /// acc + Σ a b over [from, to).
  static Value plus_product(const OpDesc& d, const std::vector<std::vector<Value>>& x, const Value& acc, int64_t i,
                            int64_t j, int64_t from, int64_t to, bool integer_head, bool integers) {
    const int64_t cols_a = d.operands[0].ref.shape[1], cols_b = d.operands[1].ref.shape[1];
    const auto element = [](const std::vector<Value>& v, int64_t row, int64_t col, int64_t cols, bool transposed) {
      return v[static_cast<size_t>(transposed ? col * cols + row : row * cols + col)];
    };
    Value sum = integer_head && !integers ? Value::exactly(0) : acc;
    double magnitude = sum.known ? std::max(std::abs(sum.lo), std::abs(sum.hi)) : 0;
    for (int64_t k = from; k < to; ++k) {
      const Value a = element(x[0], i, k, cols_a, d.transpose_a), b = element(x[1], k, j, cols_b, d.transpose_b);
      const Value p = product(a, b, integer_head);
      sum = added(sum, p);
      if (p.known) magnitude += std::max(std::abs(p.lo), std::abs(p.hi));
    }
    if (!integer_head && to - from == 1 && acc.exact() && acc.lo == 0) {
      // One rounding. If the product rounds to zero or is -0, it keeps its sign only if it is fused with the sum and
      // nothing (not even +0) is added afterwards.
      Value r = f32_of(sum);
      if (r.known && r.lo < 0 && r.hi == 0) r.hi = 0.0;
      return r.known && r.lo == 0 && r.hi == 0 && (sum.lo != 0 || std::signbit(acc.lo)) ? Value::some_zero() : r;
    }
    if (!integer_head) return with_rounding(sum, static_cast<double>(to - from), magnitude);
    sum = wrapped(sum, DType::i32);
    return integers ? sum : plain_elementwise("add", {acc, f32_of(sum)}, false);
  }
};

/// Compares an op's output with plain arithmetic, element by element, and counts.
struct PlainComparison {
  uint64_t points = 0, ranges = 0, anything = 0;

  /// Empty, or the first element outside its range.
  std::string compare(const OpDesc& d, const uint8_t* out, const std::vector<Value>& want) {
    for (size_t i = 0; i < want.size(); ++i) {
      ++(want[i].exact() ? points : want[i].known ? ranges : anything);
      const double got = decoded(out + i * size_of(d.output.dtype), d.output.dtype);
      if (want[i].holds(got)) continue;
      char text[160];
      snprintf(text, sizeof text, "element %zu is %.9g, plain arithmetic says [%.9g, %.9g]", i, got, want[i].lo,
               want[i].hi);
      return d.name + " " + std::string(name_of(d.output.dtype)) + " " + d.output.shape.to_string() + ": " + text;
    }
    return "";
  }
};

}  // namespace kernbench::testing
