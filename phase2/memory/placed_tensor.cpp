#include "kernbench/phase2/memory/placed_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "kernbench/phase2/memory/bulk_bytes.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/json_writer.h"

namespace kernbench {
namespace {

using Json = nlohmann::json;

void check_shard(const PlacedTensor& t, const PlacedShard& s) {
  bool fits = s.offset.rank() == t.grid.rank() && s.extent.rank() == t.grid.rank();
  for (int i = 0; fits && i < t.grid.rank(); ++i) {
    fits = s.offset[i] >= 0 && s.extent[i] >= 0 && s.offset[i] <= t.grid[i] && s.extent[i] <= t.grid[i] - s.offset[i];
  }
  if (!fits) {
    throw PlacedTensorError("tensor " + t.name + ": a part of " + s.extent.to_string() + " at " + s.offset.to_string() +
                            " lies outside " + t.grid.to_string());
  }
}

Dims dims(const Json& j) {
  Dims d;
  for (const Json& x : j) d.push_back(json_integer<int64_t>(x));
  return d;
}

}  // namespace

Bytes read_tensor(const PlacedTensor& t, const MemoryImage& image) {
  const size_t item = size_of(t.dtype);
  if (t.grid.elements() != t.shape.elements()) {
    throw PlacedTensorError("tensor " + t.name + ": shape " + t.shape.to_string() + " stored as " + t.grid.to_string());
  }
  Bytes whole = bulk_bytes(static_cast<uint64_t>(t.shape.elements()) * item);
  const Dims strides = TensorRef::row_major(t.grid);
  const int rank = t.grid.rank();
  int64_t covered = 0;
  for (const PlacedShard& s : t.shards) {
    check_shard(t, s);
    const int64_t elements = s.extent.elements();
    covered += elements;
    if (elements == 0) continue;
    Bytes bytes(static_cast<size_t>(elements) * item);
    const MemoryImage::SpaceKey key{s.space, s.pe};
    const auto state = image.state_of(key, s.addr, bytes.size());
    if (state.state != MemoryImage::State::real) {
      throw PlacedTensorError(fmt::format("tensor {}: the part at {} was {} (from byte {} of {})", t.name,
                                          s.offset.to_string(),
                                          state.state == MemoryImage::State::unwritten ? "not written" : "left pending",
                                          state.first_bad - s.addr, bytes.size()));
    }
    image.read(key, s.addr, bytes.data(), bytes.size());
    const int64_t run = rank ? s.extent[rank - 1] : 1;
    for (int64_t first = 0; first < elements; first += run) {
      int64_t rest = first / run, to = rank ? s.offset[rank - 1] : 0;
      for (int i = rank - 2; i >= 0; --i) {
        to += (s.offset[i] + rest % s.extent[i]) * strides[i];
        rest /= s.extent[i];
      }
      std::memcpy(&whole[static_cast<size_t>(to) * item], &bytes[static_cast<size_t>(first) * item],
                  static_cast<size_t>(run) * item);
    }
  }
  if (covered < t.shape.elements()) {
    throw PlacedTensorError(
        fmt::format("tensor {}: its parts hold {} of {} elements", t.name, covered, t.shape.elements()));
  }
  return whole;
}

std::string tensors_json(const std::vector<PlacedTensor>& tensors, const std::vector<std::string>& pes) {
  std::string text;
  JsonWriter w(text);
  w.open('[');
  for (const PlacedTensor& t : tensors) {
    w.open('{').field("name", t.name).field("role", t.output ? "out" : "in").field("dtype", name_of(t.dtype));
    w.field("shape", t.shape).field("grid", t.grid).key("shards").open('[');
    for (const PlacedShard& s : t.shards) {
      w.open('{').field("space", name_of(s.space)).field("addr", s.addr);
      if (s.pe != kNoPe) w.field("pe", pes.at(s.pe));
      w.field("offset", s.offset).field("extent", s.extent).close('}');
    }
    w.close(']').close('}');
  }
  w.close(']');
  return text;
}

std::vector<PlacedTensor> parse_tensors(std::string_view text, const std::vector<std::string>& pes) {
  std::vector<PlacedTensor> all;
  for (const Json& j : parse_json<Json>(text)) {
    PlacedTensor t;
    t.name = j.at("name").get<std::string>();
    t.output = j.at("role").get<std::string>() == "out";
    const std::string dtype = j.at("dtype").get<std::string>();
    const auto known = parse_dtype(dtype);
    if (!known) throw std::runtime_error("tensor " + t.name + ": unknown dtype '" + dtype + "'");
    t.dtype = *known;
    t.shape = dims(j.at("shape"));
    t.grid = dims(j.at("grid"));
    t.shape.elements();  // an error where it is no number of elements
    TensorRef::row_major(t.grid);
    for (const Json& x : j.at("shards")) {
      PlacedShard s;
      s.space = parse_space(x.at("space").get<std::string>());
      s.addr = json_integer<uint64_t>(x.at("addr"));
      if (x.contains("pe")) {
        const auto it = std::find(pes.begin(), pes.end(), x.at("pe").get<std::string>());
        if (it == pes.end()) throw std::runtime_error("tensor " + t.name + ": unknown PE");
        s.pe = static_cast<uint32_t>(it - pes.begin());
      }
      s.offset = dims(x.at("offset"));
      s.extent = dims(x.at("extent"));
      t.shards.push_back(s);
    }
    all.push_back(std::move(t));
  }
  return all;
}

}  // namespace kernbench
