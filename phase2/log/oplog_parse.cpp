#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_map>

#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench {
namespace {

using Json = nlohmann::ordered_json;  // params of a user's own keep their order

/// A desc that owns the text its source location points to.
struct ParsedDesc : OpDesc {
  std::string file;
};

std::unordered_map<std::string, uint32_t> index_of(const std::vector<std::string>& names) {
  std::unordered_map<std::string, uint32_t> m;
  for (size_t i = 0; i < names.size(); ++i) m.emplace(names[i], static_cast<uint32_t>(i));
  return m;
}

/// The number that a text is as a whole.
template <class T>
T whole_of(std::string_view text, const char* what) {
  T v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("{} {} is no number", what, in_quotes(text)));
  return v;
}

/// Whether a range ends at an address that 64 bits hold.
bool ends(uint64_t addr, uint64_t nbytes) {
  return nbytes <= std::numeric_limits<uint64_t>::max() - addr;
}

uint32_t lookup(const std::unordered_map<std::string, uint32_t>& names, const std::string& name, const char* what) {
  const auto it = names.find(name);
  if (it != names.end()) return it->second;
  if (name.size() > 1 && name[0] == '#') return whole_of<uint32_t>(std::string_view(name).substr(1), what);
  throw std::runtime_error("unknown " + std::string(what) + " '" + name + "'");
}

OwnParam::Value own_value(const Json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_unsigned()) return j.get<uint64_t>();
  if (j.is_number_integer()) return j.get<int64_t>();
  if (j.is_number()) return j.get<double>();
  return j.is_string() ? j.get<std::string>() : j.dump();
}

double number(const Json& j) {
  if (!j.is_string()) return j.get<double>();
  const std::string s = j.get<std::string>();
  if (s == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (s == "inf") return std::numeric_limits<double>::infinity();
  if (s == "-inf") return -std::numeric_limits<double>::infinity();
  throw std::runtime_error("'" + s + "' is no number");
}

Dims dims(const Json& j) {
  Dims d;
  for (const Json& x : j) d.push_back(json_integer<int64_t>(x));
  return d;
}

DType dtype(const Json& j) {
  const std::string s = j.get<std::string>();
  const auto t = parse_dtype(s);
  if (!t) throw std::runtime_error("unknown dtype '" + s + "'");
  return *t;
}

std::vector<BufferPiece> buffer_pieces(const Json& j) {
  std::vector<BufferPiece> pieces;
  for (const Json& p : j)
    pieces.push_back({json_integer<uint64_t>(p.at("offset")), json_integer<uint64_t>(p.at("nbytes"))});
  return pieces;
}

template <class E>
E named(const std::string& name, std::initializer_list<E> all, const char* what) {
  for (E e : all) {
    if (name_of(e) == name) return e;
  }
  throw std::runtime_error("unknown " + std::string(what) + " '" + name + "'");
}

}  // namespace

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
  check_tensor(d.output);
  for (const Dims& size : {Dims{d.m, d.n}, Dims{d.k}, Dims{d.tile_m}, Dims{d.tile_n}, Dims{d.tile_k}}) size.elements();
}

}  // namespace

void check_record(const OpRecord& r) {
  for (const double ns : {r.t_start, r.t_end, r.effect_ns, r.token.fed_ns, r.desc ? r.desc->submit_ns : 0}) {
    if (!is_time(ns)) throw std::runtime_error(fmt::format("a time of {:.4g} ns, expected 0 to 2^64 fs", ns));
  }
  if (r.desc) check_sizes(*r.desc);
}

std::vector<BufferPiece> parse_buffer_pieces(std::string_view json) {
  return buffer_pieces(parse_json<Json>(json));
}

struct OpRecordParser::Impl {
  OpLogHeader header;
  std::unordered_map<std::string, uint32_t> components, pes;

  void set_header(OpLogHeader h) {
    header = std::move(h);
    components = index_of(header.components);
    pes = index_of(header.pes);
  }

  uint32_t pe(const Json& j) const { return lookup(pes, j.get<std::string>(), "PE"); }

  TensorRef place(const Json& p, const std::string& prefix, const Dims& shape, DType t) const {
    TensorRef r;
    r.space = parse_space(p.at(prefix + "_space").get<std::string>());
    r.addr = json_integer<uint64_t>(p.at(prefix + "_addr"));
    if (p.contains(prefix + "_pe")) r.pe = pe(p.at(prefix + "_pe"));
    r.shape = shape;
    r.dtype = t;
    r.strides = p.contains(prefix + "_strides") ? dims(p.at(prefix + "_strides")) : TensorRef::row_major(shape);
    translation(p, prefix + "_", r);
    return r;
  }

  static void translation(const Json& p, const std::string& prefix, TensorRef& r) {
    if (!p.contains(prefix + "virtual_addr")) return;
    auto t = std::make_shared<Translation>();
    t->virtual_addr = json_integer<uint64_t>(p.at(prefix + "virtual_addr"));
    uint64_t end = 0;
    if (!p.contains(prefix + "pieces")) {
      end = r.span_bytes();
      t->pieces.push_back({0, r.addr, end});
    } else {
      for (const Json& piece : p.at(prefix + "pieces")) {
        t->pieces.push_back({json_integer<uint64_t>(piece.at("offset")), json_integer<uint64_t>(piece.at("addr")),
                             json_integer<uint64_t>(piece.at("nbytes"))});
        const Translation::Piece& last = t->pieces.back();
        if (last.offset != end || last.nbytes == 0)
          throw std::runtime_error(prefix + "pieces do not follow each other");
        if (!ends(last.addr, last.nbytes) || !ends(end, last.nbytes))
          throw std::runtime_error(prefix + "pieces run over the end of all addresses");
        end += last.nbytes;
      }
    }
    if (t->pieces.empty() || end < r.span_bytes())
      throw std::runtime_error(
          fmt::format("{}pieces of {} bytes do not hold the tensor's {}", prefix, end, r.span_bytes()));
    r.translation = std::move(t);
  }

  Operand operand(const Json& j) const {
    Operand o;
    if (j.contains("scalar")) {
      o.is_scalar = true;
      o.scalar = number(j.at("scalar"));
      return o;
    }
    o.ref.space = parse_space(j.at("space").get<std::string>());
    o.ref.addr = json_integer<uint64_t>(j.at("addr"));
    if (j.contains("pe")) o.ref.pe = pe(j.at("pe"));
    o.ref.shape = dims(j.at("shape"));
    o.ref.dtype = dtype(j.at("dtype"));
    o.ref.strides = j.contains("strides") ? dims(j.at("strides")) : TensorRef::row_major(o.ref.shape);
    translation(j, "", o.ref);
    return o;
  }

  static Operand of(const TensorRef& t) {
    Operand o;
    o.ref = t;
    return o;
  }

  void move(const Json& p, OpDesc& d) const {
    const Dims shape = dims(p.at("shape"));
    const DType t = dtype(p.at("dtype"));
    if (p.contains("src_space")) d.operands.push_back(of(place(p, "src", shape, t)));
    if (p.contains("mask")) d.operands.push_back(operand(p.at("mask")));
    if (p.contains("other")) d.operands.push_back(operand(p.at("other")));
    d.output = place(p, "dst", shape, t);
  }

  static std::shared_ptr<const QueueRecord> segment(const Json& p) {
    auto q = std::make_shared<QueueRecord>();
    q->port = p.at("port").get<std::string>();
    q->peer_port = p.value("peer_port", std::string());
    q->message = json_integer<uint64_t>(p.at("message"));
    q->segment = json_integer<uint32_t>(p.at("segment"));
    q->segments = json_integer<uint32_t>(p.at("segments"));
    q->slot_ns = p.value("slot_ns", 0.0);
    q->grant_ns = p.value("grant_ns", 0.0);
    q->arrival_ns = p.value("arrival_ns", 0.0);
    return q;
  }

  std::shared_ptr<const Materialization> materialization(const Json& p) const {
    auto m = std::make_shared<Materialization>();
    for (const Json& c : p.at("computed")) m->computed.push_back({pe(c.at(0)), json_integer<uint64_t>(c.at(1))});
    m->operations = number(p.at("operations"));
    m->bytes = json_integer<uint64_t>(p.at("bytes"));
    return m;
  }

  void gemm(const Json& p, OpDesc& d) const {
    d.op = "gemm";
    d.operands = {of(place(p, "src_a", dims(p.at("shape_a")), dtype(p.at("dtype_in")))),
                  of(place(p, "src_b", dims(p.at("shape_b")), dtype(p.at("dtype_b"))))};
    d.output = place(p, "dst", dims(p.at("shape_out")), dtype(p.at("dtype_out")));
    d.m = json_integer<int64_t>(p.at("m"));
    d.n = json_integer<int64_t>(p.at("n"));
    d.k = json_integer<int64_t>(p.at("k"));
    d.dtype_acc = dtype(p.at("dtype_acc"));
    d.transpose_a = p.at("transpose_a").get<bool>();
    d.transpose_b = p.at("transpose_b").get<bool>();
  }

  void math(const Json& p, OpDesc& d) const {
    d.op = p.at("op").get<std::string>();
    const Json& addrs = p.at("input_addrs");
    for (size_t i = 0; i < addrs.size(); ++i) {
      TensorRef t;
      t.addr = json_integer<uint64_t>(addrs.at(i));
      t.space = parse_space(p.at("input_spaces").at(i).get<std::string>());
      const Json& owner = p.at("input_pes").at(i);
      if (!owner.is_null()) t.pe = pe(owner);
      t.shape = dims(p.at("input_shapes").at(i));
      t.dtype = dtype(p.at("input_dtypes").at(i));
      t.strides = p.contains("input_strides") ? dims(p.at("input_strides").at(i)) : TensorRef::row_major(t.shape);
      if (p.contains("input_translations") && !p.at("input_translations").at(i).is_null())
        translation(p.at("input_translations").at(i), "", t);
      d.operands.push_back(of(t));
    }
    const Json& positions = p.at("scalar_positions");
    for (size_t i = 0; i < positions.size(); ++i) {
      Operand o;
      o.is_scalar = true;
      o.scalar = number(p.at("scalars").at(i));
      const auto at = json_integer<size_t>(positions.at(i));
      if (at > d.operands.size()) throw std::runtime_error("scalar_positions beyond the operands");
      d.operands.insert(d.operands.begin() + static_cast<int64_t>(at), o);
    }
    d.output = place(p, "dst", dims(p.at("shape_out")), dtype(p.at("dtype")));
    d.reduction = p.at("reduction").get<bool>();
    d.axis = json_integer<int>(p.at("axis"));
    d.keepdims = p.at("keepdims").get<bool>();
  }

  void composite(const Json& p, OpDesc& d) const {
    if (d.kind == OpKind::gemm) {
      gemm(p, d);
      d.op = p.at("op").get<std::string>();
    } else {
      math(p, d);
      d.m = json_integer<int64_t>(p.at("m"));
      d.n = json_integer<int64_t>(p.at("n"));
    }
    d.tile_m = json_integer<int64_t>(p.at("tile_m"));
    d.tile_n = json_integer<int64_t>(p.at("tile_n"));
    d.tile_k = json_integer<int64_t>(p.at("tile_k"));
    for (const Json& e : p.at("epilogue")) {
      EpilogueOp op;
      op.op = e.at("op").get<std::string>();
      op.scope =
          named(e.at("scope").get<std::string>(), {Scope::per_k_tile, Scope::per_output_tile, Scope::once}, "scope");
      for (const Json& o : e.at("operands")) op.operands.push_back(operand(o));
      d.epilogue.push_back(std::move(op));
    }
  }

  void token(const Json& p, OpRecord& r) const {
    r.is_token = true;
    TokenInfo& t = r.token;
    t.stage = named(p.at("stage_type").get<std::string>(),
                    {Stage::dma_read, Stage::fetch, Stage::gemm, Stage::math, Stage::store, Stage::dma_write}, "stage");
    t.composite_op_id = json_integer<uint64_t>(p.at("composite_op_id"));
    t.tile_id = json_integer<uint32_t>(p.at("tile_id"));
    t.fed_ns = p.value("fed_ns", 0.0);
    t.buffer_offset = json_integer<uint64_t>(p, "buffer_offset", 0);
    if (p.contains("buffer_pieces")) t.buffer_pieces = buffer_pieces(p.at("buffer_pieces"));
    t.bytes = json_integer<uint64_t>(p, "bytes", 0);
    t.m = json_integer<int64_t>(p, "m", 0);
    t.n = json_integer<int64_t>(p, "n", 0);
    t.k = json_integer<int64_t>(p, "k", 0);
  }

  /// Kept, and skipped by replay. Its name and params are its author's: nothing is meant by them.
  static void own(const Json& p, const std::string& name, OpRecord& r) {
    OpDesc& d = r.own(name);
    for (const auto& [key, value] : p.items()) d.own_params.push_back({key, own_value(value)});
  }

  void command(const Json& p, const std::string& kind, const std::string& name, OpRecord& r) const {
    auto d = std::make_shared<ParsedDesc>();
    d->name = name;
    d->kind = named(kind, {OpKind::memory, OpKind::gemm, OpKind::math}, "op_kind");
    if (d->kind == OpKind::memory && (name == "dma_read" || name == "ipcq_recv")) {
      d->type = CommandType::load;
      move(p, *d);
    } else if (d->kind == OpKind::memory && (name == "dma_write" || name == "ipcq_copy" || name == "materialize")) {
      d->type = CommandType::store;
      move(p, *d);
      if (name == "materialize") d->materialized = materialization(p.at("materialized"));
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
      d->submit_ns = p.at("send_ns").get<double>();
      d->pe = pe(p.at("src_pe"));
      d->seq = json_integer<uint64_t>(p.at("src_seq"));
    } else if (p.value("foreign", false)) {
      r.foreign = true;
      r.effect_ns = p.at("effect_ns").get<double>();
      d->seq = json_integer<uint64_t>(p, "seq", 0);
    } else {
      // A copy between queues may be of no PE's command: it takes effect when it is done.
      const bool command = name != "ipcq_copy" || p.contains("submit_ns");
      d->submit_ns = command ? p.at("submit_ns").get<double>() : r.t_end;
      if (p.contains("pe")) d->pe = pe(p.at("pe"));
      d->seq = command ? json_integer<uint64_t>(p.at("seq")) : r.op_id;
    }
    d->handle_id = json_integer<uint64_t>(p, "handle_id", 0);
    d->launch = json_integer(p, "launch", kNoLaunch);
    const std::string source = p.value("source", std::string());
    const size_t colon = source.rfind(':');
    if (colon != std::string::npos) {
      d->file = source.substr(0, colon);
      d->where = {d->file.c_str(), whole_of<int>(std::string_view(source).substr(colon + 1), "line")};
    }
    r.desc = std::move(d);
  }

  OpRecord record(uint64_t op_id, double t_start, double t_end, const std::string& component, const std::string& kind,
                  const std::string& name, const Json& params, const Json& dependencies) const {
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
    for (const Json& id : dependencies) r.dependency_ids.push_back(json_integer<uint64_t>(id));
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

bool OpRecordParser::parse_line(std::string_view text, OpRecord& out) {
  const Json j = parse_json<Json>(text);
  const Json& params = j.at("params");
  if (j.at("op_id") == 0 && j.at("op_name") == "log_header") {
    const int version = json_integer<int>(params.at("version"));
    if (version != 1) throw std::runtime_error(fmt::format("log version {}, expected 1", version));
    OpLogHeader h;
    h.components = params.at("components").get<std::vector<std::string>>();
    h.pes = params.at("pes").get<std::vector<std::string>>();
    h.isa = params.at("isa").get<std::string>();
    if (params.contains("tensors")) h.tensors = parse_tensors(params.at("tensors").dump(), h.pes);
    if (!params.at("configuration").is_null()) h.configuration = params.at("configuration").dump();
    impl_->set_header(std::move(h));
    return false;
  }
  out = impl_->record(json_integer<uint64_t>(j.at("op_id")), j.at("t_start").get<double>(), j.at("t_end").get<double>(),
                      j.at("component_id").get<std::string>(), j.at("op_kind").get<std::string>(),
                      j.at("op_name").get<std::string>(), params, j.at("dependency_ids"));
  return true;
}

OpRecord OpRecordParser::parse(uint64_t op_id, double t_start, double t_end, std::string_view component,
                               std::string_view op_kind, std::string_view op_name, std::string_view params,
                               std::string_view dependency_ids) {
  return impl_->record(op_id, t_start, t_end, std::string(component), std::string(op_kind), std::string(op_name),
                       parse_json<Json>(params), parse_json<Json>(dependency_ids));
}

}  // namespace kernbench
