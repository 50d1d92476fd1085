// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/cli/spec_options.h"

#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/platform/entry/system.h"

namespace kernbench::cli {

using Type = spec::Option::Type;
using Often = spec::Option::Often;

CLI::Option* described(CLI::Option* option, const spec::Option& o) {
  option->group(std::string(o.group));
  if (!o.form.empty()) option->type_name(std::string(o.form));
  if (o.often == Often::once && o.type != Type::flag) option->expected(1)->allow_extra_args(false);
  if (o.often == Often::targets) option->allow_extra_args(false);
  if (o.required) option->required();
  const auto files = [&o](const std::string& value) { return files_of(o, value); };
  if (o.file != spec::Option::File::none)
    o.file == spec::Option::File::written ? writes_file(option, files) : reads_file(option, files);
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
    const std::string name(o.name), names = (o.name == values.table().positional ? name + "," : "") + dashed(o);
    CLI::Option* made = nullptr;
    if (o.type == Type::flag) {
      const auto set = [&values, name](const CLI::results_t& given) {
        values.set_flag(name, given.back());
        return true;
      };
      made = app.add_option(names, set, std::string(o.help))->type_size(0)->expected(0)->take_last();
      made->type_name(joined(o.legal, ","));
    } else {
      made = app.add_option(names, values.list(o.name), std::string(o.help));
    }
    described(made, o);
    // Commands that share single options add files here; tables add theirs (platform/entry/system.h).
    if (o.file != spec::Option::File::none)
      reads_file(made, [](const std::string&) { return std::vector<std::string>(); });
  }
}

}  // namespace kernbench::cli
