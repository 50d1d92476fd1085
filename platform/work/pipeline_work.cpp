// SPDX-License-Identifier: Apache-2.0
// Reads `kernbench pipeline`'s work file.
#include <algorithm>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/work/json_fields.h"
#include "kernbench/platform/work/pipeline.h"

namespace kernbench::work {

namespace {

using nlohmann::json;

constexpr int64_t kMaxTiles = 200'000'000;

class PipelineReader : private JsonFieldReader {
 public:
  PipelineReader(std::string file, Machine& machine) : JsonFieldReader(std::move(file)), machine_(machine) {}

  PipelineWork read(const json& root) {
    PipelineWork work;
    keys(root, "", {"pes", "connections", "programs"});
    work.has_pes = !root.is_object() || root.contains("pes") || !root.contains("programs");
    const json* pes = array(root, "", "pes", work.has_pes);
    for (size_t i = 0; pes && i < pes->size(); ++i) read_pe((*pes)[i], "pes[" + std::to_string(i) + "]", work);
    if (!faults_.empty()) throw InputError(faults_);
    work.file = file_;
    work.calls = read_programs(root, file_, machine_);
    return work;
  }

 private:
  TileOperand operand(const json& o, const std::string& path, int64_t cols, uint32_t element_bytes, bool own_dtype) {
    TileOperand x;
    x.element_bytes = element_bytes;
    if (!keys(o, path, {"space", "addr", "ld", "dtype_bytes", "dtype"})) return x;
    const std::string space = text(o, path, "space");
    x.in_memory = space != "tcm";
    check_space(space, path, "tcm");
    x.addr = address(o, path);
    if (own_dtype) x.element_bytes = static_cast<uint32_t>(size(o, path, "dtype_bytes", element_bytes));
    const int64_t ld = size(o, path, "ld", cols);
    if (ld < cols) fault(path + ".ld", fmt::format("found {}, expected at least the number of columns, {}", ld, cols));
    x.row_bytes = static_cast<uint64_t>(ld) * x.element_bytes;
    return x;
  }

  void read_epilogue(const json& o, const std::string& path, CompositePlan& p) {
    const json* list = array(o, path, "epilogue", false);
    for (size_t i = 0; list && i < list->size(); ++i) {
      const std::string at = fmt::format("{}.epilogue[{}]", path, i);
      if (!keys((*list)[i], at, {"op", "scope"})) continue;
      const std::string op = text((*list)[i], at, "op"), scope = text((*list)[i], at, "scope");
      if (scope == "per_k_tile") {
        p.per_tile.push_back(op);
      } else if (scope == "per_output_tile") {
        p.per_output_tile.push_back(op);
      } else if (scope == "once") {
        p.once.push_back(op);
      } else {
        fault(at + ".scope", "found '" + scope + "', expected per_k_tile, per_output_tile or once");
      }
    }
  }

  PipelineWork::Entry read_composite(const json& o, const std::string& path) {
    PipelineWork::Entry e;
    e.command = std::make_unique<PeCommand>();
    if (!o.is_object()) {
      fault(path, "found " + shown(o) + ", expected an object");
      return e;
    }
    const std::string kind = text(o, path, "kind");
    CompositePlan& p = e.command->plan;
    p.gemm = kind == "gemm";
    if (p.gemm) {
      keys(o, path,
           {"id", "kind", "submit_ns", "m", "n", "k", "tile", "dtype", "dtype_bytes", "out_dtype_bytes", "a", "b", "c",
            "epilogue"});
    } else if (kind == "math") {
      keys(o, path,
           {"id", "kind", "op", "submit_ns", "m", "n", "tile", "dtype", "dtype_bytes", "out_dtype_bytes", "inputs",
            "out", "epilogue"});
    } else {
      fault(path + ".kind", "found '" + kind + "', expected gemm or math");
      return e;
    }
    e.id = text(o, path, "id");
    e.submit_ns = time(o, path, "submit_ns");
    e.command->type = CommandType::composite;
    const bool one_row = !p.gemm && o.find("m") == o.end();  // elementwise in one dimension
    p.m = one_row ? 1 : size(o, path, "m");
    p.n = size(o, path, "n");
    p.k = p.gemm ? size(o, path, "k") : 1;
    p.dtype = text(o, path, "dtype", "");
    const auto bytes = static_cast<uint32_t>(size(o, path, "dtype_bytes"));
    const auto out_bytes = static_cast<uint32_t>(size(o, path, "out_dtype_bytes", bytes));
    const json* tile = array(o, path, "tile");
    const size_t dims = p.gemm ? 3 : one_row ? 1 : 2, first = one_row ? 1 : 0;
    int64_t t[3] = {1, 1, 1};
    if (tile && tile->size() != dims) {
      fault(path + ".tile", fmt::format("found {}, expected {} sizes", shown(*tile), dims));
    } else {
      for (size_t i = 0; tile && i < dims; ++i)
        t[first + i] = whole((*tile)[i], path + ".tile[" + std::to_string(i) + "]", 1, kMaxSize);
    }
    p.tm = std::min(t[0], p.m);
    p.tn = std::min(t[1], p.n);
    p.tk = std::min(t[2], p.k);
    if (static_cast<double>(p.tiles_m()) * static_cast<double>(p.tiles_n()) * static_cast<double>(p.tiles_k()) >
        static_cast<double>(kMaxTiles))
      fault(path + ".tile", "makes more than 200,000,000 tiles");
    const auto named = [&](const char* key, int64_t cols, uint32_t element_bytes, bool own) {
      const auto it = o.find(key);
      if (it != o.end()) return operand(*it, path + "." + key, cols, element_bytes, own);
      fault(path + "." + key, "is missing, expected {space, addr}");
      return TileOperand{};
    };
    if (p.gemm) {
      p.inputs = {named("a", p.k, bytes, true), named("b", p.n, bytes, true)};
      p.output = named("c", p.n, out_bytes, false);
    } else {
      p.per_tile.push_back(text(o, path, "op"));
      const json* inputs = array(o, path, "inputs");
      for (size_t i = 0; inputs && i < inputs->size(); ++i)
        p.inputs.push_back(operand((*inputs)[i], path + ".inputs[" + std::to_string(i) + "]", p.n, bytes, true));
      if (inputs && inputs->size() > 8)
        fault(path + ".inputs", fmt::format("found {}, expected at most 8", inputs->size()));
      p.output = named("out", p.n, out_bytes, false);
    }
    read_epilogue(o, path, p);
    return e;
  }

  PipelineWork::Entry read_command(const json& o, const std::string& path) {
    PipelineWork::Entry e;
    e.command = std::make_unique<PeCommand>();
    PeCommand& c = *e.command;
    if (!o.is_object()) {
      fault(path, "found " + shown(o) + ", expected an object");
      return e;
    }
    e.id = text(o, path, "id");
    e.submit_ns = time(o, path, "submit_ns");
    const std::string stage = text(o, path, "stage");
    if (stage == "DMA_READ" || stage == "DMA_WRITE") {
      keys(o, path, {"id", "submit_ns", "stage", "space", "addr", "nbytes"});
      c.type = stage == "DMA_READ" ? CommandType::load : CommandType::store;
      read_memory(o, path, static_cast<uint64_t>(size(o, path, "nbytes")), c);
    } else if (stage == "GEMM") {
      keys(o, path, {"id", "submit_ns", "stage", "m", "n", "k", "dtype", "in_bytes", "out_bytes"});
      read_gemm(o, path, c);
    } else if (stage == "MATH") {
      keys(o, path, {"id", "submit_ns", "stage", "op", "elements", "in_bytes", "out_bytes"});
      read_math(o, path, c);
    } else {
      fault(path + ".stage", "found '" + stage + "', expected DMA_READ, DMA_WRITE, GEMM or MATH");
    }
    return e;
  }

  void read_pe(const json& o, const std::string& path, PipelineWork& work) {
    if (!keys(o, path, {"pe", "composites", "commands"})) return;
    PipelineWork::PePart part;
    part.pe = text(o, path, "pe");
    const auto& pes = machine_.graph().pes;
    const auto it = std::find_if(pes.begin(), pes.end(), [&](const topology::Pe& pe) { return pe.id == part.pe; });
    if (it == pes.end()) {
      fault(path + ".pe", "found '" + part.pe + "', expected a PE of the topology (such as " +
                              (pes.empty() ? std::string("none: it has no PE") : pes.front().id) + ")");
    } else {
      part.index = static_cast<size_t>(it - pes.begin());
      const std::string missing = machine_.pes().missing_blocks(part.index);
      if (!missing.empty()) fault(path + ".pe", part.pe + " has no " + missing);
    }
    for (const auto& other : work.pes) {
      if (other.pe == part.pe) fault(path + ".pe", part.pe + " stands twice");
    }
    const json* composites = array(o, path, "composites", false);
    for (size_t i = 0; composites && i < composites->size(); ++i)
      part.composites.push_back(read_composite((*composites)[i], path + ".composites[" + std::to_string(i) + "]"));
    const json* commands = array(o, path, "commands", false);
    part.has_commands = commands != nullptr;
    for (size_t i = 0; commands && i < commands->size(); ++i)
      part.commands.push_back(read_command((*commands)[i], path + ".commands[" + std::to_string(i) + "]"));
    work.pes.push_back(std::move(part));
  }

  Machine& machine_;
};

}  // namespace

PipelineWork read_pipeline_work(std::istream& in, const std::string& file_name, Machine& machine) {
  json root;
  try {
    root = parse_json_document<json>(read_all(in, file_name));
  } catch (const JsonFault& e) {
    throw InputError(file_name + ": " + e.what());
  }
  return PipelineReader(file_name, machine).read(root);
}

}  // namespace kernbench::work
