#include "kernbench/platform/run/spec/run_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/systemc_models/pe/queue_ports.h"

namespace kernbench::spec {
namespace {

using Often = Option::Often;
using File = Option::File;
using Role = Option::Role;
using Type = Option::Type;

/// An entry of the table, said word by word.
class Entry {
 public:
  Entry(std::string_view name, std::string_view form, std::string_view help) : o_{name, form, help} {}
  operator Option() const { return o_; }
  Entry role(Role r) const {
    return with([&](Option& o) { o.role = r; });
  }
  Entry often(Often f) const {
    return with([&](Option& o) { o.often = f; });
  }
  Entry file(File f) const {
    return with([&](Option& o) { o.file = f; });
  }
  Entry initially(std::string_view v) const {
    return with([&](Option& o) { o.initial = v; });
  }
  Entry required() const {
    return with([&](Option& o) { o.required = true; });
  }
  Entry of_run_alone() const {
    return with([&](Option& o) { o.of_run_alone = true; });
  }
  Entry legal(std::vector<std::string_view> v) const {
    return with([&](Option& o) { o.legal = std::move(v); });
  }
  Entry needs(std::vector<std::string_view> v) const {
    return with([&](Option& o) { o.needs = std::move(v); });
  }
  Entry group(std::string_view g) const {
    return with([&](Option& o) { o.group = g; });
  }
  Entry type(Type t, double most = 0, double least = 0) const {
    return with([&](Option& o) {
      o.type = t;
      o.least = least;
      o.most = most;
    });
  }
  Entry writes() const { return role(Role::writes).file(File::written); }

 private:
  template <class Change>
  Entry with(const Change& change) const {
    Entry e = *this;
    change(e.o_);
    return e;
  }
  Option o_;
};

Entry flag(std::string_view name, std::string_view help) {
  return Entry(name, "", help).type(Type::flag);
}

// Titles in --help.
constexpr std::string_view kWork = "What runs", kMachine = "On what machine", kHow = "How it runs",
                           kResults = "Results and their checks", kShown = "What is shown",
                           kRecorded = "What is recorded", kProcesses = "Processes and shards";

constexpr double kMost64 = 18446744073709551615.0;

Table run_table() {
  struct Group {
    std::string_view name;
    std::vector<Option> options;
  };
  const std::vector<Group> groups = {
      {kMachine,
       {
           Entry("topology", "FILE.yaml",
                 "the system, a YAML file; a name alone is also looked for among those of `kernbench list topologies`")
               .file(File::topology)
               .required(),
           Entry("links", "NAME", "overrides timing.links: a name of `kernbench list links`, or a plug-in's"),
           Entry("response", "", "overrides timing.response").legal({"ideal", "routed"}),
           Entry("set", "TARGET=VALUE",
                 "a value over the file's: 'NODE-GLOB.ATTR=VALUE', 'edge:GLOB.bw_gbs=VALUE', GLOB of an edge's kind or "
                 "of FROM->TO; 'file:KEY.KEY=VALUE', of what shapes the graph (repeatable)")
               .often(Often::targets),
           Entry("scale", "PART=FACTOR",
                 "makes a part of the machine, such as hbm, mesh or gemm, FACTOR times as fast (docs/insight.md; "
                 "repeatable)")
               .often(Often::targets),
           Entry("plugin", "LIB.so", "shared object with kernels or components (repeatable)")
               .often(Often::each)
               .file(File::input),
       }},
      {kShown,
       {
           Entry("energy", "FILE.yaml",
                 "what the run takes in joules, by the constants of a table such as n7.yaml, also over the topology's "
                 "own energy section (docs/energy.md)")
               .file(File::energy),
       }},
      {kWork,
       {
           Entry("kernel", "NAME", "see `kernbench list kernels`").of_run_alone(),
           Entry("program", "NAME",
                 "instead of a kernel: host code that launches several, see `kernbench list programs`")
               .of_run_alone(),
           Entry("ttir", "FILE.ttir",
                 "instead of a kernel: a Triton kernel, from the IR in Triton's cache (docs/triton.md); then --tensor "
                 "takes "
                 "ARG=FILE.npy or ARG=uniform|zeros|arange:DTYPE[N,...] for every pointer, --param ARG=VALUE for every "
                 "number")
               .of_run_alone()
               .file(File::input),
           Entry("function", "NAME", "with --ttir: which of the file's").of_run_alone().needs({"ttir"}),
           Entry("grid", "X[,Y[,Z]]", "with --ttir: its programs").of_run_alone().needs({"ttir"}),
           Entry("order", "",
                 "with --ttir: programs go to PEs in turn (round_robin, the default), or in blocks of neighbours")
               .of_run_alone()
               .legal({"round_robin", "blocks"})
               .needs({"ttir"}),
           Entry("chains", "",
                 "with --ttir: elementwise operations in a row, whose results nothing else reads, are one MATH command "
                 "(joined, the default), or one each (single)")
               .of_run_alone()
               .legal({"joined", "single"})
               .needs({"ttir"}),
           Entry("interleave", "BYTES", "with --ttir: of a block of tensors that lie so; default 4096")
               .of_run_alone()
               .type(Type::whole, kMost64)
               .needs({"ttir"}),
           Entry("place", "ARG=interleave|cube|rows|replicate",
                 "with --ttir: where a pointer's tensor lies over the PEs (repeatable)")
               .of_run_alone()
               .often(Often::named)
               .needs({"ttir"}),
           Entry("param", "NAME=VALUE", "a parameter of the kernel or program (repeatable)")
               .of_run_alone()
               .often(Often::named),
           Entry("tensor", "NAME=FILE.npy", "an input from a file instead of a seeded one (repeatable)")
               .often(Often::named)
               .file(File::input),
           Entry("seed", "N", "of the inputs").type(Type::whole, kMost64).initially("1"),
           Entry("pes", "", "all, leaders (the first PE of every cube), or ids separated by commas").initially("all"),
           Entry("device", "", "all, or sip:N").initially("all"),
           Entry("ranks", "",
                 "a rank is a SIP: all, N (the first N of those that --device leaves), or their numbers from 0: "
                 "i,j,...")
               .of_run_alone()
               .initially("all"),
       }},
      {kHow,
       {
           Entry("launch", "",
                 "host: from the PCIe endpoint through io_cpu and m_cpu to the PEs and back; direct: at no cost. "
                 "Without it: host where the topology has that path, else direct")
               .legal({"host", "direct"}),
           Entry("transfer", "",
                 "instant: tensors are placed and read back at no cost; timed: the host uploads the inputs before the "
                 "launch and reads the outputs back through the fabric")
               .legal({"instant", "timed"})
               .initially("instant"),
           Entry("address", "",
                 "what kernels are given. physical: where each shard lies; virtual: pointers into one range a tensor, "
                 "through the PEs' MMUs (with --transfer timed the host maps the ranges by messages)")
               .legal({"physical", "virtual"})
               .initially("physical"),
           Entry("max-time", "NS", "end a run that is not done at this simulated time").type(Type::positive, 1e12),
           Entry("max-wall", "S", "end a run that is not done after so many seconds")
               .type(Type::positive, 1e9)
               .role(Role::ends),
       }},
      {kResults,
       {
           flag("verify", "replay the op log and compare the outputs with the kernel's reference"),
           Entry("expected", "NAME=FILE.npy",
                 "verify an output against a file, instead of the reference if there is one (repeatable)")
               .often(Often::named)
               .file(File::input),
           flag("debug-verify", "also check every op against plain loops and name the first that departs; slow"),
           flag("check-races",
                "report reads and writes that only luck orders (docs/races.md); with any, the exit status is 1"),
           Entry("corrupt", "NAME", "damage this output before it is verified: shows that a wrong result fails"),
           Entry("isa", "NAME",
                 "instruction set of the replay's arithmetic: portable, avx2, avx512; default: the best"),
           Entry("threads", "N", "of the replay; 0: all").type(Type::whole, 1024).initially("0").role(Role::works),
       }},
      {kShown,
       {
           Entry("format", "", "form of the output").legal({"text", "json"}).initially("text").role(Role::writes),
           flag(
               "explain",
               "say what bounds the run: verdict, critical path, how far from each peak; =verify: also what to change, "
               "the best of what its causes suggest, simulated (docs/insight.md)")
               .legal({"verify"})
               .role(Role::shows),
           Entry("predict", "PART=FACTOR[,...]",
                 "with --explain or --report: the run's time were these parts of the machine, as --scale names them, "
                 "all so many times as fast, by its causes (docs/insight.md; repeatable)")
               .often(Often::each)
               .role(Role::shows)
               .needs({"explain", "report"}),
           flag("report-topology",
                "with --format json: the topology's text too, so that `kernbench diff` can name what "
                "changed in it")
               .role(Role::writes),
           Entry("report", "FILE.html", "what bounds the run, as one HTML page (docs/insight.md)").writes(),
           flag("report-causes",
                "with --report: the run's causes are in the page also beyond 5 MB, so that it can time the run anew")
               .role(Role::writes)
               .needs({"report"}),
           Entry("activity", "FILE.csv", "with energy: component,action,count of all that was counted").writes(),
           Entry("wiring", "FILE.svg", "a picture of which PEs the kernel's queues join (docs/collectives.md)")
               .of_run_alone()
               .writes(),
       }},
      {kResults,
       {
           Entry("dump", "NAME=FILE.npy", "write an output (repeatable)").writes().often(Often::named),
       }},
      {kRecorded,
       {
           Entry("oplog", "FILE", "write the op log (.jsonl or .sqlite)").writes(),
           Entry("memory", "FILE",
                 "the memory file that `kernbench replay` needs beside the log; default: the log's name with .kbmem; "
                 "none: no such file")
               .writes()
               .needs({"oplog"}),
           flag("oplog-hops", "in the op log, also each memory access block by block (docs/recording.md)")
               .role(Role::writes)
               .needs({"oplog"}),
           Entry("trace", "FILE",
                 "what every engine did, for Perfetto: .pftrace is its own form, with counters, any other ending "
                 "Chrome trace events, JSON (docs/trace.md)")
               .writes(),
           Entry("trace-from", "NS", "only what lies behind this simulated time, in part too")
               .type(Type::number)
               .role(Role::writes)
               .needs({"trace"}),
           Entry("trace-to", "NS", "only what begins before this simulated time")
               .type(Type::number)
               .role(Role::writes)
               .needs({"trace"}),
           Entry("ftr", "FILE.ftr", "every transaction, hop by hop, for SCViewer and Surfer (docs/recording.md)")
               .writes(),
           Entry("ftr-from", "NS", "only transactions that end behind this simulated time")
               .type(Type::number)
               .role(Role::writes)
               .needs({"ftr"}),
           Entry("ftr-to", "NS", "only transactions that begin before this simulated time")
               .type(Type::number)
               .role(Role::writes)
               .needs({"ftr"}),
           Entry("vcd", "FILE.vcd", "a waveform, with a GTKWave save file and the names of the states beside it")
               .writes(),
           Entry("vcd-scope", "GLOB",
                 "only nodes whose id, or a level above it, matches this shell pattern (repeatable)")
               .often(Often::each)
               .role(Role::writes)
               .needs({"vcd"}),
           Entry("vcd-from", "NS", "only changes from this simulated time on")
               .type(Type::number)
               .role(Role::writes)
               .needs({"vcd"}),
           Entry("vcd-to", "NS", "only changes before this simulated time")
               .type(Type::number)
               .role(Role::writes)
               .needs({"vcd"}),
       }},
  };
  Table all{"run", {}, ""};
  for (const Group& g : groups) {
    for (Option o : g.options) {
      o.group = g.name;
      all.options.push_back(std::move(o));
    }
  }
  return all;
}

/// Beside the options of a run that they share, and what those say of themselves.
const std::vector<std::string_view> kSystem = {"topology", "links", "response", "set", "scale", "plugin"};
const std::vector<std::string_view> kWatched = {"vcd", "vcd-scope", "vcd-from", "vcd-to", "ftr", "ftr-from", "ftr-to"};

/// `command` with those of `run` by these names, then its own.
Table table_with(const Table& run, std::string_view command,
                 std::initializer_list<std::vector<std::string_view>> shared, const std::vector<Option>& own,
                 std::vector<std::string_view> formats) {
  Table t{command, {}, ""};
  for (const auto& names : shared) {
    for (const std::string_view name : names) t.options.push_back(run.at(name));
  }
  for (const Option& o : own) {
    t.options.push_back(o);
    if (o.group.empty()) t.options.back().group = kWork;
  }
  const std::string_view first = formats.front();
  t.options.push_back(Entry("format", "", "form of the output")
                          .legal(std::move(formats))
                          .initially(first)
                          .role(Role::writes)
                          .group(kShown));
  t.options.push_back(run.at("report-topology"));
  return t;
}

/// What a model is and how it is spread, then what it shares with `run`.
Table model_table(const Table& run) {
  const auto number = [](std::string_view name, std::string_view help, double most) {
    return Entry(name, "N", help).type(Type::whole, most, 1);
  };
  Table t{
      "model",
      {
          Entry("model", "FILE",
                "the model: a Hugging Face config.json, YAML with the same words (docs/models.md), or an ONNX graph, "
                "FILE.onnx (docs/onnx.md)")
              .file(File::input)
              .required(),
          Entry("phase", "PHASE",
                "prefill:N, a prompt of N tokens, decode:batch=B,context=C[,steps=S][,page=T], S tokens of each of B "
                "sequences whose C keys are in the cache, in pages of T tokens or in one piece, or "
                "mixed:prefill=N,batch=B,context=C[,page=T], both in one step; default prefill:512 (repeatable)")
              .often(Often::each),
          number("tp", "SIPs that share out every layer", 1024).initially("1"),
          number("pp", "stages of layers that follow each other, each of --tp SIPs", 1024).initially("1"),
          number("ep", "groups of --tp SIPs, to which the experts of every layer are dealt out", 1024).initially("1"),
          Entry("routing", "",
                "which experts rows go to: given (drawn evenly by --seed, or --tensor layers.L.choice=FILE.npy), or "
                "top_k, "
                "as the router computes")
              .legal({"given", "top_k"})
              .initially("given"),
          Entry("dtype", "", "of weights, cache and activations; default: the model's").legal({"f32", "f16", "bf16"}),
          Entry("weights", "",
                "of the matrices of layers and head: --dtype's, f8 (e4m3) or i8 with a scale a column, i4 with one for "
                "each 128 rows of a column")
              .legal({"f32", "f16", "bf16", "f8", "i8", "i4"}),
          Entry("kv", "", "of the cache of a decode: --dtype's, f8 (e4m3, scale 1) or i8 with a scale a head")
              .legal({"f32", "f16", "bf16", "f8", "i8"}),
          Entry("activations", "",
                "of the rows that are multiplied with weights: --dtype's, or i8 beside --weights i8, each row with a "
                "step of its own")
              .legal({"f32", "f16", "bf16", "i8"}),
          number("layers", "count so many of the model's layers; default: all", kMost64),
          flag("repeat", "simulate one layer for all, which are alike; the report says what that assumes"),
          Entry("verify-layer", "N", "one layer alone, verified").type(Type::whole, kMost64).group(kResults),
          Entry("dim", "NAME=N", "with ONNX: the size of dimensions of that name (repeatable)").often(Often::named),
          Entry("test-data", "FOLDER",
                "with ONNX: inputs and expected outputs, input_0.pb, output_0.pb, ..., as ONNX's test suite has them")
              .file(File::input),
          flag("plan",
               "with ONNX: each node, how it runs, its bytes, its time and what a roofline predicts: its products "
               "at the peak of GEMM or its bytes at that of HBM, whichever takes longer")
              .role(Role::shows)
              .group(kShown),
      },
      "model"};
  for (Option& o : t.options) o.group = o.group.empty() ? kWork : o.group;
  for (const Option& o : run.options) {
    if (!o.of_run_alone) t.options.push_back(o);
  }
  return t;
}

std::vector<Table> tables() {
  const Table run = run_table();
  const Table traffic = table_with(
      run, "traffic", {kSystem, kWatched, {"max-time", "max-wall"}},
      {
          Entry("trace", "FILE.csv",
                "requests: id,issue_ns,initiator,op,address,bytes; op read, write, post, atomic, red or cas")
              .file(File::input)
              .required(),
          Entry("statistics", "FILE.csv", "what every object counted (docs/statistics.md)").group(kShown).writes(),
          Entry("dram-commands", "FILE.csv", "every command of builtin.hbm_dram (docs/memory_models.md)")
              .group(kShown)
              .writes(),
      },
      {"csv", "json"});
  const Table pipeline = table_with(
      run, "pipeline", {kSystem, kWatched, {"max-time", "max-wall"}},
      {
          Entry("work", "FILE.json", "what each PE plays").file(File::input).required(),
          flag("accounts",
               "of every send in a program, where each segment's time went: parts that sum to the end of its slot read "
               "less the call")
              .group(kShown)
              .role(Role::shows),
      },
      {"text", "json"});
  const Table probe = table_with(
      run, "probe", {kSystem},
      {
          Entry("bytes", "", "size of each transaction (--saturate: 16384)")
              .type(Type::whole, kMost64, 1)
              .initially("32768"),
          Entry("case", "NAME", "only these (repeatable)").often(Often::each),
          flag("hops", "each case node by node, the bottleneck marked").group(kHow).role(Role::shows),
          flag("sweep", "each case at 4 KiB to 1 MiB, 90 % of the bottleneck marked").group(kHow).role(Role::shows),
          flag("saturate", "instead of cases: bandwidth and fairness of many reads at once").group(kHow),
          flag("check", "list every check, and fail where the topology is odd too").group(kResults).role(Role::shows),
          run.at("max-wall"),
      },
      {"text", "json", "csv"});
  const auto geometry = [](std::string_view name, std::string_view help, double least, double most) {
    return Entry(name, "", help).type(Type::whole, most, least);
  };
  const Table collectives = table_with(
      run, "collectives", {kSystem},
      {
          Entry("op", "", "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, sendrecv, or all")
              .initially("all_reduce"),
          Entry("over", "", "rank, cube, pe, joined by +: along which the members of a group differ")
              .initially("rank+cube+pe"),
          Entry("sizes", "", "bytes, as nccl-tests counts them: 64K, 1K:1M:x2 or 1K:8K:+1K").initially("1K:1M:x4"),
          Entry("dtype", "", "element type").initially("f32"),
          Entry("redop", "", "sum, max, min or prod").initially("sum"),
          Entry("algorithm", "",
                "auto: the one of least cost; best: the quickest of all when simulated; with --op all ops that do not "
                "have it are left out")
              .initially("auto"),
          Entry("root", "", "a member's number, centre or corner"),
          run.at("pes"),
          run.at("device"),
          run.at("ranks"),
          Entry("tier", "", "where rings lie: tcm, sram or hbm; else as the topology says").group(kHow),
          geometry("slots", "of a ring; else as the topology says", 1, QueueParameters::kMostSlots).group(kHow),
          geometry("slot-bytes", "of a slot, a multiple of 64; else as the topology says", QueueParameters::kSlotUnit,
                   QueueParameters::kMostSlotBytes)
              .group(kHow),
          geometry("part-bytes", "of a vector in TCM at once; else 1048576", 1, kMost64).group(kHow),
          geometry("chunk-bytes", "chain, tree, grid, hierarchical: of a message; else the part", 0, kMost64)
              .group(kHow),
          flag("check", "count the elements that are wrong").group(kResults).role(Role::shows),
          Entry("jobs", "", "runs at a time")
              .group(kProcesses)
              .type(Type::whole, 1024, 1)
              .initially("1")
              .role(Role::works),
          run.at("max-wall"),
      },
      {"text", "csv", "json"});
  return {run, model_table(run), traffic, pipeline, probe, collectives};
}

}  // namespace

namespace {

const std::vector<Table>& all_tables() {
  static const std::vector<Table> all = tables();
  return all;
}

}  // namespace

std::vector<std::string_view> commands_with_tables() {
  std::vector<std::string_view> names;
  for (const Table& t : all_tables()) names.push_back(t.command);
  return names;
}

const Table& table_of(std::string_view command) {
  const std::vector<Table>& all = all_tables();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Table& t) { return t.command == command; });
  if (it == all.end()) throw std::logic_error("no command with a table: " + std::string(command));
  return *it;
}

bool is_run(std::string_view command) {
  return command == "run" || command == "model";
}

const Option* Table::find(std::string_view name) const {
  const auto it = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
  return it == options.end() ? nullptr : &*it;
}

const Option& Table::at(std::string_view name) const {
  if (const Option* o = find(name)) return *o;
  throw std::logic_error(fmt::format("no option of {}: {}", command, name));
}

std::vector<const Option*> Table::deciding() const {
  std::vector<const Option*> found;
  for (const Option& o : options) {
    if (o.role == Role::decides) found.push_back(&o);
  }
  return found;
}

const std::vector<Option>& options() {
  return table_of("run").options;
}

const Option* find_option(std::string_view name) {
  return table_of("run").find(name);
}

const Option& option(std::string_view name) {
  return table_of("run").at(name);
}

size_t RunSpec::index_of(std::string_view name) const {
  return static_cast<size_t>(&table_->at(name) - table_->options.data());
}

std::string RunSpec::text(std::string_view name) const {
  const auto& values = list(name);
  return values.empty() ? std::string(table_->at(name).initial) : values.back();
}

uint64_t RunSpec::whole(std::string_view name) const {
  const std::string digits = text(name);
  uint64_t v = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw InputError(fmt::format("--{}: found {}, expected a whole number", name, in_quotes(digits)));
  return v;
}

std::optional<double> RunSpec::number(std::string_view name) const {
  const std::string digits = text(name);
  if (digits.empty()) return std::nullopt;
  double v = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw InputError(fmt::format("--{}: found {}, expected a number", name, in_quotes(digits)));
  return v;
}

std::vector<std::pair<std::string, std::string>> RunSpec::named(std::string_view name) const {
  const Option& o = table_->at(name);
  return named_values("--" + std::string(name), list(name), o.form, o.often == Often::named);
}

std::string value_fault(const Option& o, const std::string& value) {
  if (o.type == Type::flag) {
    const bool legal =
        value == "true" || value == "false" || std::find(o.legal.begin(), o.legal.end(), value) != o.legal.end();
    return legal ? "" : value + " not in {" + (o.legal.empty() ? "" : joined(o.legal, ",") + ",") + "true,false}";
  }
  const std::string missing = missing_value(value, o.file != File::none);
  if (!missing.empty() && o.type != Type::whole && o.type != Type::positive) return missing;
  if (!o.legal.empty() && std::find(o.legal.begin(), o.legal.end(), value) == o.legal.end())
    return value + " not in {" + joined(o.legal, ",") + "}";
  const auto parsed = [&](auto& number) {
    const char* end = value.data() + value.size();
    const auto r = std::from_chars(value.data(), end, number);
    return r.ec == std::errc() && r.ptr == end;
  };
  uint64_t whole = 0;
  double real = 0;
  if (o.type == Type::whole) {
    const auto least = static_cast<uint64_t>(o.least),
               most = o.most < kMost64 ? static_cast<uint64_t>(o.most) : ~uint64_t{0};
    // Decimal digits and nothing else: 010 is taken for another number elsewhere.
    if (!parsed(whole) || (value.size() > 1 && value[0] == '0') || whole < least || whole > most)
      return fmt::format("found {}, expected a whole number from {} to {}", in_quotes(value), least, most);
  }
  if (o.type == Type::positive && !(parsed(real) && real > 0 && real <= o.most)) {
    std::string most;
    append_shortest(most, o.most);
    return fmt::format("found {}, expected a number above 0, up to {}", in_quotes(value), most);
  }
  return "";
}

void RunSpec::check() const {
  for (size_t i = 0; i < values_.size(); ++i) {
    const Option& o = table_->options[i];
    const auto refuse = [&](const std::string& fault) {
      throw InputError(fmt::format("kernbench: --{}{}", o.name, fault));
    };
    if (o.required && values_[i].empty()) refuse(" is required");
    if (o.often == Often::once && values_[i].size() > 1)
      refuse(fmt::format(": At Most 1 required but received {}", values_[i].size()));
    for (const std::string& v : values_[i]) {
      if (const std::string fault = value_fault(o, v); !fault.empty()) refuse(": " + fault);
    }
  }
}

void RunSpec::check_needs() const {
  for (const Option& o : table_->options) {
    const auto has = [&](std::string_view needed) { return given(needed); };
    if (o.needs.empty() || !given(o.name) || std::any_of(o.needs.begin(), o.needs.end(), has)) continue;
    throw InputError(fmt::format("--{}: needs --{} beside it", o.name, joined(o.needs, " or --")));
  }
}

RunSpec RunSpec::of_words(const std::vector<std::string>& words, const std::string& who) {
  RunSpec run(table_of(words.at(0)));
  const std::string command = "kernbench " + words[0];
  const auto unknown = [&](const std::string& word, bool dashed) {
    if (!who.empty()) throw InputError(fmt::format("{}: found {}, no option of {}", who, in_quotes(word), words[0]));
    if (!dashed)
      throw InputError(fmt::format("{}: found {}, which belongs to no option; {} --help lists the legal ones", command,
                                   in_quotes(word), command));
    std::vector<std::string> legal;
    for (const Option& o : run.table().options) legal.push_back("--" + std::string(o.name));
    const std::string name = word.substr(0, word.find('='));
    throw InputError(fmt::format("{}: unknown option {}{} {} --help lists the legal ones", command, in_quotes(name),
                                 did_you_mean(name, legal), command));
  };
  const Option* several = nullptr;  // which takes more words
  for (size_t i = 1; i < words.size(); ++i) {
    const bool dashed = words[i].compare(0, 2, "--") == 0;
    const size_t equals = dashed ? words[i].find('=') : std::string::npos;
    if (!dashed && several && (!several->has_names() || words[i].find('=') != std::string::npos)) {
      run.add(several->name, words[i]);
      continue;
    }
    const std::string name =
        dashed ? words[i].substr(2, std::min(equals, words[i].size()) - 2) : std::string(run.table().positional);
    const Option* o = run.table().find(name);
    if (!o) unknown(words[i], dashed);
    several = dashed && (o->often == Often::each || o->often == Often::named) ? o : nullptr;
    if (!dashed) {
      run.add(name, words[i]);
      continue;
    }
    const bool flag = o->type == Type::flag, behind = !flag && equals == std::string::npos;
    if (behind && i + 1 == words.size())
      throw InputError(who.empty() ? fmt::format("kernbench: --{}: 1 required {} missing", name, o->form)
                                   : fmt::format("{}: found --{} without a value", who, name));
    const std::string value = behind ? words[++i] : equals != std::string::npos ? words[i].substr(equals + 1) : "true";
    const std::string fault = flag ? value_fault(*o, value) : missing_value(value, o->file != File::none);
    if (!fault.empty())
      throw InputError((who.empty() ? "kernbench" : who + ": found " + in_quotes(words[i])) + ": --" + name + ": " +
                       fault);
    flag ? run.set_flag(name, value) : run.add(name, value);
  }
  return run;
}

std::vector<std::string> RunSpec::words() const {
  std::vector<std::string> words = {std::string(table_->command)};
  for (const Option* o : table_->deciding()) {
    for (const std::string& v : list(o->name)) {
      words.push_back("--" + std::string(o->name));
      if (o->type != Type::flag) words.push_back(v);
    }
  }
  return words;
}

}  // namespace kernbench::spec
