#include "kernbench/platform/tools/run_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"

namespace kernbench {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Times of one program on one machine are the same to the last digit; what files round to is below this.
constexpr double kSameNs = 1e-6;
constexpr size_t kMostOps = 10;

/// "params.n": 64 of {"params": {"n": 64}}; lists as JSON.
void flatten(const OrderedJson& value, const std::string& key, std::map<std::string, std::string>& into) {
  if (value.is_object()) {
    for (const auto& [name, item] : value.items()) flatten(item, key.empty() ? name : key + "." + name, into);
  } else {
    into[key] = value.is_string() ? value.get<std::string>() : shown(value);
  }
}

double time_of(const OrderedJson& v) {
  const auto ns = json_value<double>(v);
  if (!std::isfinite(ns) || ns < 0) throw JsonFault("found " + shown(v) + ", expected a time in ns");
  return ns;
}

RunFile read_log(const std::string& file) {
  RunFile run;
  run.name = file;
  try {
    const OpLogContents log = read_op_log(file);
    run.begin(log.header);
    for (const OpRecord& r : log.records) run.add(r);
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  } catch (const JsonFault& e) {
    throw InputError(file + ": configuration: " + e.what());
  }
  return run;
}

/// What makes ops of two runs the same one: PE, number in its program order, and which of those with that number.
using OpKey = std::tuple<std::string, uint64_t, std::string, size_t>;

std::map<OpKey, const RunFile::Op*> by_key(const RunFile& run) {
  std::map<std::tuple<uint32_t, uint64_t, std::string>, size_t> met;
  std::map<OpKey, const RunFile::Op*> ops;
  for (const RunFile::Op& op : run.ops) {
    const size_t number = met[{op.pe, op.seq, op.name}]++;
    const std::string pe = op.pe < run.pes.size() ? run.pes[op.pe] : fmt::format("PE {}", op.pe);
    ops[{pe, op.seq, op.name, number}] = &op;
  }
  return ops;
}

std::vector<RunDiff::Change> changes(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  std::map<std::string, RunDiff::Change> all;
  for (const auto& [name, ns] : a) all[name].a_ns = ns;
  for (const auto& [name, ns] : b) all[name].b_ns = ns;
  std::vector<RunDiff::Change> different;
  for (auto& [name, change] : all) {
    change.name = name;
    if (std::abs(change.by()) > kSameNs) different.push_back(change);
  }
  std::stable_sort(different.begin(), different.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.by()) > std::abs(y.by()); });
  return different;
}

void diff_ops(const RunFile& a, const RunFile& b, RunDiff& d) {
  const auto of_a = by_key(a), of_b = by_key(b);
  std::set<OpKey> keys;
  for (const auto& [key, op] : of_a) keys.insert(key);
  for (const auto& [key, op] : of_b) keys.insert(key);
  d.ops = keys.size();
  double first_ns = 0;
  std::vector<std::pair<double, RunDiff::OpChange>> moved;  // by how much longer it takes
  for (const OpKey& key : keys) {
    const auto in_a = of_a.find(key), in_b = of_b.find(key);
    RunDiff::OpChange c;
    c.pe = std::get<0>(key);
    c.seq = std::get<1>(key);
    c.name = std::get<2>(key);
    if (in_a != of_a.end()) c.a_ns = {in_a->second->start_ns, in_a->second->end_ns};
    if (in_b != of_b.end()) c.b_ns = {in_b->second->start_ns, in_b->second->end_ns};
    c.line = in_a != of_a.end() ? in_a->second->line : in_b->second->line;
    const bool same = c.a_ns && c.b_ns && std::abs(c.a_ns->first - c.b_ns->first) <= kSameNs &&
                      std::abs(c.a_ns->second - c.b_ns->second) <= kSameNs;
    if (same) continue;
    ++d.ops_that_differ;
    const double start = c.a_ns ? c.a_ns->first : c.b_ns->first;
    if (!d.first || start < first_ns) {
      d.first = c;
      first_ns = start;
    }
    if (!c.a_ns || !c.b_ns) continue;
    const double by = (c.b_ns->second - c.b_ns->first) - (c.a_ns->second - c.a_ns->first);
    if (std::abs(by) > kSameNs) moved.emplace_back(by, std::move(c));
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.first) > std::abs(y.first); });
  for (size_t i = 0; i < std::min(kMostOps, moved.size()); ++i) d.longest.push_back(std::move(moved[i].second));
}

}  // namespace

void RunFile::begin(const OpLogHeader& header) {
  log = true;
  if (!header.configuration.empty()) flatten(parse_json<OrderedJson>(header.configuration), "", configuration);
  configuration.erase("topology_file");  // its text; what of it matters are times
  pes = header.pes;
}

void RunFile::add(const OpRecord& r) {
  sim_ns = std::max(sim_ns, r.t_end);
  if (r.is_token || !r.desc || r.desc->kind == OpKind::unknown) return;
  const OpDesc& d = *r.desc;
  const std::string line = d.where.line > 0 ? fmt::format("{}:{}", d.where.file, d.where.line) : "";
  ops.push_back({d.pe, d.seq, log_name_of(r), line, r.t_start, r.t_end});
}

RunFile read_run_json(const std::string& text, const std::string& name) {
  RunFile run;
  run.name = name;
  try {
    const OrderedJson report = parse_json_document<OrderedJson>(text);
    run.sim_ns = json_field(report, "sim_ns", time_of);
    for (const char* key :
         {"kernel", "program", "params", "topology", "launch", "transfer", "addresses", "algorithm"}) {
      if (report.contains(key)) flatten(report.at(key), key, run.configuration);
    }
    if (report.contains("engines")) {
      json_field(report, "engines", [&](const OrderedJson& engines) {
        return json_items(engines, [&](const OrderedJson& e) {
          run.busy_ns[json_field<std::string>(e, "id")] = json_field(e, "busy_ns", time_of);
          return 0;
        });
      });
    }
    if (report.contains("insight")) {
      json_field(report, "insight", [&](const OrderedJson& insight) {
        return json_field(insight, "blame_ns", [&](const OrderedJson& blame) {
          if (!blame.is_object()) throw JsonFault("found " + shown(blame) + ", expected an object");
          for (const auto& [resource, ns] : blame.items())
            run.blame_ns[resource] = json_field(blame, resource, time_of);
          return 0;
        });
      });
    }
  } catch (const JsonFault& e) {
    throw InputError(fmt::format("{}: {}", name, e.what()));
  }
  return run;
}

RunFile read_run_file(const std::string& file) {
  std::ifstream in = open_input(file);
  std::string first(16, '\0');
  in.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<size_t>(in.gcount()));
  // A log's first line is its header, in one line; a report is indented.
  const bool database = first.compare(0, 6, "SQLite") == 0;
  const bool line = first.size() > 1 && first[0] == '{' && first[1] != '\n' && first[1] != ' ';
  if (database || line) return read_log(file);
  in.clear();
  in.seekg(0);
  return read_run_json(read_all(in, file), file);
}

RunDiff diff_runs(const RunFile& a, const RunFile& b) {
  if (a.log != b.log)
    throw InputError(fmt::format("diff: {} is {}, {} is {}; expected two of a kind", a.name,
                                 a.log ? "an op log" : "a report", b.name, b.log ? "an op log" : "a report"));
  RunDiff d;
  d.a = a.name;
  d.b = b.name;
  d.a_ns = a.sim_ns;
  d.b_ns = b.sim_ns;
  std::map<std::string, RunDiff::Setting> settings;
  for (const auto& [key, value] : a.configuration) settings[key].a = value;
  for (const auto& [key, value] : b.configuration) settings[key].b = value;
  for (auto& [key, s] : settings) {
    s.key = key;
    if (s.a != s.b) d.configuration.push_back(s);
  }
  d.has_blame = !a.blame_ns.empty() && !b.blame_ns.empty();
  if (d.has_blame) d.blame = changes(a.blame_ns, b.blame_ns);
  d.engines = changes(a.busy_ns, b.busy_ns);
  diff_ops(a, b, d);
  return d;
}

}  // namespace kernbench
