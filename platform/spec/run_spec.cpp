#include "kernbench/platform/spec/run_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/text.h"

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
  Entry legal(std::vector<std::string_view> v) const {
    return with([&](Option& o) { o.legal = std::move(v); });
  }
  Entry type(Type t, double most = 0) const {
    return with([&](Option& o) {
      o.type = t;
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

constexpr double kMost64 = 18446744073709551615.0;

std::vector<Option> table() {
  struct Group {
    std::string_view name;
    std::vector<Option> options;
  };
  const std::vector<Group> groups = {
      {"The system",
       {
           Entry("topology", "FILE.yaml",
                 "the system, a YAML file; a name alone is also looked for among those of `kernbench list topologies`")
               .file(File::topology)
               .required(),
           Entry("links", "NAME", "overrides timing.links: a name of `kernbench list links`, or a plug-in's"),
           Entry("response", "", "overrides timing.response").legal({"ideal", "routed"}),
           Entry("set", "TARGET=VALUE",
                 "a value over the file's: 'NODE-GLOB.ATTR=VALUE', 'edge:GLOB.bw_gbs=VALUE', GLOB of an edge's kind or "
                 "of FROM->TO (repeatable)")
               .often(Often::targets),
           Entry("scale", "PART=FACTOR",
                 "makes a part of the machine, such as hbm, mesh or gemm, FACTOR times as fast (docs/insight.md; "
                 "repeatable)")
               .often(Often::targets),
           Entry("plugin", "LIB.so", "shared object with kernels or components (repeatable)")
               .often(Often::each)
               .file(File::input),
           Entry("energy", "FILE.yaml",
                 "what the run takes in joules, by the constants of a table such as n7.yaml, also over the topology's "
                 "own energy section (docs/energy.md)")
               .file(File::energy),
       }},
      {"The work",
       {
           Entry("kernel", "NAME", "see `kernbench list kernels`"),
           Entry("program", "NAME",
                 "instead of a kernel: host code that launches several, see `kernbench list programs`"),
           Entry("ttir", "FILE.ttir",
                 "instead of a kernel: a Triton kernel, from the IR in Triton's cache (docs/triton.md); then --tensor "
                 "takes "
                 "ARG=FILE.npy or ARG=uniform|zeros|arange:DTYPE[N,...] for every pointer, --param ARG=VALUE for every "
                 "number")
               .file(File::input),
           Entry("function", "NAME", "with --ttir: which of the file's"),
           Entry("grid", "X[,Y[,Z]]", "with --ttir: its programs"),
           Entry("order", "",
                 "with --ttir: programs go to PEs in turn (round_robin, the default), or in blocks of neighbours")
               .legal({"round_robin", "blocks"}),
           Entry("interleave", "BYTES", "with --ttir: of a block of tensors that lie so; default 4096")
               .type(Type::whole, kMost64),
           Entry("place", "ARG=interleave|rows|replicate",
                 "with --ttir: where a pointer's tensor lies over the PEs (repeatable)")
               .often(Often::named),
           Entry("param", "NAME=VALUE", "a parameter of the kernel or program (repeatable)").often(Often::named),
           Entry("tensor", "NAME=FILE.npy", "an input from a file instead of a seeded one (repeatable)")
               .often(Often::named)
               .file(File::input),
           Entry("seed", "N", "of the inputs").type(Type::whole, kMost64).initially("1"),
           Entry("pes", "", "all, leaders (the first PE of every cube), or ids separated by commas").initially("all"),
           Entry("device", "", "all, or sip:N").initially("all"),
           Entry("ranks", "",
                 "a rank is a SIP: all, N (the first N of those that --device leaves), or their numbers from 0: "
                 "i,j,...")
               .initially("all"),
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
      {"Verification",
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
      {"Reports",
       {
           Entry("format", "", "form of the output").legal({"text", "json"}).initially("text").role(Role::writes),
           flag("explain", "say what bounds the run: verdict, critical path, how far from each peak (docs/insight.md)")
               .role(Role::shows),
           flag("report-topology",
                "with --format json: the topology's text too, so that `kernbench diff` can name what "
                "changed in it")
               .role(Role::writes),
           Entry("report", "FILE.html", "what bounds the run, as one HTML page (docs/insight.md)").writes(),
           Entry("activity", "FILE.csv", "with energy: component,action,count of all that was counted").writes(),
           Entry("wiring", "FILE.svg", "a picture of which PEs the kernel's queues join (docs/collectives.md)")
               .writes(),
           Entry("dump", "NAME=FILE.npy", "write an output (repeatable)").writes().often(Often::named),
       }},
      {"Logs and traces",
       {
           Entry("oplog", "FILE", "write the op log (.jsonl or .sqlite)").writes(),
           Entry("memory", "FILE",
                 "the memory file that `kernbench replay` needs beside the log; default: the log's name with .kbmem; "
                 "none: no such file")
               .writes(),
           flag("oplog-hops", "in the op log, also each memory access block by block (docs/recording.md)")
               .role(Role::writes),
           Entry("trace", "FILE",
                 "what every engine did, for Perfetto: .pftrace is its own form, with counters, any other ending "
                 "Chrome trace events, JSON (docs/trace.md)")
               .writes(),
           Entry("ftr", "FILE.ftr", "every transaction, hop by hop, for SCViewer and Surfer (docs/recording.md)")
               .writes(),
           Entry("vcd", "FILE.vcd", "a waveform, with a GTKWave save file and the names of the states beside it")
               .writes(),
           Entry("vcd-scope", "GLOB",
                 "only nodes whose id, or a level above it, matches this shell pattern (repeatable)")
               .often(Often::each)
               .role(Role::writes),
           Entry("vcd-from", "NS", "only changes from this simulated time on").type(Type::number).role(Role::writes),
           Entry("vcd-to", "NS", "only changes before this simulated time").type(Type::number).role(Role::writes),
       }},
  };
  std::vector<Option> all;
  for (const Group& g : groups) {
    for (Option o : g.options) {
      o.group = g.name;
      all.push_back(std::move(o));
    }
  }
  return all;
}

}  // namespace

const std::vector<Option>& options() {
  static const std::vector<Option> all = table();
  return all;
}

const Option* find_option(std::string_view name) {
  const auto& all = options();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Option& o) { return o.name == name; });
  return it == all.end() ? nullptr : &*it;
}

const Option& option(std::string_view name) {
  if (const Option* o = find_option(name)) return *o;
  throw std::logic_error("no option of a run: " + std::string(name));
}

std::vector<const Option*> deciding_options() {
  std::vector<const Option*> deciding;
  for (const Option& o : options()) {
    if (o.role == Role::decides) deciding.push_back(&o);
  }
  return deciding;
}

size_t RunSpec::index_of(std::string_view name) {
  return static_cast<size_t>(&option(name) - options().data());
}

std::string RunSpec::text(std::string_view name) const {
  const auto& values = list(name);
  return values.empty() ? std::string(option(name).initial) : values.back();
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
  const Option& o = option(name);
  return named_values("--" + std::string(name), list(name), o.form, o.often == Often::named);
}

RunSpec RunSpec::of_words(const std::vector<std::string>& words, const std::string& who) {
  RunSpec run;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name =
        words[i].compare(0, 2, "--") == 0 ? words[i].substr(2, std::min(equals, words[i].size()) - 2) : "";
    const Option* o = find_option(name);
    if (!o) throw InputError(fmt::format("{}: found {}, no option of a run", who, in_quotes(words[i])));
    if (o->type == Type::flag) {
      run.set(name, "true");
    } else if (equals != std::string::npos) {
      run.add(name, words[i].substr(equals + 1));
    } else if (++i < words.size()) {
      run.add(name, words[i]);
    } else {
      throw InputError(fmt::format("{}: found --{} without a value", who, name));
    }
  }
  return run;
}

std::vector<std::string> RunSpec::words() const {
  std::vector<std::string> words = {"run"};
  for (const Option* o : deciding_options()) {
    for (const std::string& v : list(o->name)) {
      words.push_back("--" + std::string(o->name));
      if (o->type != Type::flag) words.push_back(v);
    }
  }
  return words;
}

}  // namespace kernbench::spec
