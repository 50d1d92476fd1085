// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/platform/cli/help.h"

namespace kernbench::cli {

namespace {

/// Escapes a text for roff, including control characters at the start of a line.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() || out.back() == '\n') out += c == '.' || c == '\'' ? "\\&" : "";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// "--kernel NAME".
std::string option_line(const CLI::Option& o) {
  std::string names;
  for (const std::string& s : o.get_snames()) names += (names.empty() ? "-" : ", -") + s;
  for (const std::string& l : o.get_lnames()) names += (names.empty() ? "--" : ", --") + l;
  std::string line = "\\fB" + roff(names.empty() ? o.get_name(true) : names) + "\\fR";
  if (o.get_items_expected_max() > 0) line += " \\fI" + roff(o.get_type_name()) + "\\fR";
  if (!o.get_default_str().empty()) line += roff(" (default " + o.get_default_str() + ")");
  return line;
}

void append_options(std::string& page, const CLI::App& app, const std::string& group) {
  for (const CLI::Option* o : app.get_options([&](const CLI::Option* p) { return p->get_group() == group; }))
    page +=
        ".TP\n" + option_line(*o) + "\n" + roff(o->get_description()) + (o->get_required() ? " (required)" : "") + "\n";
}

void append_commands(std::string& page, const CLI::App& app, const std::string& group) {
  for (const CLI::App* c : app.get_subcommands([&](const CLI::App* p) { return p->get_group() == group; }))
    page += ".TP\n\\fB" + roff(c->get_name()) + "\\fR\n" + roff(c->get_description()) + "\n";
}

/// `command`: as typed, "kernbench run".
std::string man_page(const CLI::App& app, const std::string& command) {
  std::string title = command;
  for (char& c : title) c = c == ' ' ? '-' : c;
  std::string page = fmt::format(".TH \"{}\" 1 \"\" \"kernbench {}\" \"kernbench\"\n", title, version());
  page += ".SH NAME\n" + roff(title + " - " + app.get_description()) + "\n";
  page += ".SH SYNOPSIS\n\\fB" + roff(command) + "\\fR [\\fIOPTIONS\\fR]";
  if (!command_names(app).empty()) page += " [\\fICOMMAND\\fR]";
  for (const CLI::Option* o : app.get_options([](const CLI::Option* p) { return p->get_positional(); }))
    page += " \\fI" + roff(o->get_name(true)) + "\\fR";
  page += "\n";
  std::vector<std::string> groups;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& group = c->get_group();
    if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  if (!groups.empty()) page += ".SH COMMANDS\n";
  for (const std::string& group : groups) {
    page += ".SS " + roff(group) + "\n";
    append_commands(page, app, group);
  }
  if (!app.get_options().empty()) page += ".SH OPTIONS\n";
  for (const std::string& group : app.get_groups()) {
    if (group.empty()) continue;
    if (group != "Options") page += ".SS " + roff(group) + "\n";
    append_options(page, app, group);
  }
  if (!app.get_footer().empty()) page += ".SH NOTES\n.nf\n" + roff(app.get_footer()) + "\n.fi\n";
  page +=
      ".SH EXIT STATUS\n0: success, including requested verification; 1: the run failed; 2: wrong usage or input; 130, "
      "143: stopped by SIGINT, SIGTERM.\n";
  if (const CLI::App* parent = app.get_parent()) {
    page += ".SH SEE ALSO\n\\fBkernbench\\fR(1)";
    for (const std::string& name : command_names(*parent)) {
      if (name != app.get_name()) page += ", \\fB" + roff(parent->get_name() + "-" + name) + "\\fR(1)";
    }
    page += "\n";
  }
  return page;
}

void write_all(const CLI::App& program, const std::string& folder) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& page) {
    WholeFile file(folder + "/" + name + ".1");
    file.write(page);
    file.keep();
  };
  write("kernbench", man_page(program, "kernbench"));
  for (const CLI::App* c : program.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    write("kernbench-" + c->get_name(), man_page(*c, "kernbench " + c->get_name()));
}

}  // namespace

Command add_man(CLI::App& program) {
  struct Asked {
    std::string command, folder;
  };
  auto asked = std::make_shared<Asked>();
  CLI::App* cmd = program.add_subcommand("man", "Print a command's man page");
  cmd->add_option("command", asked->command, "the command; default: the program itself");
  cmd->add_option("--into", asked->folder, "write all pages as files into this folder")->type_name("FOLDER");
  cmd->footer("kernbench man run | man -l -");
  return {cmd,
          [&program, asked] {
            if (!asked->folder.empty()) {
              write_all(program, asked->folder);
              return 0;
            }
            if (asked->command.empty()) {
              std::cout << man_page(program, "kernbench");
              return 0;
            }
            const std::vector<std::string> legal = command_names(program);
            if (std::find(legal.begin(), legal.end(), asked->command) == legal.end())
              throw InputError("man: there is no command " + in_quotes(asked->command) +
                               did_you_mean(asked->command, legal) + " legal: " + joined(legal));
            std::cout << man_page(*program.get_subcommand(asked->command), "kernbench " + asked->command);
            return 0;
          },
          {},
          {},
          /*reads_program=*/true};
}

}  // namespace kernbench::cli
