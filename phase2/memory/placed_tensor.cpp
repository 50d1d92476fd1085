// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/memory/placed_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "kernbench/phase2/memory/bulk_bytes.h"
#include "kernbench/phase2/op/json_values.h"
#include "kernbench/phase2/text/json_writer.h"

namespace kernbench::phase2 {
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

PlacedShard shard(const Json& j, const std::vector<std::string>& pes) {
  PlacedShard s;
  s.space = json_field(j, "space", json_space<Json>);
  s.addr = json_field<uint64_t>(j, "addr");
  if (j.contains("pe")) {
    s.pe = json_field(j, "pe", [&](const Json& v) {
      const auto it = std::find(pes.begin(), pes.end(), json_value<std::string>(v));
      if (it == pes.end()) throw JsonFault("found " + shown(v) + ", which is no PE of the log");
      return static_cast<uint32_t>(it - pes.begin());
    });
  }
  s.offset = json_field(j, "offset", json_dims<Json>);
  s.extent = json_field(j, "extent", json_dims<Json>);
  return s;
}

}  // namespace

Bytes read_tensor(const PlacedTensor& t, const MemoryImage& image, uint64_t* unwritten) {
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
    if (unwritten) {
      image.for_each_piece(key, s.addr, bytes.size(),
                           [&](uint64_t, uint64_t n, const MemoryImage::Extent* e, uint64_t) {
                             if (!e) *unwritten += n;
                           });
    }
    const auto state = image.state_of(key, s.addr, bytes.size());
    const bool may_be_read =
        state.state == MemoryImage::State::real || (unwritten && state.state == MemoryImage::State::unwritten);
    if (!may_be_read) {
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
  return json_items(parse_json<Json>(text), [&](const Json& j) {
    PlacedTensor t;
    t.name = json_field<std::string>(j, "name");
    t.output = json_field<std::string>(j, "role") == "out";
    t.dtype = json_field(j, "dtype", json_dtype<Json>);
    t.shape = json_field(j, "shape", json_dims<Json>);
    t.grid = json_field(j, "grid", json_dims<Json>);
    t.shape.elements();  // throws if the shape is invalid
    TensorRef::row_major(t.grid);
    t.shards = json_field(
        j, "shards", [&](const Json& list) { return json_items(list, [&](const Json& s) { return shard(s, pes); }); });
    return t;
  });
}

}  // namespace kernbench::phase2
