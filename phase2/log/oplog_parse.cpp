// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_map>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/eval/atomic.h"
#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/log/versions.h"
#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/phase2/op/json_values.h"
#include "kernbench/phase2/text/json_reader.h"

namespace kernbench::phase2 {
namespace {

using OrderedJson = nlohmann::ordered_json;  // keeps the order of user-defined params

/// A desc that owns the text of its source location.
struct ParsedDesc : OpDesc {
  std::string file;
};

std::unordered_map<std::string, uint32_t> index_of(const std::vector<std::string>& names) {
  std::unordered_map<std::string, uint32_t> m;
  for (size_t i = 0; i < names.size(); ++i) m.emplace(names[i], static_cast<uint32_t>(i));
  return m;
}

/// Whether the complete text is a number that fits T.
template <class T>
bool is_whole(std::string_view text, T& v) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  return error == std::errc() && end == text.data() + text.size();
}

/// Whether the range ends at an address that fits 64 bits.
bool ends(uint64_t addr, uint64_t nbytes) {
  return nbytes <= std::numeric_limits<uint64_t>::max() - addr;
}

uint32_t lookup(const std::unordered_map<std::string, uint32_t>& names, const std::string& name, const char* what) {
  const auto it = names.find(name);
  if (it != names.end()) return it->second;
  uint32_t index = 0;  // "#12": a component without a name
  if (!name.empty() && name[0] == '#' && is_whole(std::string_view(name).substr(1), index)) return index;
  throw std::runtime_error("unknown " + std::string(what) + " '" + name + "'");
}

OwnParam::Value own_value(const OrderedJson& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_unsigned()) return j.get<uint64_t>();
  if (j.is_number_integer()) return j.get<int64_t>();
  if (j.is_number()) return j.get<double>();
  return j.is_string() ? j.get<std::string>() : json_text(j);
}

double number(const OrderedJson& j) {
  if (!j.is_string()) return json_value<double>(j);
  const auto s = json_value<std::string>(j);
  if (s == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (s == "inf") return std::numeric_limits<double>::infinity();
  if (s == "-inf") return -std::numeric_limits<double>::infinity();
  throw std::runtime_error("'" + s + "' is no number");
}

const auto dims = json_dims<OrderedJson>;
const auto dtype = json_dtype<OrderedJson>;
const auto space = json_space<OrderedJson>;

const OrderedJson& object(const OrderedJson& j) {
  if (!j.is_object()) throw JsonFault("found " + shown(j) + ", expected an object");
  return j;
}

std::vector<uint64_t> op_ids(const OrderedJson& j) {
  return json_items(j, json_value<uint64_t, OrderedJson>);
}

std::vector<BufferPiece> buffer_pieces(const OrderedJson& j) {
  return json_items(j, [](const OrderedJson& p) {
    return BufferPiece{json_field<uint64_t>(p, "offset"), json_field<uint64_t>(p, "nbytes")};
  });
}

template <class E>
E named(const std::string& name, const std::vector<E>& all) {
  for (E e : all) {
    if (name_of(e) == name) return e;
  }
  std::string legal;
  for (E e : all) legal += (legal.empty() ? "" : ", ") + std::string(name_of(e));
  throw JsonFault("found " + in_quotes(name) + ", expected " + legal);
}

}  // namespace

std::vector<BufferPiece> parse_buffer_pieces(std::string_view json) {
  return buffer_pieces(parse_json<OrderedJson>(json));
}

namespace {

void check_tensor(const TensorRef& t) {
  if (t.strides.rank() != t.shape.rank())
    throw std::runtime_error(fmt::format("strides {} of shape {}", t.strides.to_string(), t.shape.to_string()));
  if (!ends(t.addr, t.span_bytes()))
    throw std::runtime_error(fmt::format("a tensor of shape {} at {} runs over the end of all addresses",
                                         t.shape.to_string(), address_text(t.addr)));
}

void check_operands(const std::vector<Operand>& operands) {
  for (const Operand& o : operands) {
    if (!o.is_scalar) check_tensor(o.ref);
  }
}

void check_sizes(const OpDesc& d) {
  check_operands(d.operands);
  for (const EpilogueOp& e : d.epilogue) check_operands(e.operands);
  for_each_output(d, check_tensor);
  for (const Dims& size : {Dims{d.m, d.n}, Dims{d.k}, Dims{d.tile_m}, Dims{d.tile_n}, Dims{d.tile_k}}) size.elements();
}

}  // namespace

void check_record(const OpRecord& r) {
  for (const double ns : {r.t_start, r.t_end, r.effect_ns, r.token.fed_ns, r.desc ? r.desc->submit_ns : 0}) {
    if (!is_time(ns)) throw std::runtime_error(fmt::format("a time of {:.4g} ns, expected 0 to 2^64 fs", ns));
  }
  if (r.desc) check_sizes(*r.desc);
}

struct OpRecordParser::Impl {
  OpLogHeader header;
  std::shared_ptr<const energy::Account> energy;
  std::unordered_map<std::string, uint32_t> components, pes;

  void set_header(OpLogHeader h) {
    header = std::move(h);
    components = index_of(header.components);
    pes = index_of(header.pes);
  }

  uint32_t pe(const OrderedJson& j) const { return lookup(pes, json_value<std::string>(j), "PE"); }
  auto to_pe() const {
    return [this](const OrderedJson& j) { return pe(j); };
  }
  auto to_operand() const {
    return [this](const OrderedJson& j) { return operand(j); };
  }

  TensorRef place(const OrderedJson& p, const std::string& prefix, const Dims& shape, DType t) const {
    TensorRef r;
    r.space = json_field(p, prefix + "_space", space);
    r.addr = json_field<uint64_t>(p, prefix + "_addr");
    if (p.contains(prefix + "_pe")) r.pe = json_field(p, prefix + "_pe", to_pe());
    r.shape = shape;
    r.dtype = t;
    r.strides =
        p.contains(prefix + "_strides") ? json_field(p, prefix + "_strides", dims) : TensorRef::row_major(shape);
    translation(p, prefix + "_", r);
    return r;
  }

  static void translation(const OrderedJson& p, const std::string& prefix, TensorRef& r) {
    if (!p.contains(prefix + "virtual_addr")) return;
    auto t = std::make_shared<Translation>();
    t->virtual_addr = json_field<uint64_t>(p, prefix + "virtual_addr");
    uint64_t end = 0;
    if (!p.contains(prefix + "pieces")) {
      end = r.span_bytes();
      t->pieces.push_back({0, r.addr, end});
    } else {
      t->pieces = json_field(p, prefix + "pieces", [](const OrderedJson& all) {
        return json_items(all, [](const OrderedJson& piece) {
          return Translation::Piece{json_field<uint64_t>(piece, "offset"), json_field<uint64_t>(piece, "addr"),
                                    json_field<uint64_t>(piece, "nbytes")};
        });
      });
      for (const auto& piece : t->pieces) {
        if (piece.offset != end || piece.nbytes == 0) throw JsonFault(prefix + "pieces do not follow each other");
        if (!ends(piece.addr, piece.nbytes) || !ends(end, piece.nbytes))
          throw JsonFault(prefix + "pieces run over the end of all addresses");
        end += piece.nbytes;
      }
    }
    if (t->pieces.empty() || end < r.span_bytes())
      throw std::runtime_error(
          fmt::format("{}pieces of {} bytes do not hold the tensor's {}", prefix, end, r.span_bytes()));
    r.translation = std::move(t);
  }

  Operand operand(const OrderedJson& j) const {
    Operand o;
    if (j.contains("scalar")) {
      o.is_scalar = true;
      o.scalar = json_field(j, "scalar", number);
      return o;
    }
    o.ref.space = json_field(j, "space", space);
    o.ref.addr = json_field<uint64_t>(j, "addr");
    if (j.contains("pe")) o.ref.pe = json_field(j, "pe", to_pe());
    o.ref.shape = json_field(j, "shape", dims);
    o.ref.dtype = json_field(j, "dtype", dtype);
    o.ref.strides = j.contains("strides") ? json_field(j, "strides", dims) : TensorRef::row_major(o.ref.shape);
    translation(j, "", o.ref);
    return o;
  }

  static Operand of(const TensorRef& t) {
    Operand o;
    o.ref = t;
    return o;
  }

  /// Reads the destinations of a multicast, which have the shape of `first`.
  static auto destinations_like(const TensorRef& first) {
    return [&first](const OrderedJson& list) {
      auto all = std::make_shared<std::vector<TensorRef>>(json_items(list, [&](const OrderedJson& j) {
        TensorRef t = first;
        t.translation.reset();
        t.space = json_field(j, "space", space);
        t.addr = json_field<uint64_t>(j, "addr");
        translation(j, "", t);
        return t;
      }));
      if (all->empty()) throw JsonFault("found no destination, expected one or more");
      return std::shared_ptr<const std::vector<TensorRef>>(std::move(all));
    };
  }

  void move(const OrderedJson& p, OpDesc& d) const {
    const Dims shape = json_field(p, "shape", dims);
    const DType t = json_field(p, "dtype", dtype);
    // A foreign write has no source in a memory of the system, and neither has a constant.
    if (p.contains("src_space") || !(d.name == "constant" || json_field_or<bool>(p, "foreign", false)))
      d.operands.push_back(of(place(p, "src", shape, t)));
    if (p.contains("mask")) d.operands.push_back(json_field(p, "mask", to_operand()));
    if (p.contains("other") && !p.contains("ranges")) d.operands.push_back(json_field(p, "other", to_operand()));
    d.output = place(p, "dst", shape, t);
    if (p.contains("destinations")) d.destinations = json_field(p, "destinations", destinations_like(d.output));
    if (p.contains("ranges")) {
      const bool load = d.type == CommandType::load;
      d.ranged = ranged(p, shape, t);
      d.ranged->space = load && !d.operands.empty() ? d.operands[0].ref.space : d.output.space;
    }
    if (p.contains("carried"))
      d.carried = json_field(p, "carried", [&](const OrderedJson& c) { return carried(c, d.output.nbytes()); });
  }

  static std::vector<MovedRange> ranges(const OrderedJson& p, const char* key, bool with_addr, uint64_t nbytes,
                                        uint64_t item) {
    std::vector<MovedRange> all = json_field(p, key, [&](const OrderedJson& list) {
      return json_items(list, [&](const OrderedJson& r) {
        return MovedRange{with_addr ? json_field<uint64_t>(r, "addr") : 0, json_field<uint64_t>(r, "nbytes"),
                          json_field<uint64_t>(r, "offset")};
      });
    });
    for (const MovedRange& r : all) {
      if (r.nbytes == 0 || r.nbytes > nbytes || r.offset > nbytes - r.nbytes || !ends(r.addr, r.nbytes) ||
          r.nbytes % item != 0 || r.offset % item != 0)
        throw JsonFault(fmt::format("{}: found {} bytes from {} on, expected elements among the op's {} bytes", key,
                                    r.nbytes, r.offset, nbytes));
    }
    return all;
  }
  static std::shared_ptr<RangedOp> ranged(const OrderedJson& p, const Dims& shape, DType t) {
    const uint64_t item = size_of(t), nbytes = static_cast<uint64_t>(shape.elements()) * item;
    auto op = std::make_shared<RangedOp>();
    op->ranges = ranges(p, "ranges", true, nbytes, item);
    if (!p.contains("left_out")) return op;
    op->left_out = ranges(p, "left_out", false, nbytes, item);
    op->other = json_field(p, "other", number);
    return op;
  }

  std::shared_ptr<OnTheWay> on_the_way(const OrderedJson& p) const {
    auto r = std::make_shared<OnTheWay>();
    r->group = json_field<std::string>(p, "group");
    r->operation = json_field<uint64_t>(p, "operation");
    if (!p.contains("values")) return r;
    r->values = json_field(p, "values", [&](const OrderedJson& list) { return json_items(list, to_operand()); });
    r->order = json_field(p, "order",
                          [](const OrderedJson& list) { return json_items(list, json_value<int64_t, OrderedJson>); });
    if (r->values.empty()) throw JsonFault("values: found none, expected those of the group's sources");
    std::vector<bool> added(r->values.size());
    size_t results = 0;
    for (const int64_t step : r->order) {
      const auto value = static_cast<size_t>(step);
      if (step == OnTheWay::kAdd ? results < 2 : value >= added.size() || added[value])
        throw JsonFault("order: expected each value once, and " + std::to_string(OnTheWay::kAdd) +
                        " for the sum of the last two results");
      if (step != OnTheWay::kAdd) added[value] = true;
      results = step == OnTheWay::kAdd ? results - 1 : results + 1;
    }
    if (std::count(added.begin(), added.end(), false) > 0) throw JsonFault("order: a value is missing");
    return r;
  }

  void atomic(const OrderedJson& p, const std::string& name, OpDesc& d) const {
    d.type = CommandType::atomic;
    d.op = name.substr(name.find('_') + 1);
    const Dims shape = json_field(p, "shape", dims);
    const DType t = json_field(p, "dtype", dtype);
    if (!atomic_of(d.op, t)) throw JsonFault(fmt::format("found {} of {}, which there is not", name, name_of(t)));
    d.operands.push_back(json_field(p, "operand", to_operand()));
    if (d.op == "cas") d.operands.push_back(json_field(p, "expected", to_operand()));
    const uint64_t nbytes = static_cast<uint64_t>(shape.elements()) * size_of(t);
    if (p.contains("group")) d.on_the_way = on_the_way(p);
    if (d.on_the_way && (name.rfind("red_", 0) != 0 || !reduces_on_the_way(d.op)))
      throw JsonFault(fmt::format("group: found {}, expected red_add, red_max or red_min", name));
    const auto check = [&](const std::vector<Operand>& all) {
      for (const Operand& o : all) {
        if (!o.is_scalar && (o.ref.dtype != t || o.ref.nbytes() != nbytes))
          throw JsonFault(fmt::format("{}: found an operand of {} {}, expected {} {}", name, o.ref.shape.to_string(),
                                      name_of(o.ref.dtype), shape.to_string(), name_of(t)));
      }
    };
    check(d.operands);
    if (d.on_the_way) check(d.on_the_way->values);
    d.ranged = ranged(p, shape, t);
    RangedOp& op = *d.ranged;
    op.space = json_field(p, "space", space);
    op.returns_old = p.contains("dst_space");
    if (op.returns_old) {
      d.output = place(p, "dst", shape, t);
    } else {
      d.output.space = op.space;
      d.output.addr = op.ranges.empty() ? 0 : op.ranges.front().addr;
      d.output.dtype = t;
      d.output.shape = shape;
      d.output.strides = TensorRef::row_major(shape);
    }
    op.sem = json_field<std::string>(p, "sem");
    op.effect_ns = json_field<double>(p, "effect_ns");
    op.number = json_field<uint64_t>(p, "number");
    if (p.contains("carried"))
      d.carried = json_field(p, "carried", [&](const OrderedJson& c) { return carried(c, nbytes); });
    if (!is_time(op.effect_ns) || op.effect_ns < 0)
      throw JsonFault(fmt::format("effect_ns: found {}, expected a time", op.effect_ns));
  }

  static Carried::Part carried_part(const OrderedJson& p) {
    Carried::Part part;
    part.offset = json_field<uint64_t>(p, "offset");
    part.nbytes = json_field<uint64_t>(p, "nbytes");
    part.space = json_field(p, "space", space);
    part.addr = json_field<uint64_t>(p, "addr");
    part.effect_ns = json_field<double>(p, "effect_ns");
    part.number = json_field<uint64_t>(p, "number");
    return part;
  }
  /// Without bytes if they are in the memory file; attach_data() adds them.
  static std::shared_ptr<Carried> carried(const OrderedJson& c, uint64_t nbytes) {
    auto carried = std::make_shared<Carried>();
    carried->parts = json_field(c, "parts", [](const OrderedJson& all) { return json_items(all, carried_part); });
    for (const Carried::Part& p : carried->parts) {
      if (p.nbytes > nbytes || p.offset > nbytes - p.nbytes || !is_time(p.effect_ns) || p.effect_ns < 0)
        throw JsonFault(fmt::format("found a part of {} bytes from {} on at {} ns, expected one of the op's {} bytes",
                                    p.nbytes, p.offset, p.effect_ns, nbytes));
    }
    if (json_field<bool>(c, "data")) carried->bytes = std::make_shared<const Bytes>();
    return carried;
  }

  static std::shared_ptr<const QueueRecord> segment(const OrderedJson& p) {
    auto q = std::make_shared<QueueRecord>();
    q->port = json_field<std::string>(p, "port");
    q->peer_port = json_field_or<std::string>(p, "peer_port", "");
    q->message = json_field<uint64_t>(p, "message");
    q->segment = json_field<uint32_t>(p, "segment");
    q->segments = json_field<uint32_t>(p, "segments");
    q->slot_ns = json_field_or<double>(p, "slot_ns", 0);
    q->grant_ns = json_field_or<double>(p, "grant_ns", 0);
    q->arrival_ns = json_field_or<double>(p, "arrival_ns", 0);
    return q;
  }

  std::shared_ptr<const Materialization> materialization(const OrderedJson& p) const {
    auto m = std::make_shared<Materialization>();
    m->computed = json_field(p, "computed", [this](const OrderedJson& all) {
      return json_items(all, [this](const OrderedJson& c) {
        if (!c.is_array() || c.size() != 2) throw JsonFault("found " + shown(c) + ", expected a PE and a number");
        return Materialization::Command{pe(c[0]), json_value<uint64_t>(c[1])};
      });
    });
    m->operations = json_field(p, "operations", number);
    m->bytes = json_field<uint64_t>(p, "bytes");
    return m;
  }

  void gemm(const OrderedJson& p, OpDesc& d) const {
    d.op = "gemm";
    d.operands = {of(place(p, "src_a", json_field(p, "shape_a", dims), json_field(p, "dtype_in", dtype))),
                  of(place(p, "src_b", json_field(p, "shape_b", dims), json_field(p, "dtype_b", dtype)))};
    if (p.contains("accumulator")) d.operands.push_back(json_field(p, "accumulator", to_operand()));
    d.output = place(p, "dst", json_field(p, "shape_out", dims), json_field(p, "dtype_out", dtype));
    d.m = json_field<int64_t>(p, "m");
    d.n = json_field<int64_t>(p, "n");
    d.k = json_field<int64_t>(p, "k");
    d.dtype_acc = json_field(p, "dtype_acc", dtype);
    d.transpose_a = json_field<bool>(p, "transpose_a");
    d.transpose_b = json_field<bool>(p, "transpose_b");
  }

  static const OrderedJson& list(const OrderedJson& j) {
    if (!j.is_array()) throw JsonFault("found " + shown(j) + ", expected a list");
    return j;
  }

  /// For a list with one item for each input (or scalar).
  template <class Read>
  static auto item(const OrderedJson& p, const std::string& key, size_t i, const Read& read) {
    return json_field(p, key, [&](const OrderedJson& j) {
      if (i >= list(j).size()) throw JsonFault(fmt::format("has {} items, expected more", j.size()));
      return read(j[i]);
    });
  }

  TensorRef math_input(const OrderedJson& p, size_t i) const {
    TensorRef t;
    t.addr = item(p, "input_addrs", i, json_value<uint64_t, OrderedJson>);
    t.space = item(p, "input_spaces", i, space);
    t.pe = item(p, "input_pes", i, [this](const OrderedJson& j) { return j.is_null() ? kNoPe : pe(j); });
    t.shape = item(p, "input_shapes", i, dims);
    t.dtype = item(p, "input_dtypes", i, dtype);
    t.strides = p.contains("input_strides") ? item(p, "input_strides", i, dims) : TensorRef::row_major(t.shape);
    if (p.contains("input_translations")) {
      item(p, "input_translations", i, [&](const OrderedJson& j) {
        if (!j.is_null()) translation(j, "", t);
        return true;
      });
    }
    return t;
  }

  void math(const OrderedJson& p, OpDesc& d) const {
    d.op = json_field<std::string>(p, "op");
    const size_t inputs = json_field(p, "input_addrs", list).size();
    for (size_t i = 0; i < inputs; ++i) d.operands.push_back(of(math_input(p, i)));
    const OrderedJson& positions = json_field(p, "scalar_positions", list);
    for (size_t i = 0; i < positions.size(); ++i) {
      Operand o;
      o.is_scalar = true;
      o.scalar = item(p, "scalars", i, number);
      const auto at = item(p, "scalar_positions", i, json_value<size_t, OrderedJson>);
      if (at > d.operands.size()) throw JsonFault("scalar_positions beyond the operands");
      d.operands.insert(d.operands.begin() + static_cast<int64_t>(at), o);
    }
    d.output = place(p, "dst", json_field(p, "shape_out", dims), json_field(p, "dtype", dtype));
    d.reduction = json_field<bool>(p, "reduction");
    d.axis = json_field<int>(p, "axis");
    d.keepdims = json_field<bool>(p, "keepdims");
    d.argument = json_field_or<std::string>(p, "argument", "");
  }

  void composite(const OrderedJson& p, OpDesc& d) const {
    if (d.kind == OpKind::gemm) {
      gemm(p, d);
      d.op = json_field<std::string>(p, "op");
    } else {
      math(p, d);
      d.m = json_field<int64_t>(p, "m");
      d.n = json_field<int64_t>(p, "n");
    }
    d.tile_m = json_field<int64_t>(p, "tile_m");
    d.tile_n = json_field<int64_t>(p, "tile_n");
    d.tile_k = json_field<int64_t>(p, "tile_k");
    d.epilogue = json_field(p, "epilogue", [this](const OrderedJson& all) {
      return json_items(all, [this](const OrderedJson& e) {
        EpilogueOp op;
        op.op = json_field<std::string>(e, "op");
        op.scope = json_field(e, "scope", [](const OrderedJson& j) {
          return named(json_value<std::string>(j), std::vector{Scope::per_k_tile, Scope::per_output_tile, Scope::once});
        });
        op.operands = json_field(e, "operands", [this](const OrderedJson& j) { return json_items(j, to_operand()); });
        return op;
      });
    });
  }

  void token(const OrderedJson& p, OpRecord& r) const {
    r.is_token = true;
    TokenInfo& t = r.token;
    t.stage = json_field(p, "stage_type", [](const OrderedJson& j) {
      std::vector<Stage> stages;
      for (int i = 0; i < stage_count(); ++i) stages.push_back(static_cast<Stage>(i));
      return named(json_value<std::string>(j), stages);
    });
    t.composite_op_id = json_field<uint64_t>(p, "composite_op_id");
    t.tile_id = json_field<uint32_t>(p, "tile_id");
    t.fed_ns = json_field_or<double>(p, "fed_ns", 0);
    t.buffer_offset = json_field_or<uint64_t>(p, "buffer_offset", 0);
    if (p.contains("buffer_pieces")) t.buffer_pieces = json_field(p, "buffer_pieces", buffer_pieces);
    t.bytes = json_field_or<uint64_t>(p, "bytes", 0);
    t.m = json_field_or<int64_t>(p, "m", 0);
    t.n = json_field_or<int64_t>(p, "n", 0);
    t.k = json_field_or<int64_t>(p, "k", 0);
  }

  /// Kept, but skipped by replay. Name and params are user-defined and have no meaning here.
  static void own(const OrderedJson& p, const std::string& name, OpRecord& r) {
    OpDesc& d = r.own(name);
    for (const auto& [key, value] : p.items()) d.own_params.push_back({key, own_value(value)});
  }

  void command(const OrderedJson& p, const std::string& kind, const std::string& name, OpRecord& r) const {
    auto d = std::make_shared<ParsedDesc>();
    d->name = name;
    d->kind = named(kind, std::vector{OpKind::memory, OpKind::gemm, OpKind::math});
    if (d->kind == OpKind::memory && (name == "dma_read" || name == "ipcq_recv")) {
      d->type = CommandType::load;
      move(p, *d);
    } else if (d->kind == OpKind::memory &&
               (name == "dma_write" || name == "ipcq_copy" || name == "materialize" || name == "constant")) {
      d->type = CommandType::store;
      move(p, *d);
      if (name == "materialize")
        d->materialized = json_field(p, "materialized", [this](const OrderedJson& j) { return materialization(j); });
    } else if (d->kind == OpKind::memory && (name.rfind("atomic_", 0) == 0 || name.rfind("red_", 0) == 0)) {
      atomic(p, name, *d);
    } else if (name.rfind("composite_", 0) == 0) {
      d->type = CommandType::composite;
      composite(p, *d);
    } else if (d->kind == OpKind::gemm) {
      d->type = CommandType::gemm;
      gemm(p, *d);
    } else if (d->kind == OpKind::math) {
      d->type = CommandType::math;
      math(p, *d);
    } else {
      return own(p, name, r);
    }
    if (p.contains("segments")) d->queue = segment(p);
    if (d->queue && name == "ipcq_copy") {
      d->submit_ns = json_field<double>(p, "send_ns");
      d->pe = json_field(p, "src_pe", to_pe());
      d->seq = json_field<uint64_t>(p, "src_seq");
    } else if (json_field_or<bool>(p, "foreign", false)) {
      r.foreign = true;
      r.effect_ns = json_field<double>(p, "effect_ns");
      d->seq = json_field_or<uint64_t>(p, "seq", 0);
    } else {
      // A copy between queues may belong to no PE's command. It takes effect when it is done.
      const bool command = name != "ipcq_copy" || p.contains("submit_ns");
      d->submit_ns = command ? json_field<double>(p, "submit_ns") : r.t_end;
      if (p.contains("pe")) d->pe = json_field(p, "pe", to_pe());
      d->seq = command ? json_field<uint64_t>(p, "seq") : r.op_id;
    }
    d->handle_id = json_field_or<uint64_t>(p, "handle_id", 0);
    const bool computes =
        d->type == CommandType::gemm || d->type == CommandType::math || d->type == CommandType::composite;
    if (computes && json_field_or<bool>(p, "engine_result", false)) d->engine_result = std::make_shared<EngineResult>();
    d->launch = json_field_or<uint32_t>(p, "launch", kNoLaunch);
    const std::string source = json_field_or<std::string>(p, "source", "");
    const size_t colon = source.rfind(':');
    if (colon != std::string::npos) {
      d->file = source.substr(0, colon);
      int line = 0;
      if (!is_whole(std::string_view(source).substr(colon + 1), line))
        throw JsonFault("source: found " + in_quotes(source) + ", expected a file and a line");
      d->where = {d->file.c_str(), line};
    }
    r.desc = std::move(d);
  }

  OpRecord record(uint64_t op_id, double t_start, double t_end, const std::string& component, const std::string& kind,
                  const std::string& name, const OrderedJson& params, const std::vector<uint64_t>& dependencies) const {
    OpRecord r;
    r.op_id = op_id;
    r.t_start = t_start;
    r.t_end = t_end;
    r.component = lookup(components, component, "component");
    if (kind == name_of(OpKind::unknown)) {
      own(params, name, r);
    } else if (name.rfind("TileToken/", 0) == 0) {
      token(params, r);
    } else {
      command(params, kind, name, r);
    }
    check_record(r);
    r.dependency_ids = dependencies;
    return r;
  }
};

OpRecordParser::OpRecordParser(OpLogHeader header) : impl_(std::make_unique<Impl>()) {
  impl_->set_header(std::move(header));
}
OpRecordParser::~OpRecordParser() = default;

const OpLogHeader& OpRecordParser::header() const {
  return impl_->header;
}

const std::shared_ptr<const energy::Account>& OpRecordParser::energy() const {
  return impl_->energy;
}

bool OpRecordParser::parse_line(std::string_view text, OpRecord& out) {
  const OrderedJson j = parse_json<OrderedJson>(text);
  const OrderedJson& params = json_field(j, "params", object);
  if (json_field<uint64_t>(j, "op_id") == 0 && json_field<std::string>(j, "op_name") == "log_energy") {
    const auto text_of = [&](const char* key) {
      return json_field(params, key, [](const OrderedJson& v) { return json_text(v); });
    };
    auto account = std::make_shared<energy::Account>(energy::parse_account(text_of("account")));
    account->actions = energy::parse_actions(text_of("actions"));
    impl_->energy = std::move(account);
    return false;
  }
  if (json_field<uint64_t>(j, "op_id") == 0 && json_field<std::string>(j, "op_name") == "log_header") {
    const int version = json_field<int>(params, "version");
    if (version != kOpLogVersion)
      throw std::runtime_error(fmt::format("log version {}, expected {}", version, kOpLogVersion));
    OpLogHeader h;
    const auto names = [](const OrderedJson& all) { return json_items(all, json_value<std::string, OrderedJson>); };
    h.components = json_field(params, "components", names);
    h.pes = json_field(params, "pes", names);
    h.isa = json_field<std::string>(params, "isa");
    if (params.contains("tensors"))
      h.tensors =
          json_field(params, "tensors", [&](const OrderedJson& t) { return parse_tensors(json_text(t), h.pes); });
    h.configuration =
        json_field(params, "configuration", [](const OrderedJson& c) { return c.is_null() ? "" : json_text(c); });
    impl_->set_header(std::move(h));
    return false;
  }
  out =
      impl_->record(json_field<uint64_t>(j, "op_id"), json_field<double>(j, "t_start"), json_field<double>(j, "t_end"),
                    json_field<std::string>(j, "component_id"), json_field<std::string>(j, "op_kind"),
                    json_field<std::string>(j, "op_name"), params, json_field(j, "dependency_ids", op_ids));
  return true;
}

OpRecord OpRecordParser::parse(uint64_t op_id, double t_start, double t_end, std::string_view component,
                               std::string_view op_kind, std::string_view op_name, std::string_view params,
                               std::string_view dependency_ids) {
  return impl_->record(op_id, t_start, t_end, std::string(component), std::string(op_kind), std::string(op_name),
                       object(parse_json<OrderedJson>(params)), op_ids(parse_json<OrderedJson>(dependency_ids)));
}

}  // namespace kernbench::phase2
