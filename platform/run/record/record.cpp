// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/record/record.h"

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/text_stream.h"

namespace kernbench {
namespace {

using WireJson = nlohmann::ordered_json;

FigureValue figure_of(const WireJson& v) {
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number_integer()) return v.get<int64_t>();
  if (v.is_number()) return v.get<double>();
  return json_value<std::string>(v);
}

std::vector<std::string> lines_of(const WireJson& list) {
  return json_items(list, json_value<std::string, WireJson>);
}

}  // namespace

FigureValue RunRecord::figure(std::string_view name) const {
  const auto it = std::find_if(figures.begin(), figures.end(), [&](const auto& f) { return f.first == name; });
  return it == figures.end() ? FigureValue() : it->second;
}

double RunRecord::number(std::string_view name) const {
  const FigureValue v = figure(name);
  if (const auto* real = std::get_if<double>(&v)) return *real;
  const auto* whole = std::get_if<int64_t>(&v);
  return whole ? static_cast<double>(*whole) : 0;
}

std::string RunRecord::report() const {
  TextOutput text;
  if (write) write(text);
  return text.str();
}

std::string RunRecord::first_line() const {
  return !told.empty() ? told.front() : !faults.empty() ? faults.front() : "";
}

void throw_faults(const RunRecord& r) {
  if (r.faults.empty()) return;
  if (r.status == 2) throw InputError(r.faults);
  constexpr std::string_view kProgram = "kernbench: ";  // the command line adds the prefix again
  std::vector<std::string> lines = r.faults;
  if (lines[0].compare(0, kProgram.size(), kProgram) == 0) lines[0].erase(0, kProgram.size());
  if (r.status > 128) throw Stopped(r.status - 128, std::move(lines));
  throw RunError(std::move(lines));
}

namespace {

void write_found(JsonWriter& w, const RunRecord& r) {
  w.key("figures").open('{');
  for (const auto& [name, value] : r.figures) w.field(name, value);
  w.close('}').field("verdict", r.verdict).field("wall_s", r.wall_s);
}

}  // namespace

std::string json_of(const RunRecord& r, bool json) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
  w.open('{').field("status", r.status).field("told", r.told);
  write_found(w, r);
  json ? w.key("report").raw(r.report()) : w.field("report", r.report());
  w.close('}');
  return text;
}

std::string packed(const RunRecord& r, bool with_report) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
  w.open('{').field("status", r.status).field("faults", r.faults).field("document", r.document);
  write_found(w, r);
  w.close('}');
  text += '\n';
  if (with_report && r.faults.empty()) text += r.report();
  return text;
}

RunRecord unpacked(const std::string& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const auto v = parse_json<WireJson>(std::string_view(text).substr(0, end));
  RunRecord r;
  r.status = json_field<int>(v, "status");
  r.faults = json_field(v, "faults", lines_of);
  json_field(v, "figures", [&](const WireJson& all) {
    for (const auto& [name, value] : all.items()) {
      if (!value.is_null()) r.figures.emplace_back(name, figure_of(value));
    }
    return 0;
  });
  r.verdict = json_field(v, "verdict", lines_of);
  r.document = json_field<std::string>(v, "document");
  r.wall_s = json_field<double>(v, "wall_s");
  if (r.faults.empty())
    r.write = [report = text.substr(std::min(end + 1, text.size()))](std::ostream& out) { out << report; };
  return r;
}

}  // namespace kernbench
