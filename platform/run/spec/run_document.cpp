// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/spec/run_document.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/platform/run/spec/sha256.h"
#include "kernbench/platform/run/spec/shell_words.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::spec {
namespace {

using Json = nlohmann::ordered_json;
using Often = Option::Often;
using Type = Option::Type;

/// The JSON of an option's text: its value, or a file with its checksum.
void describe_value(Fields& f, std::string_view key, const RunDocument& d, const Option& o, const std::string& text) {
  const auto checksum = d.files.find(text);
  if (checksum != d.files.end() && o.file != Option::File::none) {
    f(key, [&] { f("file", text)("sha256", checksum->second); });
  } else {
    f(key, o.type == Type::text && !o.has_names() ? ParameterValue(text) : parameter_of(text));
  }
}

void describe_option(Fields& f, const RunDocument& d, const Option& o) {
  const std::string key = key_of(o);
  const auto& values = d.options.list(o.name);
  if (o.type == Type::flag) {
    f(key, !values.empty());
  } else if (o.often == Often::named) {
    f(key, [&] {
      for (const auto& [name, value] : d.options.named(o.name)) describe_value(f, name, d, o, value);
    });
  } else if (o.often != Often::once) {
    f.list(key, values, [&](const std::string& v) { describe_value(f, {}, d, o, v); });
  } else if (const std::string text = d.options.has_needs_of(o) ? d.options.text(o.name) : ""; text.empty()) {
    f(key, std::nullopt);
  } else {
    describe_value(f, key, d, o, text);
  }
}

/// A value as a word of the command line.
std::string word_of(const Json& v) {
  if (v.is_object()) return json_field<std::string>(v, "file");
  return v.is_string() ? v.get<std::string>() : json_text(v);
}

/// Parses "kernbench run --topology …".
const Table& table_of_command(const Json& v) {
  const auto text = json_value<std::string>(v);
  constexpr std::string_view kName = "kernbench ";
  const std::string command = text.compare(0, kName.size(), kName) == 0
                                  ? text.substr(kName.size(), text.find(' ', kName.size()) - kName.size())
                                  : "";
  if (is_run(command)) return table_of(command);
  throw JsonFault("found " + shown(v) + ", expected one of kernbench run or model");
}

void read_option(const Option& o, const Json& v, RunSpec& into) {
  if (o.type == Type::flag) {
    if (json_value<bool>(v)) into.set(o.name, "true");
  } else if (o.often == Often::named) {
    if (!v.is_object()) throw JsonFault("found " + shown(v) + ", expected an object");
    for (const auto& [name, value] : v.items()) into.add(o.name, name + "=" + word_of(value));
  } else if (o.often != Often::once) {
    for (const std::string& word : json_items(v, word_of)) into.add(o.name, word);
  } else if (!v.is_null()) {
    into.set(o.name, word_of(v));
  }
}

}  // namespace

ParameterValue parameter_of(const std::string& text) {
  const auto v = Json::parse(text, nullptr, false);
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number_unsigned()) return v.get<uint64_t>();
  if (v.is_number_integer()) return v.get<int64_t>();
  if (v.is_number()) return v.get<double>();
  return text;
}

std::string key_of(const Option& o) {
  // Keys as the rules on interfaces name them.
  if (o.name == "param" || o.name == "tensor" || o.name == "plugin") return std::string(o.name) + "s";
  return std::string(o.name);
}

bool is_made_tensor(const std::string& value) {
  const std::string how = value.substr(0, value.find(':'));
  return how.size() < value.size() && (how == "uniform" || how == "zeros" || how == "arange");
}

std::string checksum_of_file(const std::string& name) {
  std::error_code unknown;
  if (std::filesystem::is_directory(name, unknown)) {
    std::map<std::string, std::string> files;  // sorted by name
    for (const auto& entry : std::filesystem::directory_iterator(name)) {
      if (entry.is_regular_file(unknown))
        files[entry.path().filename().string()] = checksum_of_file(entry.path().string());
    }
    std::string all;
    for (const auto& [file, checksum] : files) all += fmt::format("{}:{}{}", file.size(), file, checksum);
    return sha256(all);
  }
  std::ifstream in = open_input(name);
  return sha256(read_all(in, name));
}

std::string energy_table_of(const std::string& topology_text, const std::string& topology_file) {
  if (topology_text.find("energy") == std::string::npos) return "";  // parsing YAML takes a large part of a short run
  topology::FaultList faults(topology_file);                         // the run reports them
  const topology::YamlDocument document = topology::parse_document(topology_text, faults);
  for (const topology::YamlItem& item : document.root) {
    if (item.key.text() == "energy" && item.value.is_scalar())
      return (std::filesystem::path(topology_file).parent_path() / item.value.text()).string();
  }
  return "";
}

RunDocument RunDocument::of(const RunSpec& given, std::string version, const std::string& topology_file,
                            const std::string& energy_file, const std::string& topology_text) {
  RunDocument d;
  d.version = std::move(version);
  d.command = "kernbench" + shell_words(given.words());
  d.options = given;
  d.topology = std::filesystem::path(topology_file).filename().string();
  d.topology_text = topology_text;
  if (topology_text.empty()) {
    std::ifstream in = open_input(topology_file);
    d.topology_text = read_all(in, topology_file);
  }
  if (const std::string table = energy_table_of(d.topology_text, topology_file); !table.empty())
    d.topology_energy = checksum_of_file(table);
  for (const Option* o : given.table().deciding()) {
    if (o->file != Option::File::input && o->file != Option::File::energy) continue;
    for (const std::string& v : given.list(o->name)) {
      const std::string file = o->has_names() ? name_and_value("", v, "").second : v;
      if (!given.text_or_none("ttir").empty() && is_made_tensor(file)) continue;
      try {
        d.files[file] = checksum_of_file(o->file == Option::File::energy ? energy_file : file);
      } catch (const InputError&) {  // the run reports it, after errors in the topology's name
      }
    }
  }
  return d;
}

void describe(Fields& f, const RunDocument& d, bool with_topology) {
  f("schema", kReportSchema)("version", d.version)("command", d.command)("options", [&] {
    for (const Option* o : d.options.table().deciding()) describe_option(f, d, *o);
  });
  f("topology", [&] {
    f("name", d.topology)("sha256", sha256(d.topology_text)).given("energy_sha256", d.topology_energy);
    if (with_topology) f("text", d.topology_text);
  });
}

std::string json_of(const RunDocument& d, bool with_topology) {
  return to_json([&](Fields& f) { describe(f, d, with_topology); });
}

void begin_report(Fields& f, const RunDocument& d) {
  if (!d.version.empty()) f("run", RawJson{json_of(d, d.options.flag("report-topology"))}).line(0);
}

RunSpec options_of(std::string_view json, std::string* topology_text) {
  const Json run = parse_json<Json>(json);
  RunSpec spec(json_field(run, "command", table_of_command));
  json_field(run, "options", [&](const Json& options) {
    for (const Option* o : spec.table().deciding()) {
      json_field(options, key_of(*o), [&](const Json& v) {
        read_option(*o, v, spec);
        return 0;
      });
    }
    return 0;
  });
  json_field(run, "topology", [&](const Json& t) {
    spec.set("topology", json_field<std::string>(t, "name"));
    *topology_text = json_field_or<std::string>(t, "text", "");
    return 0;
  });
  return spec;
}

}  // namespace kernbench::spec
