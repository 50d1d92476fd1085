// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/log/oplog_json.h"

#include <algorithm>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/log/versions.h"
#include "kernbench/phase2/text/json_writer.h"

namespace kernbench::phase2 {
namespace {

void write_name(JsonWriter& w, const std::vector<std::string>& names, uint32_t i) {
  if (i < names.size()) {
    w.value(names[i]);
  } else {
    w.value(fmt::format("#{}", i));
  }
}

}  // namespace

void write_buffer_pieces(JsonWriter& w, const std::vector<BufferPiece>& pieces) {
  w.open('[');
  for (const BufferPiece& p : pieces) w.open('{').field("offset", p.offset).field("nbytes", p.nbytes).close('}');
  w.close(']');
}

namespace {

class ParamsWriter {
 public:
  ParamsWriter(JsonWriter& w, const OpLogHeader& header) : w_(w), header_(header) {}

  void write(const OpRecord& r) {
    w_.open('{');
    if (r.is_token) {
      token(r.token);
    } else if (r.desc) {
      command(r);
    }
    w_.close('}');
  }

 private:
  void token(const TokenInfo& t) {
    w_.field("composite_op_id", t.composite_op_id);
    w_.field("tile_id", t.tile_id);
    w_.field("stage_type", name_of(t.stage));
    w_.field("fed_ns", t.fed_ns);
    w_.field("buffer_offset", t.buffer_offset);
    if (!t.buffer_pieces.empty()) write_buffer_pieces(w_.key("buffer_pieces"), t.buffer_pieces);
    if (kind_of(t.stage) != OpKind::memory) {
      w_.field("m", t.m);
      w_.field("n", t.n);
      w_.field("k", t.k);
    } else {
      w_.field("bytes", t.bytes);
    }
  }

  void command(const OpRecord& r) {
    const OpDesc& d = *r.desc;
    if (d.kind == OpKind::unknown) {
      for (const OwnParam& p : d.own_params) w_.field(p.name, p.value);
      return;
    }
    switch (d.type) {
      case CommandType::load:
      case CommandType::store:
        move(d);
        break;
      case CommandType::gemm:
        gemm(d);
        break;
      case CommandType::math:
        math(d);
        break;
      case CommandType::composite:
        composite(d);
        break;
      case CommandType::atomic:
        atomic(d);
        break;
      case CommandType::send:
      case CommandType::receive:
        break;  // no records; their segments have some
    }
    if (d.queue) segment(*d.queue);
    if (d.queue && d.type == CommandType::store) return sent(d);
    if (r.foreign) {
      w_.field("foreign", true);
      w_.field("effect_ns", r.effect_ns);
      w_.field("seq", d.seq);
      if (r.pending_on) pending_on(*r.pending_on);
      return;
    }
    w_.field("submit_ns", d.submit_ns);
    if (d.pe != kNoPe) pe("pe", d.pe);
    w_.field("seq", d.seq);
    if (d.launch != kNoLaunch) w_.field("launch", d.launch);
    if (d.type != CommandType::load && d.type != CommandType::store) w_.field("handle_id", d.handle_id);
    if (d.engine_result) w_.field("engine_result", true);
    if (d.where.line) w_.field("source", fmt::format("{}:{}", d.where.file, d.where.line));
  }

  void segment(const QueueRecord& q) {
    w_.field("port", q.port).field("message", q.message).field("segment", q.segment).field("segments", q.segments);
  }
  /// An ipcq_copy belongs to the send in the sender's program, whose value it carries.
  void sent(const OpDesc& d) {
    const QueueRecord& q = *d.queue;
    w_.field("peer_port", q.peer_port).field("src_seq", d.seq).field("send_ns", d.submit_ns);
    w_.field("slot_ns", q.slot_ns).field("grant_ns", q.grant_ns).field("arrival_ns", q.arrival_ns);
    if (d.launch != kNoLaunch) w_.field("launch", d.launch);
    if (d.where.line) w_.field("source", fmt::format("{}:{}", d.where.file, d.where.line));
  }

  template <class Key>
  void pe(const Key& key, uint32_t index) {
    write_name(w_.key(key), header_.pes, index);
  }

  /// The op that has yet to make the requested bytes of a foreign read.
  void pending_on(const OpDesc& d) {
    w_.key("pending_on");
    w_.open('{');
    w_.field("op_name", d.name);
    if (d.pe != kNoPe) pe("pe", d.pe);
    w_.field("seq", d.seq);
    w_.close('}');
  }

  /// prefix_space, prefix_addr, and the PE of a TCM.
  void place(const std::string& prefix, const TensorRef& t) {
    w_.field(prefix + "_space", name_of(t.space));
    w_.field(prefix + "_addr", t.addr);
    if (t.pe != kNoPe) pe(prefix + "_pe", t.pe);
    translation(prefix + "_", t);
  }
  /// For virtually addressed tensors: the virtual address, and the physical pieces if there are several.
  void translation(const std::string& prefix, const TensorRef& t) {
    if (!t.translation) return;
    w_.field(prefix + "virtual_addr", t.translation->virtual_addr);
    if (!t.scattered()) return;
    w_.key(prefix + "pieces");
    pieces(*t.translation);
  }
  void pieces(const Translation& t) {
    w_.open('[');
    for (const Translation::Piece& p : t.pieces) {
      w_.open('{').field("offset", p.offset).field("addr", p.addr).field("nbytes", p.nbytes).close('}');
    }
    w_.close(']');
  }
  /// Strides of a view in elements: the row stride of a slice, else all strides.
  void spacing(const std::string& prefix, const TensorRef& t) {
    if (t.contiguous()) return;
    if (t.shape.rank() >= 2) w_.field(prefix + "_row_stride", t.strides[t.shape.rank() - 2]);
    w_.field(prefix + "_strides", t.strides);
  }

  void operand(const Operand& o) {
    w_.open('{');
    if (o.is_scalar) {
      w_.field("scalar", o.scalar);
    } else {
      tensor(o.ref);
    }
    w_.close('}');
  }
  void tensor(const TensorRef& t) {
    w_.field("space", name_of(t.space));
    w_.field("addr", t.addr);
    if (t.pe != kNoPe) pe("pe", t.pe);
    w_.field("shape", t.shape);
    w_.field("dtype", name_of(t.dtype));
    if (!t.contiguous()) w_.field("strides", t.strides);
    translation("", t);
  }

  void range_list(std::string_view key, const std::vector<MovedRange>& ranges, bool with_addr) {
    w_.key(key).open('[');
    for (const MovedRange& r : ranges) {
      w_.open('{');
      if (with_addr) w_.field("addr", r.addr);
      w_.field("nbytes", r.nbytes).field("offset", r.offset).close('}');
    }
    w_.close(']');
  }
  void ranges(const RangedOp& op) {
    range_list("ranges", op.ranges, true);
    if (op.left_out.empty()) return;
    w_.field("other", op.other);
    range_list("left_out", op.left_out, false);
  }

  void atomic(const OpDesc& d) {
    const RangedOp& op = *d.ranged;
    w_.field("space", name_of(op.space));
    ranges(op);
    w_.field("nbytes", op.nbytes()).field("dtype", name_of(d.output.dtype)).field("shape", d.output.shape);
    w_.key("operand");
    operand(d.operands[0]);
    if (d.operands.size() > 1) {
      w_.key("expected");
      operand(d.operands[1]);
    }
    if (d.on_the_way) on_the_way(*d.on_the_way);
    if (op.returns_old) place("dst", d.output);
    w_.field("sem", op.sem).field("effect_ns", op.effect_ns).field("number", op.number);
    if (d.carried) carried(*d.carried);
  }

  void on_the_way(const OnTheWay& r) {
    w_.field("group", r.group).field("operation", r.operation);
    if (r.values.empty()) return;
    w_.key("values").open('[');
    for (const Operand& o : r.values) operand(o);
    w_.close(']').field("order", r.order);
  }

  void move(const OpDesc& d) {
    if (!d.operands.empty()) {
      place("src", d.operands[0].ref);
      spacing("src", d.operands[0].ref);
    }
    place("dst", d.output);
    spacing("dst", d.output);
    w_.field("nbytes", d.ranged ? d.ranged->nbytes() : d.output.nbytes());
    w_.field("shape", d.output.shape);
    w_.field("dtype", name_of(d.output.dtype));
    w_.field("handle_id", d.handle_id);
    if (d.destinations) destinations(*d.destinations);
    if (d.materialized) materialization(*d.materialized);
    if (d.carried) carried(*d.carried);
    if (d.ranged) ranges(*d.ranged);
    if (d.operands.size() > 1) {
      w_.key("mask");
      operand(d.operands[1]);
    }
    if (d.operands.size() > 2) {
      w_.key("other");
      operand(d.operands[2]);
    }
  }

  void destinations(const std::vector<TensorRef>& all) {
    w_.key("destinations").open('[');
    for (const TensorRef& t : all) {
      w_.open('{').field("space", name_of(t.space)).field("addr", t.addr);
      translation("", t);
      w_.close('}');
    }
    w_.close(']');
  }

  /// `data`: the bytes are in the memory file.
  void carried(const Carried& c) {
    w_.key("carried");
    w_.open('{').field("data", c.bytes != nullptr);
    w_.key("parts");
    w_.open('[');
    for (const Carried::Part& p : c.parts) {
      w_.open('{').field("offset", p.offset).field("nbytes", p.nbytes).field("space", name_of(p.space));
      w_.field("addr", p.addr).field("effect_ns", p.effect_ns).field("number", p.number).close('}');
    }
    w_.close(']').close('}');
  }

  void materialization(const Materialization& m) {
    w_.key("materialized").open('{').key("computed").open('[');
    for (const Materialization::Command& c : m.computed) {
      w_.open('[');
      write_name(w_, header_.pes, c.pe);
      w_.value(c.seq).close(']');
    }
    w_.close(']');
    w_.field("operations", m.operations).field("bytes", m.bytes).close('}');
  }

  void gemm(const OpDesc& d) {
    const TensorRef &a = d.operands[0].ref, &b = d.operands[1].ref;
    place("src_a", a);
    place("src_b", b);
    place("dst", d.output);
    w_.field("shape_a", a.shape);
    w_.field("shape_b", b.shape);
    w_.field("shape_out", d.output.shape);
    w_.field("m", d.m);
    w_.field("n", d.n);
    w_.field("k", d.k);
    w_.field("dtype_in", name_of(a.dtype));
    w_.field("dtype_b", name_of(b.dtype));
    w_.field("dtype_acc", name_of(d.dtype_acc));
    w_.field("dtype_out", name_of(d.output.dtype));
    w_.field("transpose_a", d.transpose_a);
    w_.field("transpose_b", d.transpose_b);
    for (const auto& [key, t] :
         {std::pair<const char*, const TensorRef*>{"layout_a", &a}, {"layout_b", &b}, {"layout_out", &d.output}}) {
      w_.field(key, t->contiguous() ? "row_major" : "strided");
    }
    spacing("src_a", a);
    spacing("src_b", b);
    spacing("dst", d.output);
    if (d.operands.size() < 3) return;
    w_.key("accumulator");
    operand(d.operands[2]);
  }

  template <class F>
  void list(std::string_view key, const std::vector<Operand>& operands, F each) {
    w_.key(key).open('[');
    for (const Operand& o : operands) {
      if (!o.is_scalar) each(o.ref);
    }
    w_.close(']');
  }

  void math(const OpDesc& d) {
    w_.field("op", d.op);
    const std::vector<Operand>& in = d.operands;
    list("input_addrs", in, [&](const TensorRef& t) { w_.value(t.addr); });
    list("input_spaces", in, [&](const TensorRef& t) { w_.value(name_of(t.space)); });
    list("input_pes", in, [&](const TensorRef& t) {
      if (t.pe == kNoPe) {
        w_.null();
      } else {
        write_name(w_, header_.pes, t.pe);
      }
    });
    list("input_shapes", in, [&](const TensorRef& t) { w_.value(t.shape); });
    list("input_dtypes", in, [&](const TensorRef& t) { w_.value(name_of(t.dtype)); });
    if (std::any_of(in.begin(), in.end(), [](const Operand& o) { return !o.is_scalar && !o.ref.contiguous(); })) {
      list("input_strides", in, [&](const TensorRef& t) { w_.value(t.strides); });
    }
    if (std::any_of(in.begin(), in.end(), [](const Operand& o) { return o.ref.translation != nullptr; })) {
      list("input_translations", in, [&](const TensorRef& t) {
        if (!t.translation) {
          w_.null();
          return;
        }
        w_.open('{');
        translation("", t);
        w_.close('}');
      });
    }
    w_.key("scalars").open('[');
    for (const Operand& o : in) {
      if (o.is_scalar) w_.value(o.scalar);
    }
    w_.close(']');
    w_.key("scalar_positions").open('[');
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i].is_scalar) w_.value(i);
    }
    w_.close(']');
    place("dst", d.output);
    spacing("dst", d.output);
    w_.field("shape_out", d.output.shape);
    w_.field("dtype", name_of(d.output.dtype));
    w_.field("reduction", d.reduction);
    w_.field("axis", d.axis);
    w_.field("keepdims", d.keepdims);
    if (!d.argument.empty()) w_.field("argument", d.argument);
  }

  void composite(const OpDesc& d) {
    w_.field("tile_m", d.tile_m);
    w_.field("tile_n", d.tile_n);
    w_.field("tile_k", d.tile_k);
    w_.field("out_addr", d.output.addr);
    w_.field("out_nbytes", d.output.nbytes());
    if (d.kind == OpKind::gemm) {
      w_.field("op", d.op);
      gemm(d);
    } else {
      math(d);
      w_.field("m", d.m);
      w_.field("n", d.n);
    }
    w_.key("epilogue").open('[');
    for (const EpilogueOp& e : d.epilogue) {
      w_.open('{');
      w_.field("op", e.op);
      w_.field("scope", name_of(e.scope));
      w_.key("operands").open('[');
      for (const Operand& o : e.operands) operand(o);
      w_.close(']').close('}');
    }
    w_.close(']');
  }

  JsonWriter& w_;
  const OpLogHeader& header_;
};

}  // namespace

OpKind kind_of(const OpRecord& r) {
  if (r.is_token) return kind_of(r.token.stage);
  return r.desc ? r.desc->kind : OpKind::unknown;
}

std::string log_name_of(const OpRecord& r) {
  if (r.is_token) return "TileToken/" + std::string(name_of(r.token.stage));
  return r.desc ? r.desc->name : "unknown";
}

void append_params_json(std::string& out, const OpRecord& r, const OpLogHeader& header) {
  JsonWriter w(out);
  ParamsWriter(w, header).write(r);
}

void append_json(std::string& out, const OpRecord& r, const OpLogHeader& header) {
  JsonWriter w(out);
  w.open('{').field("op_id", r.op_id).field("t_start", r.t_start).field("t_end", r.t_end);
  write_name(w.key("component_id"), header.components, r.component);
  w.field("op_kind", name_of(kind_of(r))).field("op_name", log_name_of(r)).key("params");
  ParamsWriter(w, header).write(r);
  w.field("dependency_ids", r.dependency_ids).close('}');
}

std::string note_json(std::string_view name, const std::function<void(JsonWriter&)>& params) {
  std::string out;
  JsonWriter w(out);
  w.open('{').field("op_id", 0).field("t_start", 0).field("t_end", 0).field("component_id", "");
  w.field("op_kind", "unknown").field("op_name", name).key("params").open('{');
  params(w);
  w.close('}').key("dependency_ids").open('[').close(']').close('}');
  return out;
}

std::string header_json(const OpLogHeader& h) {
  return note_json("log_header", [&](JsonWriter& w) {
    w.field("version", kOpLogVersion).field("isa", h.isa).field("components", h.components).field("pes", h.pes);
    w.key("tensors").raw(tensors_json(h.tensors, h.pes));
    w.key("configuration").raw(h.configuration.empty() ? "null" : h.configuration);
  });
}

std::string energy_json(const energy::Account& account) {
  return note_json("log_energy", [&](JsonWriter& w) {
    energy::write_account(w.key("account"), account);
    energy::write_actions(w.key("actions"), account.actions);
  });
}

void sort_log(std::vector<OpRecord>& records) {
  std::sort(records.begin(), records.end(), [](const OpRecord& a, const OpRecord& b) {
    return a.t_start != b.t_start ? a.t_start < b.t_start : a.op_id < b.op_id;
  });
}

}  // namespace kernbench::phase2
