// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <tuple>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "onnx.pb.h"

namespace kernbench::onnx {
namespace {

constexpr size_t kMostBytes = (size_t{1} << 31) - 1;  // file size limit of Protocol Buffers
constexpr int kMostNested = 16;                       // graph nesting
constexpr int kMostMessages = 64;                     // message nesting while parsing

/// A fault in a file, without the file's name.
struct Fault {
  std::string what;
};

/// Counts a file's messages and strings before parsing. An empty one takes two bytes in the file and some hundred in
/// memory.
class PartCounter {
 public:
  static void check(const std::string& bytes) { PartCounter().count(bytes, Message::model, 0); }

 private:
  enum class Message : uint8_t {
    model,
    graph,
    node,
    attribute,
    tensor,
    value,
    type,
    tensor_type,
    shape,
    sparse,
    leaf,
    none
  };
  static constexpr size_t kMostParts = size_t{1} << 20, kMostTexts = size_t{1} << 22;

  /// The schema's type of a message field.
  static Message inside(Message m, uint64_t field) {
    using M = Message;
    static constexpr std::tuple<M, uint64_t, M> kRows[] = {
        {M::model, 7, M::graph},       {M::model, 8, M::leaf},        {M::model, 25, M::leaf},
        {M::graph, 1, M::node},        {M::graph, 5, M::tensor},      {M::graph, 11, M::value},
        {M::graph, 12, M::value},      {M::graph, 13, M::value},      {M::graph, 15, M::sparse},
        {M::node, 5, M::attribute},    {M::attribute, 5, M::tensor},  {M::attribute, 6, M::graph},
        {M::attribute, 10, M::tensor}, {M::tensor, 13, M::leaf},      {M::value, 2, M::type},
        {M::type, 1, M::tensor_type},  {M::tensor_type, 2, M::shape}, {M::shape, 1, M::leaf},
        {M::sparse, 1, M::tensor},     {M::sparse, 2, M::tensor}};
    for (const auto& [of, number, is] : kRows) {
      if (of == m && number == field) return is;
    }
    return M::none;
  }
  static bool number(std::string_view bytes, size_t* at, uint64_t* value) {
    *value = 0;
    for (int shift = 0; *at < bytes.size() && shift < 64; shift += 7) {
      const auto b = static_cast<uint8_t>(bytes[(*at)++]);
      *value |= static_cast<uint64_t>(b & 127) << shift;
      if (b < 128) return true;
    }
    return false;
  }
  /// A malformed message ends the count; parsing reports it.
  void count(std::string_view bytes, Message m, int depth) {
    if (depth > kMostMessages) return;
    uint64_t tag = 0, length = 0;
    for (size_t at = 0; number(bytes, &at, &tag);) {
      const uint64_t wire = tag & 7;
      if (wire == 0 && !number(bytes, &at, &length)) return;
      if (wire == 1 || wire == 5) at += wire == 1 ? 8 : 4;
      if (wire == 3 || wire == 4 || wire > 5) return;
      if (at > bytes.size()) return;
      if (wire != 2) continue;
      if (!number(bytes, &at, &length) || length > bytes.size() - at) return;
      const Message own = inside(m, tag >> 3);
      if (++texts_ > kMostTexts || (own != Message::none && ++parts_ > kMostParts))
        throw Fault{"found more than 2^20 nodes, attributes and tensors, or 2^22 names; expected fewer"};
      if (own != Message::none && own != Message::leaf) count(bytes.substr(at, length), own, depth + 1);
      at += length;
    }
  }
  size_t parts_ = 0, texts_ = 0;
};

template <class Message>
Message parsed(const std::string& text, const char* expected) {
  if (text.size() > kMostBytes) throw Fault{"found more than 2^31 bytes; larger tensors lie in external data"};
  if constexpr (std::is_same_v<Message, file::Model>) PartCounter::check(text);
  Message m;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(text.data()),
                                                static_cast<int>(text.size()));
  stream.SetRecursionLimit(kMostMessages);
  if (!m.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    throw Fault{std::string("is no ") + expected + ": its bytes are no Protocol Buffers message of that form"};
  return m;
}

std::string content_of(const std::string& file) {
  std::ifstream in = open_input(file);
  return read_all(in, file, kMostBytes);
}

template <class T>
Bytes bytes_of(const T* values, size_t n) {
  Bytes b(n * sizeof(T));
  if (n > 0) std::memcpy(b.data(), values, b.size());
  return b;
}

/// Lists of wider numbers hold one value each. int32_data holds types of at most 32 bits, and the bits of narrow
/// floats.
template <class List>
Bytes narrowed(const List& values, Type type, size_t size, const std::string& what) {
  const bool has_sign = type == Type::int8 || type == Type::int16 || type == Type::int32;
  const auto bits = static_cast<int>(8 * size) - (has_sign ? 1 : 0);
  const int64_t most = type == Type::boolean ? 1 : (int64_t{1} << bits) - 1, least = has_sign ? -most - 1 : 0;
  Bytes b(static_cast<size_t>(values.size()) * size);
  for (int i = 0; i < values.size(); ++i) {
    const auto v = values.Get(i);
    if (static_cast<int64_t>(v) < least || static_cast<int64_t>(v) > most)
      throw Fault{
          fmt::format("{}: found {} at element {}, expected {} to {} of {}", what, v, i, least, most, name_of(type))};
    std::memcpy(b.data() + static_cast<size_t>(i) * size, &v, size);
  }
  return b;
}

class Reader {
 public:
  /// `file`: the model. Its folder holds the external data.
  explicit Reader(const std::string& file) : file_(file), folder_(file_.parent_path()) {}

  TensorData tensor(const file::Tensor& t, const std::string& what) const {
    TensorData r;
    r.type = type_of(t.data_type());
    int64_t n = 1;
    for (const int64_t d : t.dims()) {
      if (d < 0 || (d > 0 && n > kMostElements / d)) throw Fault{fmt::format("{}: found dimension {}", what, d)};
      n *= d;
      r.shape.push_back(d);
    }
    const auto dtype = dtype_of(r.type);
    if (!dtype) return r;  // its reader is refused later, with its name
    const uint64_t expected = static_cast<uint64_t>(n) * size_of(*dtype);
    r.bytes = t.data_location() == 1 ? external(t, what, expected) : inside(t, r.type, size_of(*dtype), what);
    if (r.bytes.size() != expected)
      throw Fault{fmt::format("{}: found {} bytes, expected {} of {} {}", what, r.bytes.size(), expected,
                              name_of(r.type), to_string(r.shape))};
    if (r.type == Type::boolean) {
      for (uint8_t& b : r.bytes) b = b != 0;
    }
    return r;
  }

  Graph graph(const file::Graph& g, int depth) const {
    if (depth > kMostNested) throw Fault{fmt::format("found graphs nested deeper than {}", kMostNested)};
    Graph r;
    for (const file::Tensor& t : g.initializer()) {
      const std::string what = fmt::format("initializer '{}'", cut(t.name()));
      if (!r.constants.emplace(t.name(), std::make_shared<const TensorData>(tensor(t, what))).second)
        throw Fault{what + " is there twice"};
    }
    if (g.sparse_initializer_size() > 0) throw Fault{"found sparse initializers; not yet, expected dense ones"};
    std::set<std::string> names;
    for (const file::Value& v : g.input()) {
      if (!names.insert(v.name()).second) throw Fault{fmt::format("input '{}' is there twice", cut(v.name()))};
      r.inputs.push_back(port(v));
    }
    for (const file::Value& v : g.output()) r.outputs.push_back(port(v));
    for (const file::Value& v : g.value_info()) r.declared.push_back(port(v));
    for (const file::Node& n : g.node()) r.nodes.push_back(node(n, r.nodes.size(), depth));
    return r;
  }

 private:
  static Bytes inside(const file::Tensor& t, Type type, size_t size, const std::string& what) {
    if (t.has_raw_data()) return Bytes(t.raw_data().begin(), t.raw_data().end());
    switch (type) {
      case Type::float32:
        return bytes_of(t.float_data().data(), static_cast<size_t>(t.float_data_size()));
      case Type::int64:
        return bytes_of(t.int64_data().data(), static_cast<size_t>(t.int64_data_size()));
      case Type::uint32:
        return narrowed(t.uint64_data(), type, size, what);
      default:
        return narrowed(t.int32_data(), type, size, what);
    }
  }

  Bytes external(const file::Tensor& t, const std::string& what, uint64_t expected) const {
    std::string location;
    uint64_t offset = 0, length = expected;
    for (const file::Entry& e : t.external_data()) {
      if (e.key() == "location") location = e.value();
      uint64_t* number = e.key() == "offset" ? &offset : e.key() == "length" ? &length : nullptr;
      if (!number) continue;
      const char* end = e.value().data() + e.value().size();
      const auto [read, error] = std::from_chars(e.value().data(), end, *number);
      if (error != std::errc() || read != end)
        throw Fault{fmt::format("{}: found {} '{}'", what, e.key(), cut(e.value()))};
    }
    const std::filesystem::path path = std::filesystem::path(location).lexically_normal();
    if (location.empty() || path.is_absolute() || *path.begin() == "..")
      throw Fault{fmt::format("{}: found external data in '{}', expected a file below the model's folder", what,
                              cut(location))};
    const std::string file = (folder_ / path).string();
    std::error_code unknown;
    const std::filesystem::path real = std::filesystem::canonical(file, unknown);
    if (!unknown && !is_below(real, folder_) && !is_below(real, std::filesystem::weakly_canonical(file_).parent_path()))
      throw Fault{
          fmt::format("{}: found external data in {}, which is a link to {}, expected a file below the model's folder",
                      what, file, real.string())};
    const uint64_t size = std::filesystem::file_size(file, unknown);
    if (unknown) throw Fault{fmt::format("{}: its external data {} cannot be read", what, file)};
    if (length != expected || offset > size || size - offset < length)
      throw Fault{fmt::format("{}: found {} bytes at {} of {}, which has {}; expected {}", what, length, offset, file,
                              size, expected)};
    Bytes b(expected);
    std::ifstream in = open_input(file);
    in.seekg(static_cast<std::streamoff>(offset));
    if (!in.read(reinterpret_cast<char*>(b.data()), static_cast<std::streamsize>(b.size())))
      throw Fault{fmt::format("{}: {} cannot be read to its end", what, file)};
    return b;
  }

  static bool is_below(const std::filesystem::path& real, const std::filesystem::path& folder) {
    const std::filesystem::path around = std::filesystem::canonical(folder.empty() ? "." : folder);
    return std::mismatch(around.begin(), around.end(), real.begin(), real.end()).first == around.end();
  }

  static Port port(const file::Value& v) {
    Port p;
    p.name = v.name();
    if (!v.type().has_tensor_type()) {
      p.type = v.has_type() ? Type::not_a_tensor : Type::none;
      return p;
    }
    const file::TensorType& t = v.type().tensor_type();
    p.type = type_of(t.elem_type());
    p.has_shape = t.has_shape();
    for (const file::Dimension& d : t.shape().dim()) {
      p.shape.push_back(d.has_value() && d.value() >= 0 ? d.value() : -1);
      p.dim_names.push_back(d.name());
    }
    return p;
  }

  Node node(const file::Node& n, size_t number, int depth) const {
    Node r;
    r.name = n.name().empty() ? fmt::format("{}_{}", n.op_type(), number) : n.name();
    r.op = n.op_type();
    r.domain = n.domain() == "ai.onnx" ? "" : n.domain();
    r.inputs.assign(n.input().begin(), n.input().end());
    while (!r.inputs.empty() && r.inputs.back().empty()) r.inputs.pop_back();  // left out
    r.outputs.assign(n.output().begin(), n.output().end());
    for (const file::Attribute& a : n.attribute()) {
      if (!r.attributes.emplace(a.name(), attribute(a, r.name, depth)).second)
        throw Fault{fmt::format("node '{}' has attribute '{}' twice", cut(r.name), cut(a.name()))};
    }
    return r;
  }

  Attribute attribute(const file::Attribute& a, const std::string& of, int depth) const {
    Attribute r;
    r.type = static_cast<AttributeType>(a.type());
    r.f = a.f();
    r.i = a.i();
    r.s = a.s();
    r.floats.assign(a.floats().begin(), a.floats().end());
    r.ints.assign(a.ints().begin(), a.ints().end());
    r.strings.assign(a.strings().begin(), a.strings().end());
    if (a.has_t())
      r.t = std::make_shared<const TensorData>(tensor(a.t(), fmt::format("node '{}', {}", cut(of), cut(a.name()))));
    if (a.has_g()) r.g = std::make_shared<const Graph>(graph(a.g(), depth + 1));
    return r;
  }

  std::filesystem::path file_, folder_;
};

}  // namespace

Model read_model(const std::string& file) {
  Model model = parse_model(content_of(file), file);
  logging::info(logging::Room::models,
                [&] { return fmt::format("read {}: {} nodes", file, model.graph.nodes.size()); });
  return model;
}

Model parse_model(const std::string& bytes, const std::string& file) {
  try {
    const auto m = parsed<file::Model>(bytes, "ONNX model");
    if (bytes.empty()) throw Fault{"is empty, expected an ONNX model"};
    if (!m.has_graph()) throw Fault{"is no ONNX model: it has no graph"};
    Model r;
    r.file = file;
    for (const file::OpsetImport& o : m.opset_import()) {
      if (!r.opsets.emplace(o.domain() == "ai.onnx" ? "" : o.domain(), o.version()).second)
        throw Fault{fmt::format("found two opsets of domain '{}', expected one", cut(o.domain()))};
    }
    if (m.functions_size() > 0) throw Fault{"has functions of its own; not yet"};
    r.graph = Reader(file).graph(m.graph(), 0);
    if (r.graph.nodes.empty()) throw Fault{"its graph has no nodes"};
    if (r.graph.outputs.empty()) throw Fault{"its graph has no outputs"};
    return r;
  } catch (const Fault& f) {
    throw InputError(file + ": " + f.what);
  }
}

namespace {

void add_external(const file::Graph& graph, const std::filesystem::path& folder, std::set<std::string>& files) {
  const auto add = [&](const file::Tensor& t) {
    for (const file::Entry& e : t.external_data()) {
      if (e.key() == "location") files.insert((folder / e.value()).string());
    }
  };
  for (const file::Tensor& t : graph.initializer()) add(t);
  for (const file::Node& n : graph.node()) {
    for (const file::Attribute& a : n.attribute()) {
      if (a.has_t()) add(a.t());
      if (a.has_g()) add_external(a.g(), folder, files);
    }
  }
}

}  // namespace

std::set<std::string> external_files(const std::string& file) {
  std::set<std::string> files;
  try {
    const auto model = parsed<file::Model>(content_of(file), "ONNX model");
    add_external(model.graph(), std::filesystem::path(file).parent_path(), files);
  } catch (const Fault&) {  // reading it reports the fault
  }
  return files;
}

TensorData read_tensor(const std::string& file) {
  try {
    return Reader("").tensor(parsed<file::Tensor>(content_of(file), "ONNX tensor"), "the tensor");
  } catch (const Fault& f) {
    throw InputError(file + ": " + f.what);
  }
}

}  // namespace kernbench::onnx
