#include "kernbench/phase2/tool/usage.h"

#include <fmt/format.h>

#include "kernbench/phase2/text/text.h"

namespace kernbench::cli {

namespace {

/// `command`: what was typed up to here, such as "kernbench run".
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

void refuse_empty_names(CLI::App& app) {
  const CLI::Validator named(
      [](const std::string& v) { return v.empty() ? std::string("found '', expected the name of a file") : ""; }, "");
  for (CLI::Option* o : app.get_options()) {
    const std::string type = o->get_type_name();
    // FILE, NAME=FILE.npy, OUT.sqlite, LIB.so, FOLDER
    const bool names_a_file = type.find("FILE") != std::string::npos || type.find('.') != std::string::npos ||
                              type.find("FOLDER") != std::string::npos;
    if (names_a_file && type.find(',') == std::string::npos) o->check(named);
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_empty_names(*command);
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
