// What differs between two runs, for people and for tools.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ostream>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/table.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/study/diff/run_diff.h"

namespace kernbench {
namespace {

constexpr size_t kRows = 8;  ///< of each table for people; JSON has all

std::string or_dash(const std::string& s) {
  return s.empty() ? "-" : cut(s);
}

std::string span(const std::optional<std::pair<double, double>>& ns) {
  return ns ? fmt::format("{:.3f} to {:.3f} ns", ns->first, ns->second) : "not there";
}

std::string where(const RunDiff::OpChange& c) {
  return fmt::format("{} op {} {}{}", c.pe, c.seq, c.name, c.line.empty() ? "" : " at " + c.line);
}

/// Of a fraction the digits that mean something.
std::string figure(const std::string& s) {
  double v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  const bool fraction = error == std::errc() && end == s.data() + s.size() && s.find('.') != std::string::npos;
  return fraction ? fmt::format("{:.6g}", v) : or_dash(s);
}

void write_settings(std::ostream& out, const char* title, const std::vector<RunDiff::Setting>& settings,
                    std::string (*text)(const std::string&)) {
  if (settings.empty()) return;
  TextTable t(3, 2);
  t.add({title, "a", "b"});
  for (const RunDiff::Setting& s : settings) t.add({s.key, text(s.a), text(s.b)});
  out << "\n" << t.text();
}

void write_changes(std::ostream& out, const char* title, const std::vector<RunDiff::Change>& changes) {
  if (changes.empty()) return;
  TextTable t(1, 2);
  t.add({title, "a, ns", "b, ns", "by, ns"});
  for (size_t i = 0; i < std::min(kRows, changes.size()); ++i) {
    const RunDiff::Change& c = changes[i];
    t.add({c.name, fmt::format("{:.3f}", c.a_ns), fmt::format("{:.3f}", c.b_ns), fmt::format("{:+.3f}", c.by())});
  }
  out << "\n" << t.text();
  if (changes.size() > kRows) print_to(out, "  and {} more\n", changes.size() - kRows);
}

}  // namespace

void write_diff_text(std::ostream& out, const RunDiff& d) {
  const auto mark = [](bool partial) { return partial ? "  UNFINISHED" : ""; };
  print_to(out, "a  {}  {:.3f} ns{}\nb  {}  {:.3f} ns{}  {:+.3f} ns, {:+.2f} %\n", d.a, d.a_ns, mark(d.a_partial), d.b,
           d.b_ns, mark(d.b_partial), d.b_ns - d.a_ns, 100 * d.slower());
  write_settings(out, "configuration", d.configuration, &or_dash);
  write_settings(out, "figure", d.figures, &figure);
  write_changes(out, "critical path", d.blame);
  write_changes(out, "engines busy", d.engines);
  if (d.ops > 0) {
    print_to(out, "\n  {} of {} ops differ\n", grouped(d.ops_that_differ), grouped(d.ops));
    if (d.first)
      print_to(out, "  first        {}: {}; {}\n", where(*d.first), span(d.first->a_ns), span(d.first->b_ns));
    for (const RunDiff::OpChange& c : d.longest) {
      print_to(out, "  {:+.3f} ns    {}\n", (c.b_ns->second - c.b_ns->first) - (c.a_ns->second - c.a_ns->first),
               where(c));
    }
  }
}

namespace {

void write_op_change(JsonWriter& w, const RunDiff::OpChange& c) {
  w.open('{').field("pe", c.pe).field("seq", c.seq).field("op", c.name).field("line", c.line);
  for (const auto& [key, ns] : {std::pair("a", &c.a_ns), std::pair("b", &c.b_ns)}) {
    w.key(std::string(key));
    if (*ns) {
      w.open('{').field("start_ns", (*ns)->first).field("end_ns", (*ns)->second).close('}');
    } else {
      w.null();
    }
  }
  w.close('}');
}

void write_settings(JsonWriter& w, const char* name, const std::vector<RunDiff::Setting>& settings) {
  w.key(name).open('[');
  for (const RunDiff::Setting& s : settings) w.open('{').field("key", s.key).field("a", s.a).field("b", s.b).close('}');
  w.close(']');
}

void write_changes(JsonWriter& w, const char* name, const std::vector<RunDiff::Change>& changes) {
  w.key(name).open('[');
  for (const RunDiff::Change& c : changes) {
    w.open('{').field("name", c.name).field("a_ns", c.a_ns).field("b_ns", c.b_ns).field("by_ns", c.by()).close('}');
  }
  w.close(']');
}

}  // namespace

void write_diff_json(std::ostream& out, const RunDiff& d) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::indented, JsonWriter::Reals::decimal);
  write_diff(w, d);
  out << text << '\n';
}

void write_diff(JsonWriter& w, const RunDiff& d) {
  w.open('{').field("a", d.a).field("b", d.b);
  if (d.a_partial || d.b_partial) w.field("a_partial", d.a_partial).field("b_partial", d.b_partial);
  w.field("a_ns", d.a_ns).field("b_ns", d.b_ns).field("slower", d.slower());
  write_settings(w, "configuration", d.configuration);
  write_settings(w, "figures", d.figures);
  write_changes(w, "blame", d.blame);
  write_changes(w, "engines", d.engines);
  w.field("ops", static_cast<uint64_t>(d.ops)).field("ops_that_differ", static_cast<uint64_t>(d.ops_that_differ));
  if (d.first) write_op_change(w.key("first"), *d.first);
  w.key("longest").open('[');
  for (const RunDiff::OpChange& c : d.longest) write_op_change(w, c);
  w.close(']').close('}');
}

}  // namespace kernbench
