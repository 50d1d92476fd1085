#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "kernbench/platform/topology/view/print.h"

namespace kernbench::topology {
namespace {

/// Buffers text: one write a few kilobytes instead of one a word.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}
  ~Writer() { flush(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Writer& raw(const char* s) {
    buffer_ += s;
    if (buffer_.size() > (1u << 16)) flush();
    return *this;
  }
  Writer& text(const std::string& s) {
    buffer_ += '"';
    for (const char c : s) escape(c);
    buffer_ += '"';
    return *this;
  }
  /// Shortest form that reads back as the same double, with a point: 8.0.
  Writer& number(double v) {
    std::array<char, 40> b{};
    char* end = std::to_chars(b.data(), b.data() + b.size(), v).ptr;
    const bool whole = std::find_if(b.data(), end, [](char c) { return c == '.' || c == 'e'; }) == end;
    buffer_.append(b.data(), end);
    if (whole) buffer_ += ".0";
    return *this;
  }
  template <typename Int>
  Writer& integer(Int v) {
    buffer_ += std::to_string(v);
    return *this;
  }
  Writer& boolean(bool v) { return raw(v ? "true" : "false"); }

 private:
  void escape(char c) {
    static const char* hex = "0123456789abcdef";
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      buffer_ += '\\';
      buffer_ += c;
    } else if (u < 0x20) {
      buffer_ += "\\u00";
      buffer_ += hex[u >> 4];
      buffer_ += hex[u & 15];
    } else {
      buffer_ += c;
    }
  }
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }
  std::ostream& out_;
  std::string buffer_;
};

void write_value(Writer& w, const AttrValue& v) {
  if (const auto* d = std::get_if<double>(&v)) {
    w.number(*d);
  } else if (const auto* i = std::get_if<int64_t>(&v)) {
    w.integer(*i);
  } else if (const auto* b = std::get_if<bool>(&v)) {
    w.boolean(*b);
  } else if (const auto* s = std::get_if<std::string>(&v)) {
    w.text(*s);
  } else {
    const char* comma = "";
    w.raw("{");
    for (const auto& [key, value] : std::get<NumberMap>(v)) {
      w.raw(comma).text(key).raw(": ").number(value);
      comma = ", ";
    }
    w.raw("}");
  }
}

void write_node(Writer& w, const Node& n) {
  w.raw("  {\"id\": ").text(n.id).raw(", \"kind\": ").text(n.kind).raw(", \"impl\": ").text(n.impl);
  w.raw(", \"transit\": ").boolean(n.transit).raw(", \"attrs\": {");
  const char* comma = "";
  for (const auto& [key, value] : n.attrs.items()) {
    w.raw(comma).text(key).raw(": ");
    write_value(w, value);
    comma = ", ";
  }
  w.raw("}}");
}

void write_edge(Writer& w, const Graph& g, const Edge& e) {
  w.raw("  {\"from\": ").text(g.nodes[e.from].id).raw(", \"to\": ").text(g.nodes[e.to].id);
  w.raw(", \"kind\": ").text(e.kind).raw(", \"distance_mm\": ").number(e.distance_mm).raw(", \"bw_gbs\": ");
  if (e.bw_gbs)
    w.number(*e.bw_gbs);
  else
    w.raw("null");
  w.raw("}");
}

template <typename List, typename Write>
void write_list(Writer& w, const char* name, const List& list, const Write& write) {
  w.raw(",\n \"").raw(name).raw("\": [");
  const char* separator = "\n";
  for (const auto& item : list) {
    w.raw(separator);
    write(item);
    separator = ",\n";
  }
  w.raw(list.empty() ? "]" : "\n ]");
}

}  // namespace

void print_json(const Graph& g, std::ostream& out) {
  Writer w(out);
  w.raw("{\n \"ns_per_mm\": ").number(g.ns_per_mm).raw(",\n \"timing\": {\"links\": ").text(name_of(g.timing.links));
  w.raw(", \"response\": ").text(name_of(g.timing.response)).raw(", \"header_bytes\": ").number(g.timing.header_bytes);
  w.raw(", \"flit_bytes\": ").integer(g.timing.flit_bytes).raw("}");
  write_list(w, "nodes", g.nodes, [&](const Node& n) { write_node(w, n); });
  write_list(w, "edges", g.edges, [&](const Edge& e) { write_edge(w, g, e); });
  write_list(w, "memories", g.memories, [&](const Memory& m) {
    w.raw("  {\"node\": ").text(g.nodes[m.node].id).raw(", \"space\": ").text(m.space);
    w.raw(", \"base\": ").integer(m.base).raw(", \"size\": ").integer(m.size).raw("}");
  });
  w.raw("\n}\n");
}

}  // namespace kernbench::topology
