// `kernbench replay`: Phase 2 from an op log and its memory file, without a simulation. Links phase2 only; also the
// whole of `kernbench-replay`.
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "kernbench/phase2/check/reference_check.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/tool/commands.h"
#include "kernbench/phase2/tool/output_files.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/phase2/tool/whole_number.h"

namespace kernbench::cli {

namespace {

struct Options {
  std::string oplog, memory, isa, format;
  std::vector<std::string> dumps;
  int threads = 0;
  bool allow_cut_off = false, debug_verify = false;
  uint64_t corrupt_op = 0;
  std::string memory_file() const { return memory.empty() ? memory_file_of(oplog) : memory; }
};

struct Dump {
  std::string name, file;
};

std::vector<Dump> dumps_of(const Options& o, const OpLogHeader& header) {
  std::string legal;
  for (const PlacedTensor& t : header.tensors) {
    if (t.output) legal += (legal.empty() ? "" : ", ") + t.name;
  }
  std::vector<Dump> v;
  for (const std::string& text : o.dumps) {
    const size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      throw InputError("--dump: found '" + text + "', expected NAME=FILE.npy");
    v.push_back({text.substr(0, at), text.substr(at + 1)});
    if (std::none_of(header.tensors.begin(), header.tensors.end(),
                     [&](const PlacedTensor& t) { return t.output && t.name == v.back().name; })) {
      throw InputError("--dump: found '" + v.back().name + "', " +
                       (legal.empty() ? "the log names no output" : "the log has " + legal));
    }
  }
  return v;
}

void check_output_files(const Options& o, const std::vector<Dump>& dumps) {
  OutputFiles files;
  files.add("--oplog", o.oplog);  // read; a dump into one of these would be the end of it
  files.add("--memory", o.memory_file());
  for (const Dump& d : dumps) files.add("--dump " + d.name, d.file);
}

Isa isa_for(const Options& o, const OpLogHeader& header) {
  if (!o.isa.empty()) return isa_of(o.isa);
  if (header.isa.empty()) return best_isa();
  const auto logged = parse_isa(header.isa);
  if (!logged) throw InputError(o.oplog + ": header: unknown instruction set '" + header.isa + "'");
  if (!available(*logged))
    throw InputError(o.oplog + ": was recorded for " + header.isa + ", which this machine lacks; --isa " +
                     std::string(name_of(best_isa())) + " replays it with other roundings");
  return *logged;
}

struct Loaded {
  OpLogContents log;
  MemoryFileContents memory;
  size_t left_out = 0;  ///< records that may depend on others which were lost
  bool cut_off() const { return !log.complete || !memory.complete; }
};

Loaded load(const Options& o) {
  Loaded l;
  l.log = read_op_log(o.oplog);
  const std::string file = o.memory_file();
  if (o.memory.empty() && !std::filesystem::exists(file))
    throw InputError(o.oplog + ": its memory file " + file + " is not there; --memory FILE names another");
  l.memory = read_memory_file(file);
  for (const auto& [name, whole] : {std::pair<std::string, bool>{o.oplog, l.log.complete}, {file, l.memory.complete}}) {
    if (!whole && !o.allow_cut_off)
      throw InputError(name + ": was cut off (the run did not end in order); --allow-cut-off replays what is there");
  }
  if (l.log.header.components.empty() && l.log.records.empty())
    throw InputError(o.oplog + ": was cut off before its header was whole");
  // The header stands behind the memory at the start.
  if (!l.memory.complete && l.memory.header.empty())
    throw InputError(file + ": was cut off before the memory at the start was whole");
  if (!l.log.complete) l.left_out = drop_behind_gaps(l.log.records);
  // As JSON: a log's configuration comes back with its keys in another order.
  if (!l.memory.header.empty() &&
      parse_json<nlohmann::json>(l.memory.header) != parse_json<nlohmann::json>(header_json(l.log.header)))
    throw InputError(file + ": belongs to another run than " + o.oplog);
  attach_data(l.log.records, l.memory);
  return l;
}

/// What one output came to.
struct Output {
  const PlacedTensor* tensor;
  Bytes bytes;
  std::string missing;  ///< why there are no bytes
};

std::vector<Output> outputs_of(const OpLogHeader& header, const MemoryImage& image) {
  std::vector<Output> v;
  for (const PlacedTensor& t : header.tensors) {
    if (!t.output) continue;
    v.push_back({&t, {}, {}});
    try {
      v.back().bytes = read_tensor(t, image);
    } catch (const PlacedTensorError& e) {
      v.back().missing = e.what();
    }
  }
  return v;
}

void report_as_json(std::ostream& out, const Loaded& files, const ReplayResult& r, const std::vector<Output>& outputs) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
  w.open('{').field("ops", r.ops).field("computed", r.computed).field("isa", name_of(r.isa));
  w.field("graph_s", r.graph_s).field("run_s", r.run_s).field("cut_off", files.cut_off());
  w.field("left_out", files.left_out).key("tensors").open('[');
  for (const Output& x : outputs) {
    w.open('{').field("name", x.tensor->name).field("dtype", name_of(x.tensor->dtype));
    w.field("shape", x.tensor->shape).field("written", x.missing.empty()).close('}');
  }
  w.close(']').close('}');
  out << text << "\n";
}

void report_as_text(std::ostream& out, const Loaded& files, const ReplayResult& r, const std::vector<Output>& outputs) {
  fmt::print(out, "replayed {} ops, {} of them computed ({}), in {:.6g} s\n", r.ops, r.computed, name_of(r.isa),
             r.graph_s + r.run_s);
  if (files.cut_off())
    fmt::print(out, "the run was cut off: {} ops left out that may depend on lost ones\n", files.left_out);
  for (const Output& x : outputs) {
    fmt::print(out, "  {} {} {}{}\n", x.tensor->name, name_of(x.tensor->dtype), x.tensor->shape.to_string(),
               x.missing.empty() ? "" : ": not whole");
  }
}

int replay_files(const Options& o) {
  Loaded files;
  std::vector<Dump> dumps;
  ReplayOptions options;
  // Whatever is wrong with a file is bad input, also where the libraries below say so.
  try {
    files = load(o);
    dumps = dumps_of(o, files.log.header);
    check_output_files(o, dumps);
    options.isa = isa_for(o, files.log.header);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& e) {
    throw InputError(one_line(e.what()));
  }
  options.threads = o.threads;
  if (o.debug_verify) options.check = reference_check(files.log.header.pes);
  options.corrupt_op = o.corrupt_op;
  ProgressLine progress;
  options.progress = progress.replay_observer();
  ReplayResult result;
  try {
    result = replay(files.log.records, files.memory.image, options);
  } catch (const OpDeparts& e) {
    throw RunError(e.what());
  } catch (const std::exception& e) {
    throw InputError(o.oplog + ": cannot be replayed: " + one_line(e.what()));
  }
  progress.clear();
  const std::vector<Output> outputs = outputs_of(files.log.header, result.memory);
  for (const Dump& d : dumps) {
    const auto it =
        std::find_if(outputs.begin(), outputs.end(), [&](const Output& x) { return x.tensor->name == d.name; });
    if (!it->missing.empty()) throw RunError(it->missing);
    try {
      write_npy(d.file, it->tensor->dtype, it->tensor->shape, it->bytes.data());
    } catch (const NpyError& e) {
      throw InputError(e.what());
    }
  }
  (o.format == "json" ? report_as_json : report_as_text)(std::cout, files, result, outputs);
  return 0;
}

}  // namespace

Isa isa_of(const std::string& name) {
  const auto isa = parse_isa(name);
  if (!isa) throw InputError("--isa: found '" + name + "', expected portable, avx2 or avx512");
  if (!available(*isa)) throw InputError("--isa: this machine has no " + name);
  return *isa;
}

std::string memory_file_of(const std::string& oplog) {
  return std::filesystem::path(oplog).replace_extension(".kbmem").string();
}

Command add_replay(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("replay", "Compute a run's results again, from its op log and memory file alone");
  cmd->add_option("--oplog", o->oplog, "the op log of `kernbench run`")->required()->type_name("FILE");
  cmd->add_option("--memory", o->memory, "its memory file; default: the log's name with .kbmem")->type_name("FILE");
  cmd->add_option("--dump", o->dumps, "write an output (repeatable)")->type_name("NAME=FILE.npy");
  whole_number(cmd->add_option("--threads", o->threads, "0: all"), 0, 1024)->capture_default_str();
  cmd->add_option("--isa", o->isa, "instruction set: portable, avx2, avx512; default: the log's")->type_name("NAME");
  cmd->add_flag("--allow-cut-off", o->allow_cut_off, "replay what there is of a run that did not end in order");
  cmd->add_flag("--debug-verify", o->debug_verify,
                "check every op against plain loops and name the first that departs");
  whole_number(
      cmd->add_option("--corrupt-op", o->corrupt_op, "damage the result of this op: shows that --debug-verify names it"))
      ->type_name("OP_ID");
  o->format = "text";
  cmd->add_option("--format", o->format, "form of the output")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  return {cmd, [o] { return replay_files(*o); }};
}

}  // namespace kernbench::cli
