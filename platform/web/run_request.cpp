// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/web/run_request.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::web {
namespace {

using Json = nlohmann::json;

bool is_flag(const spec::Option& o) {
  return o.type == spec::Option::Type::flag;
}

const spec::Option& option_of(const RunRequest& r, const std::string& name) {
  return spec::table_of(r.command()).at(name);
}

bool is_list(const spec::Option& o) {
  return o.often != spec::Option::Often::once;
}

std::string name_of(const Json& v) {
  auto text = json_value<std::string>(v);
  if (!is_plain_name(text)) throw JsonFault("found " + shown(v) + ", expected a name: letters, digits, . _ -");
  return text;
}

/// Sweep options with their own field in a request.
constexpr std::array<std::string_view, 3> kPrefixes = {"param.", "set.", "scale."};

/// A word of a command line, which must not be empty or contain NUL.
std::string word_of(const Json& v) {
  auto text = json_value<std::string>(v);
  if (text.empty()) throw JsonFault("found \"\", expected a value");
  if (text.find('\0') != std::string::npos) throw JsonFault("found " + shown(v) + ", expected text without \\0");
  return text;
}

std::vector<std::string> words_of(const Json& list) {
  return json_items(list, word_of);
}

template <class Read>
void each_of(const Json& object, const Read& read) {
  if (!object.is_object()) throw JsonFault("found " + shown(object) + ", expected an object");
  for (const auto& [key, value] : object.items()) json_field(object, key, [&, k = key](const Json& v) { read(k, v); });
}

void take_option(RunRequest& r, const std::string& name, const Json& v) {
  const auto legal = page_options(r.command());
  const auto found = std::find_if(legal.begin(), legal.end(), [&](const spec::Option* o) { return o->name == name; });
  if (found == legal.end()) throw JsonFault("no option that a page may set");
  if (is_list(**found)) {
    if (v.is_array() && v.empty()) throw JsonFault("found [], expected one value or more");
    r.options[name] = words_of(v);
  } else if (!is_flag(**found)) {
    r.options[name] = {word_of(v)};
  } else if (json_value<bool>(v)) {
    r.options[name];
  }
}

/// A swept option and its values.
std::string axis_of(const RunRequest& r, const Json& v) {
  std::string axis = word_of(v);
  const std::string option = axis.substr(0, axis.find('='));
  const auto legal = page_options(r.command());
  const bool own = std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](auto p) { return option.rfind(p, 0) == 0; });
  if (option.size() == axis.size() ||
      (!own && std::none_of(legal.begin(), legal.end(), [&](const spec::Option* o) { return o->name == option; })))
    throw JsonFault("found " + shown(v) + ", expected OPTION=VALUE,VALUE of an option that a page may set");
  return axis;
}

constexpr std::array kKinds = {"kernel", "program", "model"};

/// The work, which determines the legal options.
void take_work(RunRequest& r, const Json& whole) {
  for (const char* kind : kKinds) {
    if (!whole.contains(kind)) continue;
    if (!r.kind.empty()) throw JsonFault("found a " + r.kind + " and a " + kind + ", expected one of them");
    r.kind = kind;
    json_field(whole, kind, [&](const Json& v) { r.name = name_of(v); });
  }
  if (r.kind.empty()) throw JsonFault("expected a kernel, a program or a model");
}

void take_param(RunRequest& r, const std::string& name, const Json& v) {
  if (r.is_model()) throw JsonFault("a model has no parameters");
  if (!is_plain_name(name)) throw JsonFault("no parameter's name");
  r.params[name] = word_of(v);
}

RunRequest request_of(const Json& whole) {
  RunRequest r;
  if (whole.is_object()) take_work(r, whole);
  each_of(whole, [&](const std::string& key, const Json& v) {
    if (key == "topology") {
      r.topology = name_of(v);
    } else if (key == "params") {
      each_of(v, [&](const std::string& name, const Json& value) { take_param(r, name, value); });
    } else if (key == "options") {
      each_of(v, [&](const std::string& name, const Json& value) { take_option(r, name, value); });
    } else if (key == "set") {
      r.set = words_of(v);
    } else if (key == "scale") {
      r.scale = words_of(v);
    } else if (key == "energy") {
      r.energy = name_of(v);
    } else if (key == "over") {
      r.over = json_items(v, [&](const Json& axis) { return axis_of(r, axis); });
    } else if (key == "metrics") {
      r.metrics = json_items(v, name_of);
    } else if (key != r.kind) {
      throw JsonFault("no field of a request");
    }
  });
  if (r.topology.empty()) throw JsonFault("'topology' is missing");
  if (!r.metrics.empty() && !r.is_sweep()) throw JsonFault("found 'metrics' without 'over'");
  return r;
}

template <class Read>
auto read_json(const char* what, std::string_view text, const Read& read) {
  try {
    return read(parse_json_document<Json>(text));
  } catch (const JsonFault& e) {
    throw InputError(std::string(what) + ": " + e.what());
  }
}

std::vector<std::string> verdict_of(const Json& v) {
  return json_items(v, [](const Json& sentence) { return json_value<std::string>(sentence); });
}

}  // namespace

std::vector<const spec::Option*> page_options(std::string_view command) {
  constexpr std::array<std::string_view, 5> kOwnFields = {"kernel", "program", "param", "set", "scale"};
  std::vector<const spec::Option*> taken = spec::table_of(command).deciding();
  const auto is_other = [&](const spec::Option* o) {
    return o->file != spec::Option::File::none || std::count(kOwnFields.begin(), kOwnFields.end(), o->name) > 0;
  };
  taken.erase(std::remove_if(taken.begin(), taken.end(), is_other), taken.end());
  return taken;
}

bool is_plain_name(std::string_view s) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !s.empty() && s.size() <= 120 && s.front() != '.' && s.front() != '-' &&
         std::all_of(s.begin(), s.end(), plain);
}

std::vector<std::string> RunRequest::arguments(const std::string& report) const {
  std::vector<std::string> words, reporting;
  if (!report.empty()) reporting = {"--format=json", "--report=" + report};
  if (is_sweep()) {
    words.push_back("sweep");
    for (const std::string& o : over) words.push_back("--over=" + o);
    if (!metrics.empty()) words.push_back(fmt::format("--metric={}", joined(metrics, ",")));
    words.insert(words.end(), reporting.begin(), reporting.end());
    words.push_back("--");
  }
  words.insert(words.end(), {command(), "--" + kind + "=" + name, "--topology=" + topology});
  for (const auto& [param, value] : params) words.push_back("--param=" + param + "=" + value);
  for (const auto& [option, values] : options) {
    if (is_flag(option_of(*this, option))) words.push_back("--" + option);
    for (const std::string& value : values) words.push_back("--" + option + "=" + value);
  }
  for (const std::string& s : set) words.push_back("--set=" + s);
  for (const std::string& s : scale) words.push_back("--scale=" + s);
  if (!energy.empty()) words.push_back("--energy=" + energy);
  if (is_sweep() || report.empty()) return words;
  words.push_back("--explain");
  words.insert(words.end(), reporting.begin(), reporting.end());
  return words;
}

std::string RunRequest::json() const {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::spaced);
  w.open('{').field(kind, name).field("topology", topology);
  if (!is_model()) w.field("params", params);
  w.key("options").open('{');
  for (const auto& [option, values] : options) {
    const spec::Option& o = option_of(*this, option);
    w.key(option);
    if (is_flag(o)) {
      w.value(true);
    } else if (is_list(o)) {
      w.value(values);
    } else {
      w.value(values.front());
    }
  }
  w.close('}').field("set", set).field("scale", scale);
  if (!energy.empty()) w.field("energy", energy);
  if (is_sweep()) w.field("over", over).field("metrics", metrics);
  w.close('}');
  return text;
}

RunRequest parse_run_request(std::string_view json) {
  return read_json("request", json, request_of);
}

std::string RunEnd::json() const {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::spaced, JsonWriter::Reals::decimal);
  w.open('{').field("status", status).field("wall_s", wall_s).field("sim_ns", sim_ns).field("verdict", verdict);
  w.close('}');
  return text;
}

RunEnd parse_run_end(std::string_view json) {
  return read_json("end of a run", json, [](const Json& v) {
    RunEnd end;
    end.status = json_field<int>(v, "status");
    end.wall_s = json_field<double>(v, "wall_s");
    if (v.contains("sim_ns") && !v["sim_ns"].is_null()) end.sim_ns = json_field<double>(v, "sim_ns");
    end.verdict = json_field(v, "verdict", verdict_of);
    return end;
  });
}

namespace {

std::string text_of(const Json& v) {
  return v.is_string() ? v.get<std::string>() : json_text(v);
}

/// "3 points, 1 failed; the shortest: param.m=64: 1418.870 ns".
std::string summary_of_points(const RunRequest& r, const Json& points) {
  const Json* best = nullptr;
  size_t failed = 0;
  for (const Json& p : points) {
    failed += json_field<int>(p, "exit") != 0;
    const bool timed = p.contains("sim_ns") && p["sim_ns"].is_number();
    if (timed && (!best || p["sim_ns"].get<double>() < (*best)["sim_ns"].get<double>())) best = &p;
  }
  std::string text = fmt::format("{} points", points.size());
  if (failed > 0) text += fmt::format(", {} failed", failed);
  if (!best) return text;
  text += "; the shortest:";
  for (const std::string& o : r.over) {
    const std::string option = o.substr(0, o.find('='));
    text += fmt::format(" {}={}", option, best->contains(option) ? text_of((*best)[option]) : "");
  }
  return text + fmt::format(": {:.3f} ns", (*best)["sim_ns"].get<double>());
}

}  // namespace

void take_results(const RunRequest& r, std::string_view report, RunEnd& into) {
  try {
    const Json v = parse_json<Json>(report);
    if (r.is_sweep()) {
      if (!v.is_array()) throw JsonFault("expected points");
      into.verdict = {summary_of_points(r, v)};
      return;
    }
    into.sim_ns = json_field<double>(v, "sim_ns");
    into.verdict = json_field(v, "insight", [](const Json& i) { return json_field(i, "verdict", verdict_of); });
  } catch (const JsonFault&) {
    into.sim_ns.reset();  // it failed before writing a result
  }
}

}  // namespace kernbench::web
