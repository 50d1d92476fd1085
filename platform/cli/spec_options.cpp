#include "kernbench/platform/cli/spec_options.h"

#include "kernbench/phase2/text/text.h"

namespace kernbench::cli {

using Type = spec::Option::Type;
using Often = spec::Option::Often;

CLI::Option* described(CLI::Option* option, const spec::Option& o) {
  option->group(std::string(o.group));
  if (!o.form.empty()) option->type_name(std::string(o.form));
  if (o.often == Often::once && o.type != Type::flag) option->expected(1)->allow_extra_args(false);
  if (o.often == Often::targets) option->allow_extra_args(false);
  if (o.required) option->required();
  if (o.type != Type::flag) {
    const std::string legal = o.legal.empty() ? "" : "{" + joined(o.legal, ",") + "}";
    option->check(CLI::Validator([&o](const std::string& text) { return spec::value_fault(o, text); }, legal));
  }
  if (!o.initial.empty()) option->default_str(std::string(o.initial));
  return option;
}

/// "--name", or "--name,--alias".
std::string dashed(const spec::Option& o) {
  return "--" + std::string(o.name) + (o.alias.empty() ? "" : ",--" + std::string(o.alias));
}

void add_options(CLI::App& app, spec::RunSpec& values) {
  for (const spec::Option& o : values.table().options) {
    if (o.type != Type::flag) {
      const std::string name(o.name), names = (o.name == values.table().positional ? name + "," : "") + dashed(o);
      described(app.add_option(names, values.list(o.name), std::string(o.help)), o);
      continue;
    }
    const std::string name = dashed(o);
    if (!o.legal.empty()) {
      CLI::Option* made = described(app.add_option(name, values.list(o.name), std::string(o.help)), o);
      made->expected(0, 1)->type_name("[=" + joined(o.legal, "|") + "]");
      made->check(CLI::Validator([&o](const std::string& text) { return spec::value_fault(o, text); }, ""));
      made->allow_extra_args(false);
      continue;
    }
    const auto set = [&values, name = o.name](int64_t) { values.set(name, "true"); };
    described(app.add_flag(name, set, std::string(o.help)), o);
  }
}

}  // namespace kernbench::cli
