// `kernbench sweep`: one run or probe for every combination of the values of some options, in processes of their own.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/processes.h"

namespace kernbench::cli {
namespace {

using Row = nlohmann::ordered_json;  // column -> value

constexpr size_t kMostPoints = 100'000;

struct Options {
  std::vector<std::string> over, command;
  unsigned jobs = 0;
  std::string format;
};

/// One option and the values it takes in turn.
struct Axis {
  std::string name;  ///< "links", "param.n"
  std::vector<std::string> values;
  /// The option as the command line wants it.
  std::vector<std::string> arguments(const std::string& value) const {
    const size_t dot = name.find('.');
    if (dot == std::string::npos) return {"--" + name, value};
    return {"--" + name.substr(0, dot), name.substr(dot + 1) + "=" + value};
  }
};

Axis parse_axis(const std::string& text) {
  const auto refuse = [&] {
    return InputError("--over: found '" + text +
                      "', expected OPTION=VALUE,VALUE,… such as links=ideal,flit or "
                      "param.n=64,128");
  };
  Axis axis;
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || text[0] == '-') throw refuse();
  axis.name = text.substr(0, equals);
  for (size_t from = equals + 1; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    axis.values.push_back(text.substr(from, comma - from));
    if (axis.values.back().empty()) throw refuse();
    from = comma + 1;
  }
  return axis;
}

std::vector<Axis> parse_axes(const Options& o) {
  std::vector<Axis> axes;
  size_t points = 1;
  for (const std::string& text : o.over) {
    axes.push_back(parse_axis(text));
    const std::string& name = axes.back().name;
    if (std::count_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.name == name; }) > 1)
      throw InputError("--over: found '" + name + "' twice, expected each option once");
    if (name == "format") throw InputError("--over: found 'format', which the sweep itself sets");
    points *= axes.back().values.size();
    if (points > kMostPoints) throw InputError("--over: more than " + std::to_string(kMostPoints) + " combinations");
  }
  return axes;
}

/// Values of the nth combination, one an axis; the last axis runs fastest.
std::vector<std::string> combination(const std::vector<Axis>& axes, size_t n) {
  std::vector<std::string> values(axes.size());
  for (size_t a = axes.size(); a-- > 0; n /= axes[a].values.size())
    values[a] = axes[a].values[n % axes[a].values.size()];
  return values;
}

/// What a point's own output says, a row for each of its results.
std::vector<Row> results_of(const std::string& command, const std::string& output) {
  const Row j = Row::parse(output);
  if (command == "run") {
    Row row = {{"sim_ns", j.at("sim_ns")}};
    row["verified"] = j.contains("verify") ? j["verify"].at("passed") : Row();
    return {row};
  }
  std::vector<Row> rows;
  for (const Row& c : j) {
    Row row;
    for (const char* key : {"case", "bytes", "actual_ns", "formula_ns", "eff_bw_gbs", "util_pct"}) row[key] = c.at(key);
    rows.push_back(row);
  }
  return rows;
}

std::string csv_field(const Row& value) {
  const std::string text = value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

/// Prints rows as they come.
class Table {
 public:
  Table(bool json, const std::vector<std::string>& columns) : json_(json), columns_(columns) {
    if (json_) {
      std::cout << "[";
      return;
    }
    for (const std::string& c : columns_) std::cout << (&c == &columns_[0] ? "" : ",") << csv_field(c);
    std::cout << "\n";
  }
  void add(const Row& row) {
    if (json_) {
      std::cout << (first_ ? "\n " : ",\n ") << row.dump();
    } else {
      for (const std::string& c : columns_)
        std::cout << (&c == &columns_[0] ? "" : ",") << (row.contains(c) ? csv_field(row.at(c)) : "");
      std::cout << "\n";
    }
    std::cout << std::flush;
    first_ = false;
  }
  void end() {
    if (json_) std::cout << "\n]\n";
  }

 private:
  bool json_;
  std::vector<std::string> columns_;
  bool first_ = true;
};

std::vector<std::vector<std::string>> command_lines(const Options& o, const std::vector<Axis>& axes, size_t jobs) {
  const auto given = [&](const char* option) {
    return std::find(o.command.begin(), o.command.end(), option) != o.command.end();
  };
  if (given("--format")) throw InputError("sweep: found --format in the command, which the sweep itself sets");
  size_t points = 1;
  for (const Axis& a : axes) points *= a.values.size();
  std::vector<std::vector<std::string>> lines;
  for (size_t n = 0; n < points; ++n) {
    std::vector<std::string> line = o.command;
    const std::vector<std::string> values = combination(axes, n);
    for (size_t a = 0; a < axes.size(); ++a) {
      for (const std::string& word : axes[a].arguments(values[a])) line.push_back(word);
    }
    line.insert(line.end(), {"--format", "json"});
    // The processors are shared among the runs already; results do not depend on threads.
    if (o.command[0] == "run" && jobs > 1 && !given("--threads")) line.insert(line.end(), {"--threads", "1"});
    lines.push_back(std::move(line));
  }
  return lines;
}

int sweep(const Options& o) {
  if (o.command[0] != "run" && o.command[0] != "probe")
    throw InputError("sweep: found '" + o.command[0] + "', expected run or probe with its options");
  const std::vector<Axis> axes = parse_axes(o);
  const size_t jobs = o.jobs > 0 ? o.jobs : std::max(1u, std::thread::hardware_concurrency());
  const auto lines = command_lines(o, axes, jobs);
  std::vector<std::string> columns;
  for (const Axis& a : axes) columns.push_back(a.name);
  columns.push_back("exit");
  const auto own = o.command[0] == "run"
                       ? std::vector<std::string>{"sim_ns", "verified"}
                       : std::vector<std::string>{"case", "bytes", "actual_ns", "formula_ns", "eff_bw_gbs", "util_pct"};
  columns.insert(columns.end(), own.begin(), own.end());

  Table table(o.format == "json", columns);
  ProgressLine progress;
  int worst = 0;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  run_processes(self, lines, jobs, [&](size_t n, const ProcessResult& r) {
    progress.clear();
    Row point;
    const std::vector<std::string> values = combination(axes, n);
    std::string name;
    for (size_t a = 0; a < axes.size(); ++a) {
      point[axes[a].name] = values[a];
      name += (a ? " " : "") + axes[a].name + "=" + values[a];
    }
    point["exit"] = r.status;
    worst = std::max(worst, r.status == 0 || r.status == 2 ? r.status : 1);
    if (!r.err.empty()) std::cerr << name << ": " << r.err.substr(0, r.err.find('\n')) << "\n";
    // A run that failed its verification has times all the same; one that crashed may have left half a text.
    const bool whole = r.status <= 1 && !r.out.empty();
    for (const Row& result : !whole ? std::vector<Row>{Row::object()} : results_of(o.command[0], r.out)) {
      Row row = point;
      row.update(result);
      table.add(row);
    }
    progress.show("swept " + std::to_string(n + 1) + " of " + std::to_string(lines.size()));
  });
  table.end();
  return worst;
}

}  // namespace

Command add_sweep(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand(
      "sweep", "Do a run or a probe for every combination of some options' values, several at a time, as a table");
  cmd->add_option("--over", o->over,
                  "an option of the command and the values it takes in turn; param.n for --param n=… (repeatable, the "
                  "last runs fastest)")
      ->required()
      ->allow_extra_args(false)
      ->type_name("OPTION=V,V,…");
  cmd->add_option("--jobs", o->jobs, "processes at a time; 0: one a processor")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_format(*cmd, o->format, {"csv", "json"});
  cmd->add_option("command", o->command, "behind --: run or probe, with the options that stay the same")->required();
  cmd->footer(
      "kernbench sweep --over links=ideal,cut_through,flit --over param.n=64,128 -- run --topology small.yaml "
      "--kernel gemm\n"
      "Rows come in the order of the combinations, whatever the number of processes. Exit status: the worst of all.");
  return {cmd, [o] { return sweep(*o); }};
}

}  // namespace kernbench::cli
