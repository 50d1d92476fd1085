// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/tool/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/standard_output.h"

namespace kernbench::cli {

namespace {

/// `command`: the words typed so far, such as "kernbench run".
std::string unknown_word(const CLI::App& app, const std::string& command, const std::string& word) {
  const std::vector<std::string> commands = command_names(app);
  if (word[0] != '-' && !commands.empty() && app.get_subcommands().empty())
    return fmt::format("{}: unknown command {}{} legal: {}", command, in_quotes(word), did_you_mean(word, commands),
                       joined(commands));
  const std::string name = word.substr(0, word.find('='));
  if (word[0] == '-')
    return fmt::format("{}: unknown option {}{} {} --help lists the legal ones", command, in_quotes(name),
                       did_you_mean(name, option_names(app)), command);
  return fmt::format("{}: found {}, which belongs to no option; {} --help lists the legal ones", command,
                     in_quotes(word), command);
}

}  // namespace

namespace {

/// Whether it is an output, and its files.
std::map<const CLI::Option*, std::pair<bool, FilesOf>>& declared_files() {
  static std::map<const CLI::Option*, std::pair<bool, FilesOf>> all;
  return all;
}

/// For --option= without a value, CLI11 would take the next word.
void check_equals(const std::string& program, int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string word = argv[i];
    if (word.size() > 3 && word.compare(0, 2, "--") == 0 && word.find('=') == word.size() - 1)
      throw InputError(fmt::format("{}: {}: {}", program, word.substr(0, word.size() - 1), missing_value("", false)));
  }
}

}  // namespace

void check_values(CLI::App& app) {
  for (CLI::Option* o : app.get_options()) {
    const std::string type = o->get_type_name();
    // FILE, NAME=FILE.npy, OUT.sqlite, LIB.so, FOLDER
    const bool one = type.find(',') == std::string::npos;
    const bool file = one && (type.find("FILE") != std::string::npos || type.find('.') != std::string::npos);
    const bool named = file || (one && type.find("FOLDER") != std::string::npos);
    if (file && declared_files().count(o) == 0) throw std::logic_error(o->get_name() + " declares no file");
    const bool argument = o->get_lnames().empty() && o->get_snames().empty();
    if (o->get_items_expected_max() == 0) {
      o->check(CLI::Validator(  // a flag may only be true, false, or what its type names
          [type](const std::string& v) {
            const bool legal =
                v == "true" || v == "false" || ("," + type + ",").find("," + v + ",") != std::string::npos;
            return legal ? "" : v + " not in {" + type + (type.empty() ? "" : ",") + "true,false}";
          },
          ""));
    } else if (named || !argument) {
      o->check(CLI::Validator([=](const std::string& v) { return missing_value(v, named); }, ""));
    }
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) check_values(*command);
}

CLI::Option* reads_file(CLI::Option* o, FilesOf files) {
  declared_files()[o] = {false, std::move(files)};
  return o;
}

CLI::Option* writes_file(CLI::Option* o, FilesOf files) {
  declared_files()[o] = {true, std::move(files)};
  return o;
}

void add_files(CommandFiles& files, const CLI::App& app) {
  for (const CLI::Option* o : app.get_options()) {
    const auto declared = declared_files().find(o);
    if (declared == declared_files().end()) continue;
    const auto& [written, files_of] = declared->second;
    const bool named = o->get_type_name().find('=') != std::string::npos;
    for (const std::string& value : o->results()) files.add(o->get_name(), value, named, written, files_of);
  }
  for (const CLI::App* command : app.get_subcommands()) add_files(files, *command);
}

std::optional<int> parse(CLI::App& app, int argc, const char* const* argv) {
  check_values(app);
  check_equals(app.get_name(), argc, argv);
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return close_stdout(app.exit(e));  // --help, --version
    tell(usage_fault(app, e));
    return 2;
  }
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    names.push_back(c->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& l : o->get_lnames()) names.push_back("--" + l);
    for (const std::string& s : o->get_snames()) names.push_back("-" + s);
  }
  return names;
}

std::string usage_fault(const CLI::App& program, const CLI::ParseError& e) {
  std::string command = program.get_name();
  const CLI::App* app = &program;
  while (true) {
    for (const std::string& word : app->remaining()) {
      if (!word.empty() && word != "--" && !app->get_allow_extras()) return unknown_word(*app, command, word);
    }
    const std::vector<CLI::App*> given = app->get_subcommands();
    if (given.empty()) break;
    app = given.back();
    command += " " + app->get_name();
  }
  if (dynamic_cast<const CLI::RequiredError*>(&e) && app->get_require_subcommand_min() > 0)
    return fmt::format("{}: a command is missing; legal: {}", command, joined(command_names(*app)));
  return program.get_name() + ": " + e.what();
}

}  // namespace kernbench::cli
