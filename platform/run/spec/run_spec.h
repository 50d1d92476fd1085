// What a run is asked: the one table of the options of `kernbench run`, and the values that a run was given. The
// command line, reports and logs, keys of stores, plans and requests, pages and the interface for C are made from it: a
// new option is an entry of the table, and the code that acts on it. The other commands that simulate have tables too,
// which share its entries.
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
    flag,      ///< --verify; --explain=verify where `legal` has that
    text,      ///< of `legal` where that is not empty
    whole,     ///< from `least` to `most`
    positive,  ///< a number above 0, up to `most`
    number,
  };
  enum class Often {
    once,
    each,     ///< a list
    named,    ///< NAME=VALUE, each name once; their order decides nothing
    targets,  ///< TARGET=VALUE, in their order
  };
  enum class File { none, topology, energy, input, written };
  enum class Role {
    decides,  ///< results depend on it
    shows,    ///< the report says more
    works,    ///< how the work is done
    ends,     ///< when this machine's clock says so
    writes,   ///< another output, or what stands in it
  };
  std::string_view name;  ///< without --
  std::string_view form;  ///< of the value, for --help: "NAME=FILE.npy"
  std::string_view help;
  std::string_view group = "";  ///< in --help
  Role role = Role::decides;
  Type type = Type::text;
  Often often = Often::once;
  File file = File::none;         ///< what the value names, behind NAME= where it is named
  std::string_view initial = "";  ///< the value of one that is not given; empty: none
  std::vector<std::string_view> legal = {};
  std::vector<std::string_view> needs = {};  ///< one of these must be given beside it
  double least = 0, most = 0;
  bool required = false;
  bool of_run_alone = false;  ///< says nothing of a model
  bool has_names() const { return often == Often::named || often == Often::targets; }
  /// A plan may give it to a point, and a request.
  bool is_of_points() const { return role == Role::decides || role == Role::shows || role == Role::works; }
};

/// What is wrong with a value of the option, behind "--name: "; empty: nothing that can be said without the run.
std::string value_fault(const Option&, const std::string& value);

/// The options of a command, in the order in which --help and reports name them.
struct Table {
  std::string_view command;
  std::vector<Option> options;
  std::string_view positional = "";  ///< the option that a word without -- is; empty: none
  /// Null for another name.
  const Option* find(std::string_view name) const;
  /// std::logic_error for another name.
  const Option& at(std::string_view name) const;
  /// What keys and documents are made of, in the table's order.
  std::vector<const Option*> deciding() const;
};
/// Of `run`, `model`, `traffic`, `pipeline`, `probe` or `collectives`. std::logic_error for another command.
const Table& table_of(std::string_view command);
/// The commands that have one.
std::vector<std::string_view> commands_with_tables();
/// Whether it is a command whose report has a run's figures, which stores keep, tuners compare and logs tell of: `run`
/// or `model`.
bool is_run(std::string_view command);

// Those of `run`.
const std::vector<Option>& options();
const Option* find_option(std::string_view name);
const Option& option(std::string_view name);

/// The values of one run. std::logic_error where an option is asked for that the table lacks, or as what it is not.
class RunSpec {
 public:
  RunSpec() : RunSpec(table_of("run")) {}
  explicit RunSpec(const Table& table) : table_(&table), values_(table.options.size()) {}
  const Table& table() const { return *table_; }
  /// From a command line: the command, which has a table, then --name VALUE, --name=VALUE, --flag, or the value of the
  /// table's positional option. InputError for others, `who` in front; without it as the command line says it. Values
  /// are not checked: check().
  static RunSpec of_words(const std::vector<std::string>& words, const std::string& who = "");

  bool given(std::string_view name) const { return !list(name).empty(); }
  bool flag(std::string_view name) const { return given(name); }
  /// Its value, else its initial one.
  std::string text(std::string_view name) const;
  /// The same; empty where the command has no such option.
  std::string text_or_none(std::string_view name) const { return table_->find(name) ? text(name) : std::string(); }
  /// Of a whole number that is given or has an initial value.
  uint64_t whole(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  /// As they were given, in order.
  const std::vector<std::string>& list(std::string_view name) const { return values_[index_of(name)]; }
  std::vector<std::string>& list(std::string_view name) { return values_[index_of(name)]; }
  /// Of NAME=VALUE. InputError for a word of another form, and a name that stands twice.
  std::vector<std::pair<std::string, std::string>> named(std::string_view name) const;
  /// InputError where one is given without what it needs.
  void check_needs() const;
  /// InputError, as the command line says it, for a value that is not legal, one too many, or a required one that is
  /// missing.
  void check() const;

  /// Instead of what it was.
  void set(std::string_view name, std::string value) { list(name) = {std::move(value)}; }
  /// The same of a flag: "false" is one that is not given.
  void set_flag(std::string_view name, const std::string& value) {
    value == "false" ? list(name).clear() : set(name, value);
  }
  void add(std::string_view name, std::string value) { list(name).push_back(std::move(value)); }

  /// Words that repeat the run: the command and what was given of the options that decide its results.
  std::vector<std::string> words() const;

 private:
  size_t index_of(std::string_view name) const;
  const Table* table_;
  std::vector<std::vector<std::string>> values_;  // by option; a flag's is "true", or the legal value it was given
};

}  // namespace kernbench::spec
