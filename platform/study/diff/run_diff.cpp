// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/diff/run_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <tuple>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/platform/run/spec/sha256.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::study {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Times of one program on one machine are equal to the last digit; rounding in files is below this.
constexpr double kSameNs = 1e-6;
constexpr size_t kMostOps = 10;

using Configuration = std::map<std::string, std::string>;

std::string text_of(const OrderedJson& v) {
  return v.is_string() ? v.get<std::string>() : v.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

/// "params.n": 64 for {"params": {"n": 64}}; lists as JSON. For logs and reports without a document.
void flatten(const OrderedJson& value, const std::string& key, Configuration& into) {
  if (value.is_object()) {
    for (const auto& [name, item] : value.items()) flatten(item, key.empty() ? name : key + "." + name, into);
  } else {
    into[key] = text_of(value);
  }
}

constexpr const char* kSha = ", sha256 ";

std::string file_text(const std::string& name, const std::string& sha256) {
  return name + kSha + sha256;
}

/// Files are equal if their contents are.
bool same_value(const std::string& a, const std::string& b) {
  const size_t at_a = a.rfind(kSha), at_b = b.rfind(kSha);
  if (at_a == std::string::npos || at_b == std::string::npos) return a == b;
  return a.compare(at_a, std::string::npos, b, at_b) == 0;
}

constexpr const char* kOrder = ", in their order";

void add_option(const std::string& key, const OrderedJson& v, Configuration& into) {
  if (v.is_object() && v.contains("sha256")) {
    into[key] = file_text(json_field<std::string>(v, "file"), json_field<std::string>(v, "sha256"));
  } else if (v.is_object()) {
    for (const auto& [name, item] : v.items()) add_option(key.empty() ? name : key + "." + name, item, into);
  } else if (v.is_array()) {
    // All values of each target, in order; and the order of targets.
    std::string order;
    for (const OrderedJson& item : v) {
      const std::string word = item.is_object() ? json_field<std::string>(item, "file") : text_of(item);
      const size_t equals = item.is_object() ? std::string::npos : word.find('=');
      std::string one = key + "." + word.substr(0, equals);
      if (item.is_object()) one = key + "." + std::filesystem::path(word).filename().string();
      std::string& value = into[one];
      const std::string next = item.is_object() ? file_text(word, json_field<std::string>(item, "sha256"))
                                                : word.substr(equals == std::string::npos ? 0 : equals + 1);
      value += (value.empty() ? "" : ", then ") + next;
      order += (order.empty() ? "" : " ") + one.substr(key.size() + 1);
    }
    if (!order.empty()) into[key + kOrder] = order;
  } else if (!v.is_null()) {
    into[key] = text_of(v);
  }
}

/// Reads the document of a run (spec/run_document.h).
void read_document(const OrderedJson& run, RunFile& into) {
  into.configuration["kernbench"] = json_field<std::string>(run, "version");
  const auto command = json_field<std::string>(run, "command");  // "kernbench traffic --topology …"
  const size_t from = std::min(command.find(' '), command.size() - 1) + 1;
  into.command = command.substr(from, command.find(' ', from) - from);
  std::string given;
  json_field(run, "options", [&](const OrderedJson& options) {
    given = json_field_or<std::string>(options, "topology", "");
    for (const auto& [key, value] : options.items()) {
      if (key != "topology")
        json_field(options, key, [&, k = key](const OrderedJson& v) { add_option(k, v, into.configuration); });
    }
    return 0;
  });
  json_field(run, "topology", [&](const OrderedJson& t) {
    const auto sha256 = json_field<std::string>(t, "sha256");
    into.configuration["topology"] = file_text(json_field<std::string>(t, "name"), sha256);
    if (t.contains("energy_sha256"))
      into.configuration["topology.energy"] = file_text("its table", json_field<std::string>(t, "energy_sha256"));
    into.topology_text = json_field_or<std::string>(t, "text", "");
    if (!into.topology_text.empty()) return 0;
    try {
      std::ifstream in = open_input(given);
      const std::string text = read_all(in, given);
      if (spec::sha256(text) == sha256) into.topology_text = text;
    } catch (const InputError&) {  // the file has moved
    }
    return 0;
  });
}

/// "sip.cubes.w": "2"; list items by their id or their from and to, else by number.
void flatten_yaml(topology::YamlNode node, const std::string& path, Configuration& into) {
  if (!node.is_map() && !node.is_list()) {
    into[path] = node.is_null() ? "" : std::string(node.text());
    return;
  }
  size_t number = 0;
  for (const topology::YamlItem& item : node) {
    std::string name = node.is_map() ? std::string(item.key.text()) : std::to_string(number++);
    if (node.is_list() && item.value.is_map()) {
      Configuration keys;
      for (const topology::YamlItem& field : item.value) {
        if (field.value.is_scalar()) keys[std::string(field.key.text())] = field.value.text();
      }
      if (keys.count("id") > 0) {
        name = keys["id"];
      } else if (keys.count("from") > 0 && keys.count("to") > 0) {
        name = keys["from"] + "->" + keys["to"];
      }
    }
    flatten_yaml(item.value, path + "." + name, into);
  }
}

Configuration values_of_topology(const RunFile& run) {
  Configuration values;
  topology::FaultList faults(run.name);
  const topology::YamlDocument document = topology::parse_yaml(run.topology_text, faults);
  if (document.root.is_defined()) flatten_yaml(document.root, "topology", values);
  return values;
}

std::vector<RunDiff::Setting> different(const Configuration& a, const Configuration& b) {
  std::map<std::string, RunDiff::Setting> settings;
  for (const auto& [key, value] : a) settings[key].a = value;
  for (const auto& [key, value] : b) settings[key].b = value;
  std::vector<RunDiff::Setting> found;
  for (auto& [key, s] : settings) {
    s.key = key;
    if (a.count(key) == 0 || b.count(key) == 0 || !same_value(s.a, s.b)) found.push_back(s);
  }
  return found;
}

/// The differences by key. If both topologies' texts are known, each value is compared separately.
std::vector<RunDiff::Setting> settings_that_differ(const RunFile& a, const RunFile& b) {
  std::vector<RunDiff::Setting> found;
  for (const RunDiff::Setting& s : different(a.configuration, b.configuration)) {
    std::vector<RunDiff::Setting> values;
    if (s.key == "topology" && !a.topology_text.empty() && !b.topology_text.empty())
      values = different(values_of_topology(a), values_of_topology(b));
    if (values.empty()) values = {s};  // they differ in comments, for example
    found.insert(found.end(), values.begin(), values.end());
  }
  // Order is reported only if no other difference of that option is.
  const auto told = [&](const RunDiff::Setting& s) {
    const size_t at = s.key.rfind(kOrder);
    if (at == std::string::npos || at + std::string_view(kOrder).size() != s.key.size()) return false;
    const std::string option = s.key.substr(0, at) + ".";
    return std::any_of(found.begin(), found.end(),
                       [&](const RunDiff::Setting& other) { return other.key.compare(0, option.size(), option) == 0; });
  };
  std::vector<RunDiff::Setting> kept;
  std::copy_if(found.begin(), found.end(), std::back_inserter(kept), [&](const auto& s) { return !told(s); });
  return kept;
}

double time_of(const OrderedJson& v) {
  const auto ns = json_value<double>(v);
  if (!std::isfinite(ns) || ns < 0) throw JsonFault("found " + shown(v) + ", expected a time in ns");
  return ns;
}

/// End of the last activity in the report; 0: none has an end.
double end_of(const OrderedJson& report) {
  for (const char* key : {"whole_ns", "sim_ns", "end_ns"}) {
    if (report.contains(key)) return json_field(report, key, time_of);
  }
  double end = 0;
  if (report.contains("requests")) {
    for (const double done : json_field(report, "requests", [](const OrderedJson& requests) {
           return json_items(requests, [](const OrderedJson& r) { return json_field(r, "done_ns", time_of); });
         }))
      end = std::max(end, done);
    return end;
  }
  if (!report.contains("cases") && !report.contains("rows"))
    throw JsonFault("'sim_ns' is missing; expected a report of kernbench");
  return end;
}

/// Numbers of a table's rows, keyed by the row's name: "pe-local-hbm.actual_ns".
void add_rows(const OrderedJson& report, const char* table, std::initializer_list<const char*> names,
              Configuration& into) {
  if (!report.contains(table)) return;
  json_field(report, table, [&](const OrderedJson& rows) {
    return json_items(rows, [&](const OrderedJson& row) {
      if (!row.is_object()) throw JsonFault("found " + shown(row) + ", expected an object");
      std::string id;
      for (const char* name : names) {
        if (row.contains(name)) id += (id.empty() ? "" : " ") + text_of(row.at(name));
      }
      for (const auto& [key, value] : row.items()) {
        if (value.is_number()) into[id + "." + key] = text_of(value);
      }
      return 0;
    });
  });
}

RunFile read_log(const std::string& file) {
  RunFile run;
  run.name = file;
  try {
    const OpLogContents log = read_op_log(file);
    run.partial = !log.complete;
    run.begin(log.header);
    for (const OpRecord& r : log.records) run.add(r);
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  } catch (const JsonFault& e) {
    throw InputError(file + ": configuration: " + e.what());
  }
  return run;
}

/// Identifies an op across two runs: PE, number in program order, and a counter for equal numbers.
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
  std::vector<std::pair<double, RunDiff::OpChange>> moved;  // by increase of its time
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

void add_shares(const OrderedJson& insight, const char* list, std::map<std::string, double>& into) {
  json_field(insight, list, [&](const OrderedJson& rows) {
    return json_items(rows, [&](const OrderedJson& row) {
      into[json_field<std::string>(row, "name")] = json_field<double>(row, "share");
      return 0;
    });
  });
}

}  // namespace

void RunFile::begin(const OpLogHeader& header) {
  log = true;
  if (!header.configuration.empty()) {
    const auto c = parse_json<OrderedJson>(header.configuration);
    if (c.is_object() && c.contains("run")) {
      json_field(c, "run", [&](const OrderedJson& document) {
        read_document(document, *this);
        return 0;
      });
    } else {
      flatten(c, "", configuration);
      configuration.erase("topology_file");  // the path; its text counts, as far as it affects times
    }
  }
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
    run.sim_ns = end_of(report);
    if (report.contains("run")) {
      json_field(report, "run", [&](const OrderedJson& document) {
        read_document(document, run);
        return 0;
      });
    } else {  // from an older kernbench
      for (const char* key : {"kernel", "program", "params", "topology", "launch", "transfer", "addresses"}) {
        if (report.contains(key)) flatten(report.at(key), key, run.configuration);
      }
    }
    if (report.contains("algorithm")) flatten(report.at("algorithm"), "algorithm", run.configuration);
    if (report.contains("figures")) add_option("", report.at("figures"), run.figures);
    add_rows(report, "cases", {"case", "scenario"}, run.figures);
    add_rows(report, "rows", {"op", "size_bytes"}, run.figures);
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
        for (const char* list : {"links", "memories"}) {
          if (insight.contains(list)) add_shares(insight, list, run.shares);
        }
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

namespace {

/// A log's first line is a complete record; a report has none, however many lines it has.
bool is_log(std::istream& in) {
  std::string line;
  std::getline(in, line);
  if (line.compare(0, 6, "SQLite") == 0) return true;
  try {
    const auto first = parse_json<OrderedJson>(line);
    return first.is_object() && first.contains("op_name");
  } catch (const JsonFault&) {
    return false;
  }
}

}  // namespace

RunFile read_run_file(const std::string& file, bool partial) {
  std::ifstream in = open_input(file);
  if (!is_log(in)) {
    in.clear();
    in.seekg(0);
    return read_run_json(read_all(in, file), file);
  }
  RunFile run = read_log(file);
  if (run.partial && !partial)
    throw InputError(file +
                     ": the log is incomplete (the run has not finished, or the end is missing); --partial compares "
                     "the available part");
  return run;
}

RunDiff diff_runs(const RunFile& a, const RunFile& b) {
  if (a.log != b.log)
    throw InputError(fmt::format("diff: {} is {}, {} is {}; expected two of a kind", a.name,
                                 a.log ? "an op log" : "a report", b.name, b.log ? "an op log" : "a report"));
  if (a.command != b.command)
    throw InputError(
        fmt::format("diff: {} is of {}, {} is of {}; expected two of a kind", a.name, a.command, b.name, b.command));
  RunDiff d;
  d.a = a.name;
  d.b = b.name;
  d.a_ns = a.sim_ns;
  d.b_ns = b.sim_ns;
  d.a_partial = a.partial;
  d.b_partial = b.partial;
  d.configuration = settings_that_differ(a, b);
  d.figures = different(a.figures, b.figures);
  d.has_blame = !a.blame_ns.empty() && !b.blame_ns.empty();
  if (d.has_blame) d.blame = changes(a.blame_ns, b.blame_ns);
  d.engines = changes(a.busy_ns, b.busy_ns);
  diff_ops(a, b, d);
  return d;
}

}  // namespace kernbench::study
