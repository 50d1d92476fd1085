// SPDX-License-Identifier: Apache-2.0
// Specification of a run: the table of the options of `kernbench run`, and the values of one run. The command line,
// reports, logs, keys of stores, plans, requests, web forms and the C interface derive from the table. A new option is
// one entry and the code that uses it. The other simulating commands have tables that share its entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernbench::spec {

struct Option {
  enum class Type {
    flag,      ///< --verify; --explain=verify if `legal` lists that
    text,      ///< one of `legal`, unless that is empty
    whole,     ///< from `least` to `most`
    positive,  ///< a number above 0, up to `most`
    number,
  };
  enum class Often {
    once,
    each,     ///< a list
    named,    ///< NAME=VALUE, each name once; the order does not matter
    targets,  ///< TARGET=VALUE; the order matters
  };
  enum class File { none, topology, energy, input, written };
  /// Further files that the named one brings along: the external data of an ONNX graph, a waveform's GTKWave files,
  /// SQLite's files beside a database.
  enum class Beside { none, external_data, waveform_views, database };
  enum class Role {
    decides,  ///< affects results
    shows,    ///< adds to the report
    works,    ///< affects only how the work is done
    ends,     ///< stops a run by wall-clock time
    writes,   ///< another output file, or its contents
  };
  std::string_view name;  ///< without --
  std::string_view form;  ///< form of the value in --help: "NAME=FILE.npy"
  std::string_view help;
  std::string_view group = "";  ///< in --help
  Role role = Role::decides;
  Type type = Type::text;
  Often often = Often::once;
  File file = File::none;  ///< file named by the value, after NAME= if the option has names
  Beside beside = Beside::none;
  std::string_view initial = "";  ///< default; empty: none
  std::vector<std::string_view> legal = {};
  std::vector<std::string_view> needs = {};  ///< requires one of these options
  double least = 0, most = 0;
  bool required = false;
  bool of_run_alone = false;     ///< not for models
  bool beside_requests = false;  ///< of `model`: also legal with --requests or --synthetic
  std::string_view alias = "";   ///< an older name that commands still accept; empty: none
  bool is_named(std::string_view n) const { return n == name || (!alias.empty() && n == alias); }
  bool has_names() const { return often == Often::named || often == Often::targets; }
  /// Whether plans and requests may set it for a point.
  bool is_of_points() const { return role == Role::decides || role == Role::shows || role == Role::works; }
};

/// Error in a value, to print after "--name: "; empty: none detectable without the run.
std::string value_fault(const Option&, const std::string& value);

/// The options of a command, in the order of --help and reports.
struct Table {
  std::string_view command;
  std::vector<Option> options;
  std::string_view positional = "";  ///< the option of a word without --; empty: none
  /// Null for an unknown name. Also finds an alias.
  const Option* find(std::string_view name) const;
  /// std::logic_error for an unknown name.
  const Option& at(std::string_view name) const;
  /// Options in keys and documents, in the table's order.
  std::vector<const Option*> deciding() const;
};
/// Table of `run`, `model`, `traffic`, `pipeline`, `probe` or `collectives`. std::logic_error for another command.
const Table& table_of(std::string_view command);
/// The commands with a table.
std::vector<std::string_view> commands_with_tables();
/// Whether the command's report has figures of a run, for stores, tuners and logs: `run` or `model`.
bool is_run(std::string_view command);

// Those of `run`.
const std::vector<Option>& options();
const Option* find_option(std::string_view name);
const Option& option(std::string_view name);

/// The values of one run. std::logic_error for an option that the table lacks, or for a value of the wrong type.
class RunSpec {
 public:
  RunSpec() : RunSpec(table_of("run")) {}
  explicit RunSpec(const Table& table) : table_(&table), values_(table.options.size()) {}
  const Table& table() const { return *table_; }
  /// From a command line: the command, which has a table, then --name VALUE, --name=VALUE, --flag, or the value of the
  /// positional option. InputError for other words, beginning with `who`, or without it in the form of the command
  /// line. Values are not checked: check().
  static RunSpec of_words(const std::vector<std::string>& words, const std::string& who = "");

  bool given(std::string_view name) const { return !list(name).empty(); }
  bool flag(std::string_view name) const { return given(name); }
  /// Its value, else its default.
  std::string text(std::string_view name) const;
  /// The same; empty if the command has no such option.
  std::string text_or_none(std::string_view name) const { return table_->find(name) ? text(name) : std::string(); }
  /// Value of an integer option that is given or has a default.
  uint64_t whole(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  /// Values as given, in order.
  const std::vector<std::string>& list(std::string_view name) const { return values_[index_of(name)]; }
  std::vector<std::string>& list(std::string_view name) { return values_[index_of(name)]; }
  /// Values of the form NAME=VALUE. InputError for another form, and for a repeated name.
  std::vector<std::pair<std::string, std::string>> named(std::string_view name) const;
  /// InputError if an option is given without one that it requires.
  void check_needs() const;
  /// Whether an option that the given one needs is given, or it needs none.
  bool has_needs_of(const Option&) const;
  /// InputError, as on the command line, for an illegal value, a repeated option, or a missing required option.
  void check() const;

  /// Replaces all values.
  void set(std::string_view name, std::string value) { list(name) = {std::move(value)}; }
  /// The same of a flag: "false" is one that is not given.
  void set_flag(std::string_view name, const std::string& value) {
    value == "false" ? list(name).clear() : set(name, value);
  }
  void add(std::string_view name, std::string value) { list(name).push_back(std::move(value)); }

  /// Words that repeat the run: the command and the given options that affect its results.
  std::vector<std::string> words() const;

 private:
  size_t index_of(std::string_view name) const;
  const Table* table_;
  std::vector<std::vector<std::string>> values_;  // by option; a flag's value is "true", or a legal value
};

}  // namespace kernbench::spec
