#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/topology_places.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::cli {

namespace {

std::string default_of(const AttrSpec& a) {
  if (a.required) return "required";
  if (!a.default_value) return "optional";
  if (const auto* d = std::get_if<double>(&*a.default_value)) {
    std::string s = std::to_string(*d);
    s.erase(s.find_last_not_of('0') + 1);
    if (s.back() == '.') s.pop_back();
    return s;
  }
  if (const auto* i = std::get_if<int64_t>(&*a.default_value)) return std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&*a.default_value)) return *b ? "true" : "false";
  if (const auto* s = std::get_if<std::string>(&*a.default_value)) return *s;
  return "{}";
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

std::string padded(const std::string& text, size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

/// ", from FILE.so" for what a plug-in has brought; else nothing.
std::string origin(const std::vector<Plugin>& plugins, const std::string& name,
                   std::vector<std::string> Plugin::*registered) {
  for (const Plugin& p : plugins) {
    const auto& names = p.*registered;
    if (std::find(names.begin(), names.end(), name) != names.end()) return ", from " + p.file;
  }
  return {};
}

void list_components(const std::vector<Plugin>& plugins) {
  for (const ImplSpec* spec : component_catalog().all()) {
    std::cout << spec->impl << "  (kind " << spec->kind << origin(plugins, spec->impl, &Plugin::components)
              << "): " << spec->help << "\n";
    for (const AttrSpec& a : spec->attributes) {
      std::string value = default_of(a) + (a.unit.empty() ? "" : " " + a.unit);
      if (a.required && !a.unit.empty()) value = "required, " + a.unit;
      std::cout << "    " << padded(a.name, 18) << padded(type_of(a), 16) << padded(value, 22) << a.help;
      for (size_t i = 0; i < a.choices.size(); ++i) std::cout << (i ? ", " : " (") << a.choices[i];
      std::cout << (a.choices.empty() ? "\n" : ")\n");
    }
  }
}

void list_components_as_json() {
  const auto value_of = [](const AttrValue& v) {
    return std::visit([](const auto& value) { return nlohmann::ordered_json(value); }, v);
  };
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ImplSpec* spec : component_catalog().all()) {
    nlohmann::ordered_json attributes = nlohmann::ordered_json::array();
    for (const AttrSpec& a : spec->attributes) {
      nlohmann::ordered_json j = {{"name", a.name}, {"type", type_of(a)}, {"unit", a.unit}, {"help", a.help}};
      j["required"] = a.required;
      if (a.default_value) j["default"] = value_of(*a.default_value);
      if (std::isfinite(a.min)) j[a.min_exclusive ? "more_than" : "min"] = a.min;
      if (std::isfinite(a.max)) j["max"] = a.max;
      if (!a.choices.empty()) j["choices"] = a.choices;
      attributes.push_back(std::move(j));
    }
    all.push_back({{"impl", spec->impl}, {"kind", spec->kind}, {"help", spec->help}, {"attributes", attributes}});
  }
  std::cout << all.dump(1) << "\n";
}

void list_kernels(const std::vector<Plugin>& plugins) {
  for (const KernelSpec* k : KernelRegistry::instance().all()) {
    const std::string from = origin(plugins, k->name, &Plugin::kernels);
    std::cout << k->name << (from.empty() ? "" : "  (" + from.substr(2) + ")") << ": " << k->help << "\n";
    for (const TensorSpec& t : k->tensors) {
      std::cout << "    " << (t.role == TensorSpec::Role::in ? "in   " : "out  ") << t.name << "  (placed: ";
      if (t.policy)
        std::cout << "cube " << name_of(t.policy->cube) << ", pe " << name_of(t.policy->pe) << ")\n";
      else
        std::cout << name_of(t.placement) << ")\n";
    }
    for (const ParamSpec& p : k->params) {
      const std::string value = p.name + "=" + p.default_text();
      std::cout << "    --param " << value << std::string(value.size() < 16 ? 16 - value.size() : 1, ' ') << p.help
                << " (" << p.legal() << ")\n";
    }
  }
}

void list_topologies() {
  namespace fs = std::filesystem;
  const fs::path folder = topology_folder();
  if (folder.empty()) throw InputError("no folder topologies here or beside the program");
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& f : files) std::cout << f << "\n";
}

}  // namespace

Command add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>(), format = std::make_shared<std::string>();
  auto plugin_options = std::make_shared<PluginOptions>();
  CLI::App* cmd = app.add_subcommand("list", "List what there is: kernels, components or topologies");
  cmd->add_option("what", *what, "kernels, components or topologies")
      ->required()
      ->check(CLI::IsMember({"kernels", "components", "topologies"}));
  plugin_options->add_to(*cmd);
  add_format(*cmd, *format, {"text", "json"});
  return {cmd, [what, format, plugin_options] {
            if (*format == "json" && *what != "components") throw InputError("--format json is for components");
            const std::vector<Plugin> plugins = plugin_options->load();
            if (*what == "components" && *format == "json") {
              list_components_as_json();
              return 0;
            }
            if (*what == "components") list_components(plugins);
            if (*what == "kernels") list_kernels(plugins);
            if (*what == "topologies") list_topologies();
            return 0;
          }};
}

}  // namespace kernbench::cli
