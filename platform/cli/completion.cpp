// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/platform/cli/help.h"
#include "kernbench/platform/entry/topology_places.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/systemc_models/core/links.h"

namespace kernbench::cli {

namespace {

using Words = std::vector<std::string>;

/// Possible words at a position, with their help.
using Candidates = std::vector<std::pair<std::string, std::string>>;

// bash splits words at "=", which becomes a separate word.
const char* const kBash =
    R"(# Completion of kernbench for bash, by the program itself: source it, or put it among bash's completions.
_kernbench() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _kernbench kernbench
)";

const char* const kZsh = R"(#compdef kernbench
# Completion of kernbench for zsh, by the program itself: put it as _kernbench into a folder of fpath.
_kernbench() {
  local -a found
  local line
  for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ -n $line ]]; then found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); fi
  done
  if (( ${#found} )); then _describe kernbench found; else _files; fi
}
if [[ $funcstack[1] == _kernbench ]]; then _kernbench; else compdef _kernbench kernbench; fi
)";

/// The legal values in an option's type name: TEXT:{ideal,routed}.
Candidates choices_of(const CLI::Option& o) {
  const std::string type = o.get_type_name();
  const size_t open = type.find('{'), close = type.find('}');
  Candidates all;
  if (open == std::string::npos || close == std::string::npos) return all;
  for (const std::string& word : CLI::detail::split(type.substr(open + 1, close - open - 1), ','))
    all.emplace_back(word, "");
  return all;
}

Candidates names_of(const std::map<std::string, std::string>& files) {
  Candidates all;
  for (const auto& [name, path] : files) all.emplace_back(name, path);
  return all;
}

template <class Specs>
Candidates with_help(const Specs& specs) {
  Candidates all;
  for (const auto& spec : specs) all.emplace_back(spec->name, spec->help);
  return all;
}

/// The word after an option, or "".
std::string value_of(const Words& words, const std::string& option) {
  const auto at = std::find(words.begin(), words.end(), option);
  return at == words.end() || at + 1 == words.end() ? "" : *(at + 1);
}

/// NAME= for the parameters of the kernel or program, or for its tensors of that role.
Candidates parts_of_runnable(const Words& words, const std::string& option) {
  const KernelSpec* kernel = KernelRegistry::instance().find(value_of(words, "--kernel"));
  const ProgramSpec* program = nullptr;
  for (const ProgramSpec* p : ProgramRegistry::instance().all()) {
    if (p->name == value_of(words, "--program")) program = p;
  }
  Candidates all;
  if (option == "param") {
    for (const ParamSpec& p : kernel ? kernel->params : program ? program->params : std::vector<ParamSpec>())
      all.emplace_back(p.name + "=", p.help);
    return all;
  }
  const auto fits = [&](const TensorSpec& t) { return option == "tensor" ? t.is_input() : t.is_output(); };
  for (const TensorSpec& t : kernel ? kernel->tensors : std::vector<TensorSpec>()) {
    if (fits(t)) all.emplace_back(t.name + "=", "");
  }
  if (!program) return all;
  for (const TensorSpec* t : program->tensor_specs()) {
    if (fits(*t)) all.emplace_back(t->name + "=", "");
  }
  return all;
}

Candidates values_of(const CLI::Option& o, const Words& words) {
  const std::string name = o.get_lnames().empty() ? o.get_name(true) : o.get_lnames().front();
  if (name == "kernel") return with_help(KernelRegistry::instance().all());
  if (name == "program") return with_help(ProgramRegistry::instance().all());
  if (name == "topology") return names_of(known_topologies());
  if (name == "energy") return names_of(known_energy_tables());
  if (name == "links") return with_help(link_modes().all());
  if (name == "param" || name == "tensor" || name == "dump" || name == "expected")
    return parts_of_runnable(words, name);
  if (name == "scale" || name == "part" || name == "predict") {
    Candidates all;
    for (const auto& part : insight::scaled_parts())
      all.emplace_back(std::string(part.name) + (name == "part" ? "" : "="), part.title);
    return all;
  }
  return choices_of(o);
}

Candidates options_of(const CLI::App& app) {
  Candidates all;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& l : o->get_lnames()) all.emplace_back("--" + l, o->get_description());
  }
  return all;
}

/// The option `word` if it needs a value as the next word.
const CLI::Option* wants_value(const CLI::App& app, const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  const CLI::Option* o = app.get_option_no_throw(word);
  return o && o->get_items_expected_max() > 0 ? o : nullptr;
}

const CLI::App* command_of(const CLI::App& app, const std::string& name) {
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (c->get_name() == name) return c;
  }
  return nullptr;
}

/// Candidates for the last of `words`, which follow the program's name.
Candidates candidates(const CLI::App& program, Words words) {
  const std::string current = words.back();
  words.pop_back();
  const CLI::App* app = &program;
  const CLI::Option* pending = nullptr;
  for (const std::string& w : words) {
    if (w == "--") {  // a command line follows
      app = &program;
      pending = nullptr;
    } else if (w == "=" && pending) {  // --topology=…
    } else if (pending) {
      pending = nullptr;
    } else if (const CLI::App* command = command_of(*app, w)) {
      app = command;
    } else {
      pending = wants_value(*app, w);
    }
  }
  if (pending) return values_of(*pending, words);
  const size_t equals = current.find('=');
  if (equals != std::string::npos) {
    const std::string name = current.substr(0, equals);
    const CLI::Option* o = wants_value(*app, name);
    Candidates all = o ? values_of(*o, words) : Candidates();
    for (auto& [word, help] : all) word.insert(0, name + "=");
    return all;
  }
  if (!current.empty() && current[0] == '-') return options_of(*app);
  Candidates all;
  for (const std::string& name : command_names(*app)) all.emplace_back(name, command_of(*app, name)->get_description());
  for (const CLI::Option* o : app->get_options([](const CLI::Option* p) { return p->get_positional(); })) {
    const Candidates more = values_of(*o, words);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

Command add_completion(CLI::App& program) {
  auto shell = std::make_shared<std::string>();
  CLI::App* cmd = program.add_subcommand("completion", "Print a script for shell completion");
  cmd->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  cmd->footer("source <(kernbench completion bash)\nkernbench completion zsh > FOLDER-OF-FPATH/_kernbench");
  return {cmd, [shell] {
            std::cout << (*shell == "bash" ? kBash : kZsh);
            return 0;
          }};
}

Command add_complete(CLI::App& program) {
  CLI::App* cmd = program.add_subcommand("complete", "Candidates for the last word, for shells");
  cmd->group("");
  auto words = std::make_shared<Words>();
  cmd->add_option("words", *words, "after --: the words after the program's name");
  return {cmd,
          [&program, words] {
            if (words->empty()) words->emplace_back();
            const std::string current = words->back() == "=" ? "" : words->back();
            std::set<std::string> told;
            for (const auto& [word, help] : candidates(program, *words)) {
              if (word.compare(0, current.size(), current) == 0 && told.insert(word).second)
                std::cout << word << "\t" << help << "\n";
            }
            return 0;
          },
          {},
          {},
          /*reads_program=*/true};
}

}  // namespace kernbench::cli
