// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/graph/provenance.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "kernbench/phase2/graph/replay_graph.h"

namespace kernbench::phase2 {
namespace {

constexpr int kMostCarriers = 8;

std::tuple<uint64_t, uint32_t, uint64_t> order_of(const OpRecord& r) {
  return {effect_instant(r), r.desc->pe, r.desc->seq};
}

bool overlap(const TensorRef& a, const TensorRef& b) {
  return a.space == b.space && a.pe == b.pe && a.addr < b.addr + b.span_bytes() && b.addr < a.addr + a.span_bytes();
}

/// Whether the op writes any of the range.
bool writes(const OpDesc& d, const TensorRef& range) {
  const bool in_ranges = d.ranged && d.type != CommandType::load;
  bool written = false;
  if (!in_ranges || d.ranged->returns_old)
    for_each_output(d, [&](const TensorRef& t) { written |= overlap(t, range); });
  if (written) return true;
  if (!in_ranges || range.space != d.ranged->space) return false;
  return std::any_of(d.ranged->ranges.begin(), d.ranged->ranges.end(), [&](const MovedRange& r) {
    return r.addr < range.addr + range.span_bytes() && range.addr < r.addr + r.nbytes;
  });
}

/// The last command before `reader` that wrote any of the range; null if there is none.
const OpRecord* last_writer(const std::vector<OpRecord>& records, const OpRecord& reader, const TensorRef& range) {
  const OpRecord* last = nullptr;
  for (const OpRecord& r : records) {
    if (!r.desc || r.is_token || r.desc->kind == OpKind::unknown || r.desc == reader.desc) continue;
    if (r.foreign && r.desc->type == CommandType::load) continue;
    if (!writes(*r.desc, range) || !(order_of(r) < order_of(reader))) continue;
    if (!last || order_of(*last) < order_of(r)) last = &r;
  }
  return last;
}

/// "TileToken/DMA_READ ops 40 to 72 of composite op 38"; empty if the composite has none.
std::string tokens(const std::vector<OpRecord>& records, uint64_t composite, Stage stage) {
  uint64_t first = 0, last = 0;
  for (const OpRecord& r : records) {
    if (!r.is_token || r.token.composite_op_id != composite || r.token.stage != stage) continue;
    first = first ? std::min(first, r.op_id) : r.op_id;
    last = std::max(last, r.op_id);
  }
  if (!first) return "";
  return "TileToken/" + std::string(name_of(stage)) + (first == last ? " op " : " ops ") + std::to_string(first) +
         (first == last ? "" : " to " + std::to_string(last)) + " of composite op " + std::to_string(composite);
}

}  // namespace

std::string place_text(const TensorRef& t, const std::vector<std::string>& pes) {
  char hex[24];
  std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(t.addr));
  const std::string s = std::string(name_of(t.space)) + " " + hex;
  if (t.pe == kNoPe) return s;
  return s + " of " + (t.pe < pes.size() ? pes[t.pe] : "PE " + std::to_string(t.pe));
}

std::string carriers_of(const std::vector<OpRecord>& records, const OpRecord& reader, const TensorRef& operand,
                        const std::vector<std::string>& pes) {
  std::vector<std::string> carriers;
  if (reader.desc->type == CommandType::composite && operand.space != Space::tcm) {
    carriers.push_back(tokens(records, reader.op_id, Stage::dma_read));
  }
  const OpRecord* at = &reader;
  TensorRef range = operand;
  for (int i = 0; i < kMostCarriers; ++i) {
    const OpRecord* const writer = last_writer(records, *at, range);
    if (!writer) break;
    const OpDesc& d = *writer->desc;
    if (d.type == CommandType::composite && d.output.space != Space::tcm) {
      carriers.push_back(tokens(records, writer->op_id, Stage::dma_write));
    }
    if (d.type != CommandType::load && d.type != CommandType::store) break;
    std::string text = d.name + " op " + std::to_string(writer->op_id);
    if (!d.operands.empty()) text += " from " + place_text(d.operands[0].ref, pes);
    carriers.push_back(std::move(text));
    if (d.operands.empty()) break;
    at = writer;
    range = d.operands[0].ref;
  }
  std::string s;
  for (const std::string& c : carriers) {
    if (!c.empty()) s += (s.empty() ? "brought by " : ", ") + c;
  }
  return s;
}

}  // namespace kernbench::phase2
