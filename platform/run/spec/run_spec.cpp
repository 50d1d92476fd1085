// SPDX-License-Identifier: Apache-2.0
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

/// Builds an entry of the table by chained calls.
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
  Entry beside_requests() const {
    return with([&](Option& o) { o.beside_requests = true; });
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
  Entry alias(std::string_view old) const {
    return with([&](Option& o) { o.alias = old; });
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
  Entry beside(Option::Beside b) const {
    return with([&](Option& o) { o.beside = b; });
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

// Group titles in --help.
constexpr std::string_view kWork = "Work", kMachine = "Machine", kHow = "Execution", kResults = "Results and checks",
                           kShown = "Output", kRecorded = "Recordings", kProcesses = "Processes and shards",
                           kService = "Serving requests";

constexpr double kMost64 = 18446744073709551615.0;

Table run_table() {
  struct Group {
    std::string_view name;
    std::vector<Option> options;
  };
  const std::vector<Group> groups = {
      {kMachine,
       {
           Entry("topology", "FILE.yaml", "the system: a YAML file, or a name from `kernbench list topologies`")
               .beside_requests()
               .file(File::topology)
               .required(),
           Entry("links", "NAME",
                 "link mode instead of timing.links: a name from `kernbench list links`, or a plug-in's")
               .beside_requests(),
           Entry("response", "", "response mode instead of timing.response")
               .legal({"ideal", "routed"})
               .beside_requests(),
           Entry("materialize", "",
                 "compute results during the simulation for readers outside of it: at a job's end (outputs) or at "
                 "each store (stores); times do not change (docs/tlm.md)")
               .legal({"none", "outputs", "stores"})
               .role(Role::works),
           Entry("set", "TARGET=VALUE",
                 "replace a value of the topology file. TARGET: 'NODE-GLOB.ATTR'; 'edge:GLOB.bw_gbs', where GLOB "
                 "matches an edge's kind or FROM->TO; 'file:KEY.KEY' for keys that shape the graph (repeatable)")
               .beside_requests()
               .often(Often::targets),
           Entry("scale", "PART=FACTOR",
                 "make a part of the machine, such as hbm, mesh or gemm, FACTOR times as fast (docs/insight.md; "
                 "repeatable)")
               .beside_requests()
               .often(Often::targets),
           Entry("plugin", "LIB.so", "shared object with kernels or components (repeatable)")
               .beside_requests()
               .often(Often::each)
               .file(File::input),
       }},
      {kShown,
       {
           Entry("energy", "FILE.yaml",
                 "energy table, such as n7.yaml, for the energy of the run in joules; it replaces the topology's own "
                 "energy section (docs/energy.md)")
               .file(File::energy),
       }},
      {kWork,
       {
           Entry("kernel", "NAME", "the kernel: a name from `kernbench list kernels`").of_run_alone(),
           Entry("program", "NAME",
                 "instead of a kernel: host code that launches several kernels, a name from `kernbench list programs`")
               .of_run_alone(),
           Entry("ttir", "FILE.ttir",
                 "instead of a kernel: a Triton kernel, as IR from Triton's cache (docs/triton.md). Each pointer needs "
                 "--tensor ARG=FILE.npy or ARG=uniform|zeros|arange:DTYPE[N,...]; each number needs --param ARG=VALUE")
               .of_run_alone()
               .file(File::input),
           Entry("function", "NAME", "with --ttir: name of the function in the file").of_run_alone().needs({"ttir"}),
           Entry("grid", "X[,Y[,Z]]", "with --ttir: grid of program instances").of_run_alone().needs({"ttir"}),
           Entry("order", "",
                 "with --ttir: assignment of program instances to PEs: round_robin (default), or blocks of consecutive "
                 "instances")
               .of_run_alone()
               .legal({"round_robin", "blocks"})
               .needs({"ttir"}),
           Entry("chains", "",
                 "with --ttir: fusion of consecutive elementwise operations whose results have no other reader: joined "
                 "(default), one MATH command for all; single, one MATH command for each")
               .of_run_alone()
               .legal({"joined", "single"})
               .needs({"ttir"}),
           Entry("interleave", "BYTES", "with --ttir: block size of interleaved tensors; default 4096")
               .of_run_alone()
               .type(Type::whole, kMost64)
               .needs({"ttir"}),
           Entry("place", "ARG=interleave|cube|rows|replicate",
                 "with --ttir: placement of a pointer's tensor over the PEs (repeatable)")
               .of_run_alone()
               .often(Often::named)
               .needs({"ttir"}),
           Entry("param", "NAME=VALUE", "a parameter of the kernel or program (repeatable)")
               .of_run_alone()
               .often(Often::named),
           Entry("tensor", "NAME=FILE.npy", "read an input from a file instead of drawing it by --seed (repeatable)")
               .often(Often::named)
               .file(File::input),
           Entry("seed", "N", "seed of the random inputs").beside_requests().type(Type::whole, kMost64).initially("1"),
           Entry("pes", "", "PEs: all, leaders (the first PE of each cube), or ids separated by commas")
               .beside_requests()
               .initially("all"),
           Entry("device", "", "SIPs: all, or sip:N").beside_requests().initially("all"),
           Entry("ranks", "", "ranks, one a SIP: all, N (the first N SIPs of --device), or SIP numbers from 0: i,j,...")
               .beside_requests()
               .of_run_alone()
               .initially("all"),
       }},
      {kHow,
       {
           Entry("launch", "",
                 "launch path. host: PCIe endpoint, io_cpu, m_cpu, PEs, and back; direct: no cost. Default: host if "
                 "the topology has that path, else direct")
               .beside_requests()
               .legal({"host", "direct"}),
           Entry("transfer", "",
                 "tensor transfers. instant: no cost; timed: the host uploads the inputs before the launch and reads "
                 "the outputs back through the fabric")
               .legal({"instant", "timed"})
               .initially("instant"),
           Entry("address", "",
                 "addresses that kernels get. physical: one range for each shard; virtual: one range for each tensor, "
                 "translated by the PEs' MMUs (with --transfer timed, the host maps the ranges by messages)")
               .legal({"physical", "virtual"})
               .initially("physical"),
           Entry("max-time", "NS", "limit of simulated time: stop a run that has not finished by then")
               .type(Type::positive, 1e12),
           Entry("max-wall", "S", "limit of wall-clock time: stop a run that has not finished by then")
               .beside_requests()
               .type(Type::positive, 1e9)
               .role(Role::ends),
       }},
      {kResults,
       {
           flag("verify", "replay the op log and compare the outputs with the kernel's reference"),
           Entry("expected", "NAME=FILE.npy", "verify an output against a file instead of the reference (repeatable)")
               .often(Often::named)
               .file(File::input),
           flag("debug-verify", "also check each op against plain loops and name the first that differs; slow"),
           flag("check-races",
                "report races: reads and writes without a defined order (docs/races.md). The exit status is 1 if there "
                "are any"),
           Entry("corrupt", "NAME", "damage this output before verification, to show that a wrong result fails"),
           Entry("isa", "NAME", "instruction set of the replay: portable, avx2, avx512; default: the best"),
           Entry("threads", "N", "threads of the replay; 0: all processors")
               .type(Type::whole, 1024)
               .initially("0")
               .role(Role::works),
       }},
      {kShown,
       {
           Entry("format", "", "output format")
               .beside_requests()
               .legal({"text", "json"})
               .initially("text")
               .role(Role::writes),
           flag("explain",
                "report what bounds the run: verdict, critical path, utilization of each peak. =verify: also simulate "
                "the most promising remedies, in at most 60 runs; =all: every single change (docs/insight.md)")
               .legal({"verify", "all"})
               .role(Role::shows),
           Entry("predict", "PART=FACTOR[,...]",
                 "with --explain or --report: predict, without simulating again, the run time if the listed parts "
                 "(names as in --scale) were FACTOR times as fast (docs/insight.md; repeatable)")
               .often(Often::each)
               .role(Role::shows)
               .needs({"explain", "report"}),
           flag("report-topology",
                "with --format json: include the topology's text, so that `kernbench diff` can name its changes")
               .beside_requests()
               .role(Role::writes),
           Entry("report", "FILE.html", "HTML page that shows what bounds the run (docs/insight.md)")
               .beside_requests()
               .writes(),
           flag(
               "report-events",
               "with --report: embed the causal graph also if it exceeds 5 MiB, so that the page can predict run times")
               .alias("report-causes")
               .role(Role::writes)
               .needs({"report"}),
           Entry("activity", "FILE.csv", "with energy: counts of all activity, as component,action,count").writes(),
           Entry("wiring", "FILE.svg", "diagram of the PEs that the kernel's queues connect (docs/collectives.md)")
               .of_run_alone()
               .writes(),
       }},
      {kResults,
       {
           Entry("dump", "NAME=FILE.npy", "write an output to a file (repeatable)").writes().often(Often::named),
       }},
      {kRecorded,
       {
           Entry("oplog", "FILE", "op log (.jsonl or .sqlite)").writes().beside(Option::Beside::database),
           Entry("memory", "FILE",
                 "memory file that `kernbench replay` needs beside the op log; default: the log's name with .kbmem; "
                 "none: no such file")
               .writes()
               .needs({"oplog"}),
           flag("oplog-hops", "record each memory access hop by hop in the op log (docs/recording.md)")
               .role(Role::writes)
               .needs({"oplog"}),
           Entry("trace", "FILE",
                 "trace of all engines for Perfetto: .pftrace is Perfetto's format, with counters; other endings are "
                 "Chrome trace events in JSON (docs/trace.md)")
               .writes(),
           Entry("trace-from", "NS", "start of the traced window, in simulated time")
               .type(Type::number)
               .role(Role::writes)
               .needs({"trace"}),
           Entry("trace-to", "NS", "end of the traced window, in simulated time")
               .type(Type::number)
               .role(Role::writes)
               .needs({"trace"}),
           Entry("ftr", "FILE.ftr",
                 "recording of each transaction, hop by hop, for SCViewer and Surfer (docs/recording.md)")
               .writes(),
           Entry("ftr-from", "NS", "record only transactions that end after this simulated time")
               .type(Type::number)
               .role(Role::writes)
               .needs({"ftr"}),
           Entry("ftr-to", "NS", "record only transactions that begin before this simulated time")
               .type(Type::number)
               .role(Role::writes)
               .needs({"ftr"}),
           Entry("vcd", "FILE.vcd", "waveform, with a GTKWave save file and a file of state names beside it")
               .writes()
               .beside(Option::Beside::waveform_views),
           Entry("vcd-scope", "GLOB",
                 "only nodes whose id, or a level above it, matches this shell pattern (repeatable)")
               .often(Often::each)
               .role(Role::writes)
               .needs({"vcd"}),
           Entry("vcd-from", "NS", "record only changes from this simulated time on")
               .type(Type::number)
               .role(Role::writes)
               .needs({"vcd"}),
           Entry("vcd-to", "NS", "record only changes before this simulated time")
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

/// Texts of options shared with a run that differ from the run's.
const std::vector<std::string_view> kSystem = {"topology", "links", "response", "materialize",
                                               "set",      "scale", "plugin"};
const std::vector<std::string_view> kWatched = {"vcd", "vcd-scope", "vcd-from", "vcd-to", "ftr", "ftr-from", "ftr-to"};

/// The table of `command`: these options of `run`, then its own.
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
  t.options.push_back(
      Entry("format", "", "output format").legal(std::move(formats)).initially(first).role(Role::writes).group(kShown));
  t.options.push_back(run.at("report-topology"));
  return t;
}

/// The model and its parallelism, then the options shared with `run`.
Table model_table(const Table& run) {
  const auto number = [](std::string_view name, std::string_view help, double most) {
    return Entry(name, "N", help).type(Type::whole, most, 1);
  };
  Table t{
      "model",
      {
          Entry("model", "FILE",
                "the model: a Hugging Face config.json, YAML with the same fields (docs/models.md), or an ONNX graph, "
                "FILE.onnx (docs/onnx.md)")
              .beside_requests()
              .file(File::input)
              .beside(Option::Beside::external_data)
              .required(),
          Entry("phase", "PHASE",
                "prefill:N, a prompt of N tokens; decode:batch=B,context=C[,steps=S][,page=T], S tokens for each of B "
                "sequences with C keys in the cache, in pages of T tokens or contiguous; "
                "mixed:prefill=N,batch=B,context=C[,page=T], both in one step. Default: prefill:512 (repeatable)")
              .often(Often::each),
          number("tp", "tensor-parallel degree: number of SIPs that each layer is split over", 1024)
              .beside_requests()
              .initially("1"),
          number("pp", "pipeline-parallel degree: number of stages of consecutive layers, each on --tp SIPs", 1024)
              .initially("1"),
          number("ep",
                 "expert-parallel degree: number of groups of --tp SIPs that the experts of each layer are distributed "
                 "over",
                 1024)
              .beside_requests()
              .initially("1"),
          Entry("expert-order", "E,E,...",
                "with --ep: numbers of the experts, group by group: which group has which; default: 0,1,2,...")
              .beside_requests(),
          Entry("routing", "",
                "expert routing: given (balanced, drawn by --seed, or from --tensor layers.L.choice=FILE.npy), or "
                "top_k of the computed router scores")
              .legal({"given", "top_k"})
              .initially("given"),
          Entry("dtype", "", "type of weights, cache and activations; default: the model's")
              .beside_requests()
              .legal({"f32", "f16", "bf16"}),
          Entry("weights", "",
                "weight type of layers and head: as --dtype; f8 (e4m3) or i8 with one scale a column; i4 with one "
                "scale for each 128 rows of a column")
              .beside_requests()
              .legal({"f32", "f16", "bf16", "f8", "i8", "i4"}),
          Entry("kv", "", "KV cache type of a decode: as --dtype; f8 (e4m3, scale 1); i8 with one scale a head")
              .beside_requests()
              .legal({"f32", "f16", "bf16", "f8", "i8"}),
          Entry("activations", "",
                "type of the activations that weights multiply: as --dtype; or, with --weights i8, i8 with one scale a "
                "row")
              .beside_requests()
              .legal({"f32", "f16", "bf16", "i8"}),
          number("layers", "number of the model's layers to simulate; default: all", kMost64),
          flag("repeat", "simulate one layer for all identical layers; the report states the assumptions"),
          Entry("verify-layer", "N", "simulate and verify only this layer").type(Type::whole, kMost64).group(kResults),
          Entry("dim", "NAME=N", "with ONNX: size of the dimensions of that name (repeatable)").often(Often::named),
          Entry("test-data", "FOLDER",
                "with ONNX: folder with inputs and expected outputs, input_0.pb, output_0.pb, ..., as in ONNX's test "
                "suite")
              .file(File::input),
          flag("plan",
               "with ONNX: show each node with its implementation, bytes, time and roofline prediction (the longer of "
               "its products at peak GEMM rate and its bytes at peak HBM bandwidth)")
              .role(Role::shows)
              .group(kShown),
      },
      "model"};
  const std::vector<Option> service = {
      Entry("requests", "FILE",
            "serve the requests of a trace, with continuous batching, instead of phases (docs/service.md): Azure 2023 "
            "CSV, or JSON lines of Mooncake or LLMServingSim")
          .file(File::input),
      Entry("synthetic", "WORDS",
            "serve drawn requests instead: poisson:rate=R,count=N,prompt=LENGTH,output=LENGTH, constant:... or "
            "gamma:...,cv=V. LENGTH: N, uniform/A/B, exponential/MEAN or lognormal/MEAN/CV"),
      number("token-budget", "tokens of a step, of chunks and sequences together", 1048576)
          .initially("2048")
          .needs({"requests", "synthetic"}),
      number("max-batch", "requests that run at a time", 65536).initially("256").needs({"requests", "synthetic"}),
      number("kv-block", "tokens of a block of the KV cache", 65536).initially("16").needs({"requests", "synthetic"}),
      number("kv-blocks", "blocks of the KV cache; default: as many as fit into the machine's memory", kMost64)
          .needs({"requests", "synthetic"}),
      flag("prefix-reuse", "keep the keys of prompt parts with a hash for later requests")
          .needs({"requests", "synthetic"}),
      Entry("slo", "LIMITS", "latency limits for the goodput, in ms: ttft=MS,tpot=MS,e2e=MS, one or more")
          .needs({"requests", "synthetic"})
          .role(Role::shows),
      Entry("usd-hour", "USD", "cost of the machine an hour, for the cost of a million tokens")
          .type(Type::positive, 1e9)
          .needs({"requests", "synthetic"})
          .role(Role::shows),
      Entry("exact-steps", "N", "steps to simulate exactly, to measure the error of priced ones")
          .type(Type::whole, 65536)
          .initially("8")
          .needs({"requests", "synthetic"})
          .role(Role::shows),
      Entry("jobs", "N", "concurrent simulations of phases; 0: one for each processor")
          .type(Type::whole, 1024)
          .initially("1")
          .needs({"requests", "synthetic"})
          .role(Role::works),
      Entry("requests-csv", "FILE.csv", "times of each request").needs({"requests", "synthetic"}).writes(),
      Entry("steps-csv", "FILE.csv", "times and contents of each step").needs({"requests", "synthetic"}).writes(),
  };
  for (Option o : service) {
    o.group = kService;
    o.beside_requests = true;
    t.options.push_back(std::move(o));
  }
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
                "requests as id,issue_ns,initiator,op,address,bytes; op is read, write, post, atomic, red, cas, "
                "multicast, red_add, red_max or red_min (docs/multicast.md)")
              .file(File::input)
              .required(),
          Entry("statistics", "FILE.csv", "counters of each object (docs/statistics.md)").group(kShown).writes(),
          Entry("dram-commands", "FILE.csv", "each command of builtin.hbm_dram (docs/memory_models.md)")
              .group(kShown)
              .writes(),
      },
      {"csv", "json"});
  const Table pipeline =
      table_with(run, "pipeline", {kSystem, kWatched, {"max-time", "max-wall"}},
                 {
                     Entry("work", "FILE.json", "commands and programs of each PE").file(File::input).required(),
                     flag("breakdown",
                          "latency breakdown of each segment sent by a program; its parts sum to the time from the "
                          "call until its slot was read")
                         .alias("accounts")
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
          Entry("case", "NAME", "only this case (repeatable)").often(Often::each),
          flag("hops", "show each case hop by hop, with its bottleneck marked").group(kHow).role(Role::shows),
          flag("sweep", "show each case from 4 KiB to 1 MiB; mark where 90 % of the bottleneck bandwidth is reached")
              .group(kHow)
              .role(Role::shows),
          flag("saturate", "instead of cases: bandwidth and fairness of many concurrent reads").group(kHow),
          flag("check", "list each check; fail also if the topology is implausible").group(kResults).role(Role::shows),
          run.at("max-wall"),
      },
      {"text", "json", "csv"});
  const auto geometry = [](std::string_view name, std::string_view help, double least, double most) {
    return Entry(name, "", help).type(Type::whole, most, least);
  };
  const Table collectives = table_with(
      run, "collectives", {kSystem},
      {
          Entry("op", "",
                "collective: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, sendrecv, or all")
              .initially("all_reduce"),
          Entry("over", "", "dimensions of a group: rank, cube, pe, joined by +").initially("rank+cube+pe"),
          Entry("sizes", "", "message sizes in bytes, as nccl-tests defines them: 64K, 1K:1M:x2 or 1K:8K:+1K")
              .initially("1K:1M:x4"),
          Entry("dtype", "", "element type").initially("f32"),
          Entry("redop", "", "reduction: sum, max, min or prod").initially("sum"),
          Entry("algorithm", "",
                "algorithm by name; auto: the lowest estimated cost; best: the fastest of all in simulation. --op all "
                "omits collectives without the algorithm")
              .initially("auto"),
          Entry("root", "", "root: a member's number, centre or corner"),
          run.at("pes"),
          run.at("device"),
          run.at("ranks"),
          Entry("tier", "", "memory of the ring buffers: tcm, sram or hbm; default: the topology's").group(kHow),
          geometry("slots", "slots of each ring buffer; default: the topology's", 1, QueueParameters::kMostSlots)
              .group(kHow),
          geometry("slot-bytes", "size of a slot, a multiple of 64; default: the topology's",
                   QueueParameters::kSlotUnit, QueueParameters::kMostSlotBytes)
              .group(kHow),
          geometry("part-bytes", "part of a vector that is in TCM at one time; default: 1048576", 1, kMost64)
              .group(kHow),
          geometry("chunk-bytes", "message size of chain, tree, grid and hierarchical; default: one part", 0, kMost64)
              .group(kHow),
          flag("check", "count wrong elements").group(kResults).role(Role::shows),
          Entry("jobs", "", "concurrent runs")
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
  const auto it = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.is_named(name); });
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
    // Decimal digits without leading zeros: elsewhere 010 may be octal.
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

bool RunSpec::has_needs_of(const Option& o) const {
  const auto has = [&](std::string_view needed) { return given(needed); };
  return o.needs.empty() || std::any_of(o.needs.begin(), o.needs.end(), has);
}

void RunSpec::check_needs() const {
  for (const Option& o : table_->options) {
    if (!given(o.name) || has_needs_of(o)) continue;
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
  const Option* several = nullptr;  // an option that takes several words
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
