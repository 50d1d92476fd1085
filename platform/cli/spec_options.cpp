#include "kernbench/platform/cli/spec_options.h"

#include <fmt/format.h>

#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/whole_number.h"

namespace kernbench::cli {

using Type = spec::Option::Type;
using Often = spec::Option::Often;

CLI::Option* described(CLI::Option* option, const spec::Option& o) {
  option->group(std::string(o.group));
  if (!o.form.empty()) option->type_name(std::string(o.form));
  if (o.often == Often::once && o.type != Type::flag) option->expected(1)->allow_extra_args(false);
  if (o.often == Often::targets) option->allow_extra_args(false);
  if (o.required) option->required();
  if (!o.legal.empty() && o.type != Type::flag)
    option->check(CLI::IsMember(std::vector<std::string>(o.legal.begin(), o.legal.end())));
  if (o.type == Type::whole)
    whole_number(option, static_cast<uint64_t>(o.least),
                 o.most < 18446744073709551615.0 ? static_cast<uint64_t>(o.most) : ~uint64_t{0});
  if (o.type == Type::positive) positive_number(option, o.most);
  if (!o.initial.empty()) option->default_str(std::string(o.initial));
  return option;
}

void add_options(CLI::App& app, spec::RunSpec& values) {
  for (const spec::Option& o : values.table().options) {
    if (o.type != Type::flag) {
      const std::string name(o.name), names = (o.name == values.table().positional ? name + "," : "") + "--" + name;
      described(app.add_option(names, values.list(o.name), std::string(o.help)), o);
      continue;
    }
    const std::string name = "--" + std::string(o.name);
    if (!o.legal.empty()) {
      std::vector<std::string> legal(o.legal.begin(), o.legal.end());
      CLI::Option* made = described(app.add_option(name, values.list(o.name), std::string(o.help)), o);
      made->expected(0, 1)->type_name(fmt::format("[={}]", joined(legal, "|")));
      legal.emplace_back("true");
      made->check(CLI::IsMember(legal))->allow_extra_args(false);
      continue;
    }
    const auto set = [&values, name = o.name](int64_t) { values.set(name, "true"); };
    described(app.add_flag(name, set, std::string(o.help)), o);
  }
}

}  // namespace kernbench::cli
