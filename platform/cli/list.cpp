// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/math_op.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/entry/topology_places.h"
#include "kernbench/platform/models/families.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::cli {

namespace {

const char* role_of(const TensorSpec& t) {
  return t.is_input() && t.is_output() ? "in_out" : t.is_input() ? "in" : "out";
}

std::string default_of(const AttrSpec& a) {
  if (a.required) return "required";
  if (!a.default_value) return "optional";
  return a.type == AttrType::number_map ? "{}" : text_of(*a.default_value);
}

const char* type_of(const AttrSpec& a) {
  switch (a.type) {
    case AttrType::number:
      return "number";
    case AttrType::integer:
      return "integer";
    case AttrType::boolean:
      return "boolean";
    case AttrType::string:
      return "string";
    case AttrType::number_map:
      return "map of numbers";
  }
  return "";
}

/// ", from FILE.so" for registrations by a plug-in; else empty.
std::string origin(const std::vector<Plugin>& plugins, const std::string& name,
                   std::vector<std::string> Plugin::*registered) {
  for (const Plugin& p : plugins) {
    const auto& names = p.*registered;
    if (std::find(names.begin(), names.end(), name) != names.end()) return ", from " + p.file;
  }
  return {};
}

/// ">= 1, <= 64"; empty: any value.
std::string range_of(const AttrSpec& a) {
  std::string text;
  if (std::isfinite(a.min)) text = fmt::format("{} {}", a.min_exclusive ? ">" : ">=", a.min);
  if (std::isfinite(a.max)) text += fmt::format("{}<= {}", text.empty() ? "" : ", ", a.max);
  return text;
}

/// "; area.lane x value": the attribute's area.
std::string area_of(const AttrSpec& a) {
  if (!a.area) return {};
  const std::string each = a.area->each == 1 ? "" : fmt::format(" x {}", a.area->each);
  return fmt::format("; area.{} x {}{}", a.area->constant, a.area->factor ? "others x value" : "value", each);
}

void list_components(const std::vector<Plugin>& plugins) {
  for (const ImplSpec* spec : component_catalog().all()) {
    print_to(std::cout, "{}  (kind {}{}): {}\n", spec->impl, spec->kind,
             origin(plugins, spec->impl, &Plugin::components), spec->help);
    for (const AttrSpec& a : spec->attributes) {
      std::string value = default_of(a) + (a.unit.empty() ? "" : " " + a.unit);
      if (a.required && !a.unit.empty()) value = "required, " + a.unit;
      print_to(std::cout, "    {:17} {:15} {:21} {:17} {:8} {:9} {}{}{}\n", a.name, type_of(a), value, range_of(a),
               name_of(a.direction), name_of(a.cost_class()), a.help,
               a.choices.empty() ? "" : fmt::format(" ({})", joined(a.choices)), area_of(a));
      if (!a.registry) continue;
      for (const NamedRegistry::Name& n : a.registry->all())
        print_to(std::cout, "        {:13} {}{}\n", n.name, n.help, origin(plugins, n.name, &Plugin::named));
    }
  }
}

void list_components_as_json() {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::indented, JsonWriter::Reals::decimal);
  w.open('[');
  for (const ImplSpec* spec : component_catalog().all()) {
    w.open('{')
        .field("impl", spec->impl)
        .field("kind", spec->kind)
        .field("help", spec->help)
        .key("attributes")
        .open('[');
    for (const AttrSpec& a : spec->attributes) {
      w.open('{').field("name", a.name).field("type", type_of(a)).field("unit", a.unit).field("help", a.help);
      w.field("required", a.required).field("direction", name_of(a.direction)).field("cost", name_of(a.cost_class()));
      if (a.overhead) w.field("overhead", true);
      if (a.resource) w.field("resource", name_of(*a.resource));
      if (a.limit != Limit::none) w.field("limit", name_of(a.limit));
      if (a.area) {
        w.key("area").open('{').field("constant", "area." + a.area->constant).field("each", a.area->each);
        w.field("factor", a.area->factor).close('}');
      }
      if (a.default_value) w.field("default", *a.default_value);
      if (std::isfinite(a.min)) w.field(a.min_exclusive ? "more_than" : "min", a.min);
      if (std::isfinite(a.max)) w.field("max", a.max);
      if (a.multiple_of > 1) w.field("multiple_of", a.multiple_of);
      if (!a.legal_texts().empty()) w.field("choices", a.legal_texts());
      if (a.registry) {
        w.key("registered").open('{');
        for (const NamedRegistry::Name& n : a.registry->all()) w.field(n.name, n.help);
        w.close('}');
      }
      w.close('}');
    }
    w.close(']').close('}');
  }
  w.close(']');
  std::cout << text << "\n";
}

const char* type_of(const ParamSpec& p) {
  switch (p.type) {
    case ParamType::integer:
      return "integer";
    case ParamType::number:
      return "number";
    case ParamType::boolean:
      return "boolean";
    case ParamType::choice:
      return "choice";
    case ParamType::dtype:
      return "dtype";
    case ParamType::text:
      return "text";
  }
  return "";
}

/// A tensor's dimensions and type in terms of parameters, derived from its spec by changing each parameter.
struct Form {
  std::vector<std::string> shape;
  std::string dtype;
};

/// Its shape in a launch on that many PEs of one cube.
Dims shape_in(const TensorSpec& t, Params p, int64_t pes) {
  auto launch = std::make_shared<LaunchShape>();
  launch->pes_of_cube = pes;
  for (int64_t i = 0; i < pes; ++i) launch->pes.push_back({i, 0, 0, i, 0, 0, fmt::format("sip0.cube0.pe{}", i)});
  p.set_launch(std::move(launch));
  return t.shape(p);
}

/// A product of sizes if the dimension doubles with each factor and halves with its divisor; else f(sizes).
std::string dimension(const std::vector<std::pair<std::string, int64_t>>& sizes, const std::vector<Dims>& doubled,
                      const Dims& base, int i) {
  std::vector<std::string> names, factors;
  std::string divisor;
  double value = static_cast<double>(base[i]);  // constant factor
  size_t known = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const auto& [name, size] = sizes[k];
    const bool same_rank = doubled[k].rank() == base.rank();
    if (same_rank && doubled[k][i] == base[i]) continue;
    names.push_back(name);
    const bool factor = same_rank && doubled[k][i] == 2 * base[i];
    if (!factor && !(same_rank && 2 * doubled[k][i] == base[i])) continue;
    ++known;
    value = factor ? value / static_cast<double>(size) : value * static_cast<double>(size);
    if (factor) factors.push_back(name);
    if (!factor) divisor += "/" + name;
  }
  if (known < names.size()) return fmt::format("f({})", joined(names));
  if (base[i] == 0) return "0";
  const auto times = std::llround(value), parts = std::llround(1 / value);
  if (times > 1 || factors.empty()) factors.insert(factors.begin(), std::to_string(times));
  return joined(factors, "*") + (times < 1 || parts > 1 ? fmt::format("/{}", parts) : "") + divisor;
}

Form form_of(const TensorSpec& t, const std::vector<ParamSpec>& specs) try {
  constexpr int64_t kPes = 4;
  Form form;
  const Params params = parse_params("", specs, {});
  std::vector<std::pair<std::string, int64_t>> sizes;
  std::vector<std::string> types;
  std::vector<Dims> doubled;
  bool own = false;  // the type is the last one of `types`
  const DType type = t.dtype(params);
  const Dims base = shape_in(t, params, kPes);
  for (const ParamSpec& p : specs) {
    Params other = params;
    if (p.type == ParamType::integer && params.integer(p.name) > 0) {
      sizes.emplace_back(p.name, params.integer(p.name));
      other.set(p.name, 2 * sizes.back().second);
      try {
        doubled.push_back(shape_in(t, other, kPes));
      } catch (const std::exception&) {  // illegal together with the other defaults
        sizes.pop_back();
      }
    }
    if (p.type != ParamType::dtype && p.type != ParamType::choice) continue;
    bool changes = false, same = true;
    for (const std::string& choice : p.choices) {
      const std::optional<DType> named = parse_dtype(choice);
      other.set(p.name, p.type == ParamType::dtype ? ParamValue(*named) : ParamValue(choice));
      changes = changes || t.dtype(other) != type;
      same = same && named && t.dtype(other) == *named;
    }
    if (!changes) continue;
    types.push_back(p.name);
    own = same;
  }
  sizes.emplace_back("PEs", kPes);
  doubled.push_back(shape_in(t, params, 2 * kPes));
  for (int i = 0; i < base.rank(); ++i) form.shape.push_back(dimension(sizes, doubled, base, i));
  form.dtype = types.empty() ? std::string(name_of(type)) : joined(types);
  if (types.size() > 1 || (types.size() == 1 && !own)) form.dtype = fmt::format("f({})", form.dtype);
  return form;
} catch (const std::exception&) {  // the defaults do not fit such a launch
  return {{"?"}, "?"};
}

/// The launches that lack a tensor.
std::string presence(const TensorSpec& t) {
  if (!t.unless.empty()) return "; not where there is " + t.unless;
  return t.optional ? "; optional" : "";
}

std::string placed(const TensorSpec& t) {
  if (t.shards) return "by the launch";
  if (t.policy) return fmt::format("cube {}, pe {}", name_of(t.policy->cube), name_of(t.policy->pe));
  return std::string(name_of(t.placement));
}
std::string placed(const ProgramTensor& t) {
  return t.layout.to_string();
}

/// "x  [rows, cols] dtype".
std::string text_of(const TensorSpec& t, const std::vector<ParamSpec>& params) {
  const Form form = form_of(t, params);
  return fmt::format("{}  [{}] {}", t.name, joined(form.shape), form.dtype);
}

/// For kernels or programs: the data for a form.
template <class Specs>
void list_runnable_as_json(const Specs& specs) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::indented, JsonWriter::Reals::decimal);
  w.open('[');
  for (const auto* spec : specs) {
    w.open('{').field("name", spec->name).field("help", spec->help).key("tensors").open('[');
    for (const auto& t : spec->tensors) {
      const Form form = form_of(t, spec->params);
      w.open('{').field("name", t.name).field("role", role_of(t)).field("shape", form.shape).field("dtype", form.dtype);
      w.field("placed", placed(t));
      if (t.optional) w.field("optional", true);
      if (!t.unless.empty()) w.field("unless", t.unless);
      w.close('}');
    }
    w.close(']').key("params").open('[');
    for (const ParamSpec& p : spec->params) {
      w.open('{').field("name", p.name).field("type", type_of(p)).field("help", p.help);
      w.field("default", p.default_text()).field("legal", p.legal());
      if (std::isfinite(p.min)) w.field("min", p.min);
      if (std::isfinite(p.max)) w.field("max", p.max);
      if (p.type != ParamType::text && !p.choices.empty()) w.field("choices", p.choices);
      if (p.split_over_pes) w.field("split_over_pes", true);
      if (p.is_tuning) w.field("is_tuning", true);
      w.close('}');
    }
    w.close(']').close('}');
  }
  w.close(']');
  std::cout << text << "\n";
}

void list_params(const std::vector<ParamSpec>& params) {
  for (const ParamSpec& p : params)
    print_to(std::cout, "    --param {:15} {} ({})\n", p.name + "=" + p.default_text(), p.help, p.legal());
}

void list_kernels(const std::vector<Plugin>& plugins) {
  for (const KernelSpec* k : KernelRegistry::instance().all()) {
    const std::string from = origin(plugins, k->name, &Plugin::kernels);
    print_to(std::cout, "{}{}: {}\n", k->name, from.empty() ? "" : "  (" + from.substr(2) + ")", k->help);
    for (const TensorSpec& t : k->tensors) {
      print_to(std::cout, "    {:3}  {}  (placed: {}{})\n", role_of(t), text_of(t, k->params), placed(t), presence(t));
    }
    if (k->queues) print_to(std::cout, "    wiring  {}\n", k->wiring.empty() ? "its own" : k->wiring);
    list_params(k->params);
  }
}

void list_programs(const std::vector<Plugin>& plugins) {
  for (const ProgramSpec* p : ProgramRegistry::instance().all()) {
    const std::string from = origin(plugins, p->name, &Plugin::programs);
    print_to(std::cout, "{}{}: {}\n", p->name, from.empty() ? "" : "  (" + from.substr(2) + ")", p->help);
    for (const ProgramTensor& t : p->tensors) {
      print_to(std::cout, "    {:3}  {}  ({}{})\n", role_of(t), text_of(t, p->params), placed(t), presence(t));
    }
    list_params(p->params);
  }
}

/// InputError if there is none.
std::vector<std::string> topologies() {
  std::vector<std::string> paths;
  for (const auto& [name, path] : known_topologies()) paths.push_back(path);
  if (paths.empty()) throw InputError("no folder topologies here or beside the program");
  return paths;
}

void list_families() {
  print_to(std::cout, "all: required {}; optional {}\n", joined(models::common_required()),
           joined(models::common_optional()));
  for (const models::Family& f : models::families()) {
    print_to(std::cout, "{}: {}\n", f.name, f.help);
    if (!f.required.empty()) print_to(std::cout, "    required  {}\n", joined(f.required));
    if (!f.optional.empty()) print_to(std::cout, "    optional  {}\n", joined(f.optional));
  }
}

void list_families_as_json() {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::indented, JsonWriter::Reals::decimal);
  w.open('{').field("required", models::common_required()).field("optional", models::common_optional());
  w.key("families").open('[');
  for (const models::Family& f : models::families()) {
    w.open('{').field("name", f.name).field("help", f.help).field("required", f.required).field("optional", f.optional);
    w.key("fields").open('{').field("eps", f.words.eps).field("rope_theta", f.words.rope_theta);
    if (!f.words.rotary.empty()) w.field("rotary", f.words.rotary);
    w.close('}').key("defaults").open('{').field("rope_theta", f.defaults.rope_theta).field("eps", f.defaults.eps);
    w.field("positions", f.defaults.positions).field("activation", f.defaults.activation);
    if (f.defaults.kv_heads) w.field("kv_heads", f.defaults.kv_heads);
    if (f.defaults.head_dim) w.field("head_dim", f.defaults.head_dim);
    if (!f.words.rotary.empty()) w.field("rotary", f.defaults.rotary);
    w.close('}').close('}');
  }
  w.close(']').close('}');
  std::cout << text << "\n";
}

void list_links() {
  for (const auto& m : link_modes().all()) std::cout << m->name << ": " << m->help << "\n";
}

void list_links_as_json() {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::indented);
  w.open('[');
  for (const auto& m : link_modes().all())
    w.open('{').field("name", m->name).field("help", m->help).field("standard", m->standard).close('}');
  w.close(']');
  std::cout << text << "\n";
}

const char* text_of(Values v) {
  return v == Values::floats ? "floats" : v == Values::integers ? "integers" : "any";
}

void list_ops() {
  for (const MathOp& op : math_ops()) {
    const std::string operands = op.arity == kAnyNumber ? "any number" : std::to_string(op.arity);
    print_to(std::cout, "{:17} {}\n    {} of {}, {} cycles, energy {}\n", op.name, op.help, operands,
             text_of(op.values()), op.cycles, name_of(op.energy));
    if (!op.triton.empty()) print_to(std::cout, "    triton  {}\n", op.triton);
    if (!op.library.empty()) print_to(std::cout, "    library {}\n", op.library);
    if (op.onnx.name) print_to(std::cout, "    onnx    {} since opset {}\n", op.onnx.name, op.onnx.since);
  }
}

void list_ops_as_json() {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::indented, JsonWriter::Reals::decimal);
  w.open('[');
  for (const MathOp& op : math_ops()) {
    w.open('{').field("name", op.name).field("help", op.help).field("operands", op.arity);
    w.field("values", text_of(op.values())).field("elementwise", op.is_elementwise());
    w.field("cycles", op.cycles).field("energy", name_of(op.energy));
    w.field("triton", words_between_blanks(op.triton)).field("library", words_between_blanks(op.library));
    if (op.onnx.name) w.field("onnx", op.onnx.name).field("since_opset", op.onnx.since);
    w.close('}');
  }
  w.close(']');
  std::cout << text << "\n";
}

void list_options() {
  for (const std::string_view command : spec::commands_with_tables()) {
    for (const spec::Option& o : spec::table_of(command).options)
      print_to(std::cout, "{} --{}: {}\n", command, o.name, o.help);
  }
}

/// The declaration of each option's entry, by command.
void list_options_as_json() {
  constexpr const char* kTypes[] = {"flag", "text", "whole", "positive", "number"};
  constexpr const char* kOften[] = {"once", "each", "named", "targets"};
  constexpr const char* kFiles[] = {"none", "topology", "energy", "input", "written"};
  constexpr const char* kRoles[] = {"decides", "shows", "works", "ends", "writes"};
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::indented);
  w.open('{');
  for (const std::string_view command : spec::commands_with_tables()) {
    w.key(command).open('[');
    for (const spec::Option& o : spec::table_of(command).options) {
      w.open('{').field("name", o.name).field("help", o.help).field("form", o.form).field("initial", o.initial);
      w.field("legal", o.legal).field("needs", o.needs).field("least", o.least).field("most", o.most);
      w.field("type", kTypes[static_cast<int>(o.type)]).field("often", kOften[static_cast<int>(o.often)]);
      w.field("file", kFiles[static_cast<int>(o.file)]).field("role", kRoles[static_cast<int>(o.role)]);
      w.field("required", o.required).field("alias", o.alias).close('}');
    }
    w.close(']');
  }
  w.close('}');
  std::cout << text << "\n";
}

void list_topologies() {
  for (const std::string& f : topologies()) std::cout << f << "\n";
}

void list_as_json(const std::string& what) {
  if (what == "components") list_components_as_json();
  if (what == "kernels") list_runnable_as_json(KernelRegistry::instance().all());
  if (what == "programs") list_runnable_as_json(ProgramRegistry::instance().all());
  if (what == "links") list_links_as_json();
  if (what == "ops") list_ops_as_json();
  if (what == "options") list_options_as_json();
  if (what == "families") list_families_as_json();
  if (what == "topologies") {
    std::string text;
    JsonWriter(text, JsonWriter::Layout::indented).value(topologies());
    std::cout << text << "\n";
  }
}

}  // namespace

Command add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>(), format = std::make_shared<std::string>();
  auto plugin_options = std::make_shared<PluginOptions>();
  CLI::App* cmd = app.add_subcommand(
      "list",
      "List what there is: kernels, programs, components, topologies, link modes, ops, options, model families");
  cmd->add_option(
         "what", *what,
         "kernels, programs, components, topologies, links, ops, families of models, or options of the commands "
         "that simulate")
      ->required()
      ->check(
          CLI::IsMember({"kernels", "programs", "components", "topologies", "links", "ops", "options", "families"}));
  plugin_options->add_to(*cmd);
  add_format(*cmd, *format, {"text", "json"});
  return {cmd, [what, format, plugin_options] {
            SystemOptions loaded;
            loaded.plugins = plugin_options->files;
            const std::vector<Plugin> plugins = loaded.load_plugins();
            if (*format == "json") {
              list_as_json(*what);
              return 0;
            }
            if (*what == "components") list_components(plugins);
            if (*what == "kernels") list_kernels(plugins);
            if (*what == "programs") list_programs(plugins);
            if (*what == "topologies") list_topologies();
            if (*what == "links") list_links();
            if (*what == "ops") list_ops();
            if (*what == "options") list_options();
            if (*what == "families") list_families();
            return 0;
          }};
}

}  // namespace kernbench::cli
