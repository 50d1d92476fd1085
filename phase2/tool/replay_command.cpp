// SPDX-License-Identifier: Apache-2.0
// `kernbench replay`: Phase 2 from an op log and its memory file, without a simulation. It links only phase2, and
// `kernbench-replay` consists of it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernbench/phase2/check/reference_check.h"
#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/eval/isa_option.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/commands.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/phase2/tool/whole_number.h"

namespace kernbench::cli {

namespace {

struct Options {
  std::string oplog, memory, isa, format;
  std::vector<std::string> dumps, expected;
  int threads = 0;
  bool allow_cut_off = false, debug_verify = false;
  uint64_t corrupt_op = 0;
  std::optional<uint64_t> until;
  std::string memory_file() const { return memory.empty() ? memory_file_of(oplog) : memory; }
};

/// An output and the file that an option gives for it.
struct TensorFile {
  const PlacedTensor* tensor;
  std::string file;
};

std::vector<TensorFile> tensor_files(const char* option, const std::vector<std::string>& texts,
                                     const OpLogHeader& header) {
  std::string legal;
  for (const PlacedTensor& t : header.tensors) {
    if (t.output) legal += (legal.empty() ? "" : ", ") + t.name;
  }
  std::vector<TensorFile> v;
  for (const auto& [name, file] : named_values(option, texts, "NAME=FILE.npy")) {
    const auto it = std::find_if(header.tensors.begin(), header.tensors.end(),
                                 [&, n = name](const PlacedTensor& t) { return t.output && t.name == n; });
    if (it == header.tensors.end())
      throw InputError(std::string(option) + ": found '" + name + "', " +
                       (legal.empty() ? "the log names no output" : "the log has " + legal));
    v.push_back({&*it, file});
  }
  return v;
}

/// The expected outputs of --expected, read before any computation.
std::map<std::string, ReferenceValues> expected_outputs(const Options& o, const OpLogHeader& header) {
  std::map<std::string, ReferenceValues> all;
  for (const auto& [t, file] : tensor_files("--expected", o.expected, header)) {
    const NpyArray a = read_npy_tensor(file, t->name, t->dtype, t->shape);
    all[t->name] = {values_of(a.dtype, a.bytes.data(), static_cast<size_t>(a.shape.elements())), {}};
  }
  return all;
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
  size_t left_out = 0;  ///< records that may depend on lost ones
  bool cut_off() const { return !log.complete || !memory.complete; }
};

/// Compared as JSON, because a log returns the keys of its configuration in another order.
bool same_header(const std::string& file, const std::string& in_memory_file, const OpLogHeader& log) {
  try {
    return parse_json<nlohmann::json>(in_memory_file) == parse_json<nlohmann::json>(header_json(log));
  } catch (const JsonFault& e) {
    throw InputError(file + ": header: " + e.what());
  }
}

Loaded load(const Options& o) {
  Loaded l;
  l.log = read_op_log(o.oplog);
  const std::string file = o.memory_file();
  logging::info(logging::Room::run, [&] {
    return fmt::format("read {}: {} records; its memory is {}", o.oplog, l.log.records.size(), file);
  });
  if (o.memory.empty() && !std::filesystem::exists(file))
    throw InputError(o.oplog + ": its memory file " + file + " is not there; --memory FILE names another");
  l.memory = read_memory_file(file);
  for (const auto& [name, whole] : {std::pair<std::string, bool>{o.oplog, l.log.complete}, {file, l.memory.complete}}) {
    if (!whole && !o.allow_cut_off)
      throw InputError(name + ": was cut off (the run did not end in order); --allow-cut-off replays what is there");
  }
  if (l.log.header.components.empty() && l.log.records.empty())
    throw InputError(o.oplog + ": was cut off before its header was complete");
  // The header comes after the initial memory.
  if (!l.memory.complete && l.memory.header.empty())
    throw InputError(file + ": was cut off before the initial memory was complete");
  if (!l.log.complete) l.left_out = drop_behind_gaps(l.log.records);
  if (!l.memory.header.empty() && !same_header(file, l.memory.header, l.log.header))
    throw InputError(file + ": belongs to another run than " + o.oplog);
  attach_data(l.log.records, l.memory);
  try {
    if (l.log.energy) energy::summarize(*l.log.energy);
  } catch (const RunError& e) {
    throw InputError(o.oplog + ": " + e.what());
  }
  return l;
}

/// The result of one output.
struct Output {
  const PlacedTensor* tensor;
  Bytes bytes;
  std::string missing;     ///< the reason if there are no bytes
  uint64_t unwritten = 0;  ///< bytes that were unwritten at --until; they are 0
};

std::vector<Output> outputs_of(const OpLogHeader& header, const MemoryImage& image, bool in_part) {
  std::vector<Output> v;
  for (const PlacedTensor& t : header.tensors) {
    if (!t.output) continue;
    v.push_back({&t, {}, {}, 0});
    try {
      v.back().bytes = read_tensor(t, image, in_part ? &v.back().unwritten : nullptr);
    } catch (const PlacedTensorError& e) {
      v.back().missing = e.what();
    }
  }
  return v;
}

struct Replayed {
  ReplayResult result;
  std::vector<Output> outputs;
  std::vector<TensorReport> verified;  ///< for --expected
};

void report_as_json(std::ostream& out, const Loaded& files, const Replayed& all) {
  const ReplayResult& r = all.result;
  write_json(
      out,
      [&](Fields& f) {
        f("ops", r.ops)("computed", r.computed)("isa", r.isa)("graph_s", r.graph_s)("run_s", r.run_s);
        f("cut_off", files.cut_off())("left_out", files.left_out).each("tensors", all.outputs, [&](const Output& x) {
          f("name", x.tensor->name)("dtype", x.tensor->dtype)("shape", x.tensor->shape);
          f("written", x.missing.empty() && x.unwritten == 0);
        });
        f.given("energy", files.log.energy);
        if (!all.verified.empty()) f("verify", [&] { describe_verification(f, all.verified); });
      },
      JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
}

void report_as_text(std::ostream& out, const Loaded& files, const Replayed& all) {
  const ReplayResult& r = all.result;
  print_to(out, "replayed {} ops, {} of them computed ({}), in {:.3f} s\n", r.ops, r.computed, name_of(r.isa),
           r.graph_s + r.run_s);
  if (files.cut_off())
    print_to(out, "the run was cut off: {} ops left out that may depend on lost ones\n", files.left_out);
  for (const Output& x : all.outputs) {
    print_to(out, "  {} {} {}{}\n", x.tensor->name, name_of(x.tensor->dtype), x.tensor->shape.to_string(),
             !x.missing.empty() ? ": not whole"
             : x.unwritten > 0  ? fmt::format(": {} of {} bytes not written yet, 0 here", x.unwritten, x.bytes.size())
                                : "");
  }
  if (files.log.energy) energy::write_energy_text(out, *files.log.energy);
  out << to_text(all.verified);
}

/// For --dump and --expected.
void use_outputs(Replayed& all, const std::vector<TensorFile>& dumps,
                 const std::map<std::string, ReferenceValues>& expected) {
  for (const Output& x : all.outputs) {
    const auto reference = expected.find(x.tensor->name);
    const auto dumped = [&](const TensorFile& d) { return d.tensor == x.tensor; };
    const auto dump = std::find_if(dumps.begin(), dumps.end(), dumped);
    if (dump == dumps.end() && reference == expected.end()) continue;
    if (!x.missing.empty()) throw RunError(x.missing);
    if (reference != expected.end())
      all.verified.push_back(
          verify(x.tensor->name, x.tensor->dtype, x.tensor->shape, x.bytes.data(), reference->second));
    for (const TensorFile& d : dumps) {
      if (dumped(d)) write_npy(d.file, x.tensor->dtype, x.tensor->shape, x.bytes.data());
    }
  }
}

int replay_files(const Options& o) {
  Loaded files;
  std::vector<TensorFile> dumps;
  std::map<std::string, ReferenceValues> expected;
  ReplayOptions options;
  // A fault of a file is an input error, also if a library below reports it.
  try {
    files = load(o);
    dumps = tensor_files("--dump", o.dumps, files.log.header);
    expected = expected_outputs(o, files.log.header);
    options.isa = isa_for(o, files.log.header);
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw InputError(e.what());
  }
  options.threads = o.threads;
  if (o.debug_verify) options.check = reference_check(files.log.header.pes);
  options.corrupt_op = o.corrupt_op;
  options.until = o.until;
  ProgressLine progress;
  options.progress = progress.replay_observer();
  Replayed all;
  try {
    all.result = replay(files.log.records, files.memory.image, options);
  } catch (const OpDeparts& e) {
    throw RunError(e.what());
  } catch (const AssertFailed& e) {
    throw RunError(e.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw InputError(o.oplog + ": cannot be replayed: " + e.what());
  }
  progress.clear();
  for (const std::string& line : all.result.prints) tell(line);
  if (const std::string warning = all.result.warning(); !warning.empty()) tell("kernbench: " + warning);
  all.outputs = outputs_of(files.log.header, all.result.memory, o.until.has_value());
  use_outputs(all, dumps, expected);
  (o.format == "json" ? report_as_json : report_as_text)(std::cout, files, all);
  return std::all_of(all.verified.begin(), all.verified.end(), [](const TensorReport& t) { return t.passed; }) ? 0 : 1;
}

}  // namespace

Command add_replay(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("replay", "Recompute a run's results from its op log and memory file");
  reads_file(cmd->add_option("--oplog", o->oplog, "the op log of `kernbench run`")->required()->type_name("FILE"));
  reads_file(cmd->add_option("--memory", o->memory, "memory file of the run; default: the log's name with .kbmem")
                 ->type_name("FILE"));
  writes_file(cmd->add_option("--dump", o->dumps, "write an output (repeatable)")->type_name("NAME=FILE.npy"));
  reads_file(cmd->add_option("--expected", o->expected, "verify an output against a file (repeatable)")
                 ->type_name("NAME=FILE.npy"));
  whole_number(
      cmd->add_option("--until", o->until, "stop after the effect of this op; outputs have their values at that point"))
      ->type_name("OP_ID");
  whole_number(cmd->add_option("--threads", o->threads, "0: all"), 0, 1024)->capture_default_str();
  cmd->add_option("--isa", o->isa, "instruction set: portable, avx2, avx512; default: as recorded")->type_name("NAME");
  cmd->add_flag("--allow-cut-off", o->allow_cut_off, "replay the recorded part of a run that did not finish");
  cmd->add_flag("--debug-verify", o->debug_verify, "check each op against plain loops and name the first that differs");
  whole_number(cmd->add_option("--corrupt-op", o->corrupt_op,
                               "damage the result of this op, to show that --debug-verify finds it"))
      ->type_name("OP_ID");
  o->format = "text";
  cmd->add_option("--format", o->format, "output format")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  return {cmd, [o] { return replay_files(*o); }, [o](CommandFiles& f) { f.reads("--memory", o->memory_file()); }};
}

}  // namespace kernbench::cli
