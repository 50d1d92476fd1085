#include "kernbench/platform/tools/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <thread>
#include <utility>
#include <variant>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/tools/processes.h"

namespace kernbench {
namespace {

constexpr size_t kMostPoints = 100'000;
const std::vector<std::string> kRunColumns = {"sim_ns", "verified"};
const std::vector<std::string> kProbeColumns = {"case", "bytes", "actual_ns", "formula_ns", "eff_bw_gbs", "util_pct"};

using Words = std::vector<std::string>;

/// One option and the values it takes in turn.
struct Axis {
  std::string name;  ///< "links", "param.n"
  Words values;
  /// The option as the command line wants it.
  Words arguments(const std::string& value) const {
    const size_t dot = name.find('.');
    if (dot == std::string::npos) return {"--" + name, value};
    return {"--" + name.substr(0, dot), name.substr(dot + 1) + "=" + value};
  }
};

Axis parse_axis(const std::string& text) {
  Axis axis;
  const size_t equals = text.find('=');
  bool good = equals != std::string::npos && equals > 0 && text[0] != '-';
  if (good) axis.name = text.substr(0, equals);
  for (size_t from = equals + 1; good && from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    axis.values.push_back(text.substr(from, comma - from));
    good = comma > from;
    from = comma + 1;
  }
  if (good) return axis;
  throw InputError(fmt::format(
      "--over: found '{}', expected OPTION=VALUE,VALUE,… such as links=ideal,flit or param.n=64,128", text));
}

class Sweep {
 public:
  explicit Sweep(const SweepOptions& o)
      : command_(o.command), jobs_(o.jobs > 0 ? o.jobs : std::max(1u, std::thread::hardware_concurrency())) {
    if (command_[0] != "run" && command_[0] != "probe")
      throw InputError(fmt::format("sweep: found '{}', expected run or probe with its options", command_[0]));
    for (const std::string& text : o.over) add(parse_axis(text));
    if (given("--format")) throw InputError("sweep: found --format in the command, which the sweep itself sets");
  }

  bool runs() const { return command_[0] == "run"; }
  size_t jobs() const { return jobs_; }
  const std::vector<Axis>& axes() const { return axes_; }

  /// Values of the nth combination, one an axis; the last axis runs fastest.
  Words combination(size_t n) const {
    Words values(axes_.size());
    for (size_t a = axes_.size(); a-- > 0; n /= axes_[a].values.size())
      values[a] = axes_[a].values[n % axes_[a].values.size()];
    return values;
  }

  std::vector<Words> command_lines() const {
    std::vector<Words> lines;
    for (size_t n = 0; n < points_; ++n) {
      Words line = command_;
      const Words values = combination(n);
      for (size_t a = 0; a < axes_.size(); ++a) {
        for (const std::string& word : axes_[a].arguments(values[a])) line.push_back(word);
      }
      line.insert(line.end(), {"--format", "json"});
      // The processors are shared among the runs already; results do not depend on threads.
      if (runs() && jobs_ > 1 && !given("--threads")) line.insert(line.end(), {"--threads", "1"});
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  void add(Axis axis) {
    if (std::any_of(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == axis.name; }))
      throw InputError(fmt::format("--over: found '{}' twice, expected each option once", axis.name));
    if (axis.name == "format") throw InputError("--over: found 'format', which the sweep itself sets");
    points_ *= axis.values.size();
    if (points_ > kMostPoints) throw InputError(fmt::format("--over: more than {} combinations", kMostPoints));
    axes_.push_back(std::move(axis));
  }
  bool given(const char* option) const { return std::find(command_.begin(), command_.end(), option) != command_.end(); }

  const Words& command_;
  size_t jobs_;
  std::vector<Axis> axes_;
  size_t points_ = 1;
};

using Cell = std::variant<std::monostate, bool, int64_t, double, std::string>;

/// Cells by column, in the order in which they are first set.
class Row {
 public:
  void set(const std::string& column, Cell value) {
    const auto it = std::find_if(cells_.begin(), cells_.end(), [&](const auto& c) { return c.first == column; });
    (it == cells_.end() ? cells_.emplace_back(column, Cell()) : *it).second = std::move(value);
  }
  /// Empty where it was not set.
  Cell at(const std::string& column) const {
    const auto it = std::find_if(cells_.begin(), cells_.end(), [&](const auto& c) { return c.first == column; });
    return it == cells_.end() ? Cell() : it->second;
  }
  const std::vector<std::pair<std::string, Cell>>& cells() const { return cells_; }

 private:
  std::vector<std::pair<std::string, Cell>> cells_;
};

Cell cell_of(const nlohmann::json& v) {
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number_integer()) return v.get<int64_t>();
  if (v.is_number()) return v.get<double>();
  return v.get<std::string>();
}

/// A point's rows: one for each result that its own output has.
std::vector<Row> rows_of(const Row& point, bool run, const std::string& output) {
  const auto j = nlohmann::json::parse(output);
  std::vector<Row> rows;
  if (run) {
    rows.push_back(point);
    rows.back().set("sim_ns", cell_of(j.at("sim_ns")));
    rows.back().set("verified", j.contains("verify") ? cell_of(j["verify"].at("passed")) : Cell());
    return rows;
  }
  for (const auto& result : j) {
    rows.push_back(point);
    for (const std::string& column : kProbeColumns) rows.back().set(column, cell_of(result.at(column)));
  }
  return rows;
}

std::string csv_field(const Cell& value) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  const auto* text = std::get_if<std::string>(&value);
  if (!text) {
    std::string number;
    JsonWriter(number, JsonWriter::Layout::compact, JsonWriter::Reals::decimal).value(value);
    return number;
  }
  if (text->find_first_of(",\"\n") == std::string::npos) return *text;
  std::ostringstream out;
  out << std::quoted(*text, '"', '"');
  return out.str();
}

/// Writes rows as they come.
class Table {
 public:
  Table(std::ostream& out, bool json, Words columns) : out_(out), json_(json), columns_(std::move(columns)) {
    if (json_) {
      writer_.open('[');
    } else {
      line([](const std::string& column) { return csv_field(column); });
    }
  }
  void add(const Row& row) {
    if (json_) {
      writer_.new_line(1).open('{');
      for (const auto& [column, value] : row.cells()) writer_.field(column, value);
      writer_.close('}');
    } else {
      line([&](const std::string& column) { return csv_field(row.at(column)); });
    }
    flush();
  }
  void end() {
    if (!json_) return;
    writer_.new_line(0).close(']');
    text_ += '\n';
    flush();
  }

 private:
  template <class Field>
  void line(const Field& field) {
    for (const std::string& column : columns_) text_ += (&column == &columns_[0] ? "" : ",") + field(column);
    text_ += '\n';
  }
  void flush() {
    out_ << text_ << std::flush;
    text_.clear();
  }

  std::ostream& out_;
  bool json_;
  Words columns_;
  std::string text_;
  JsonWriter writer_{text_, JsonWriter::Layout::compact, JsonWriter::Reals::decimal};
};

}  // namespace

int sweep(const SweepOptions& options, std::ostream& out, const SweepWatcher& watcher) {
  const Sweep sweep(options);
  const std::vector<Words> lines = sweep.command_lines();
  Words columns;
  for (const Axis& a : sweep.axes()) columns.push_back(a.name);
  columns.push_back("exit");
  for (const std::string& column : sweep.runs() ? kRunColumns : kProbeColumns) columns.push_back(column);
  Table table(out, options.json, columns);
  int worst = 0;
  run_processes(options.program, lines, sweep.jobs(), [&](size_t n, const ProcessResult& r) {
    Row point;
    const Words values = sweep.combination(n);
    Words name;
    for (size_t a = 0; a < values.size(); ++a) {
      point.set(sweep.axes()[a].name, values[a]);
      name.push_back(sweep.axes()[a].name + "=" + values[a]);
    }
    point.set("exit", int64_t{r.status});
    worst = std::max(worst, r.status == 0 || r.status == 2 ? r.status : 1);
    watcher.ended(fmt::format("{}", fmt::join(name, " ")), r.err.substr(0, r.err.find('\n')));
    // A run that failed its verification has times all the same; one that crashed may have left half a text.
    const bool whole = r.status <= 1 && !r.out.empty();
    for (const Row& row : whole ? rows_of(point, sweep.runs(), r.out) : std::vector<Row>{point}) table.add(row);
    watcher.written(n + 1, lines.size());
  });
  table.end();
  return worst;
}

}  // namespace kernbench
