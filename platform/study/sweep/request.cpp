// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/request.h"

#include <fmt/format.h>

#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/study/sweep/point_options.h"

namespace kernbench::sweep {
namespace {

using OrderedJson = nlohmann::ordered_json;  // keeps the order of ordered options

constexpr int kProtocol = 1;
constexpr size_t kLongestId = 100;

std::string id_of(const OrderedJson& v) {
  if (v.is_number_integer()) return json_text(v);
  if (v.is_string() && v.get_ref<const std::string&>().size() <= kLongestId) return json_text(v);
  throw JsonFault(fmt::format("found {}, expected a whole number or a text of up to {} bytes", shown(v), kLongestId));
}

std::string value_of(const OrderedJson& v) {
  if (v.is_string()) return v.get<std::string>();
  if (v.is_boolean()) return v.get<bool>() ? "true" : "false";
  if (v.is_number_integer()) return json_text(v);
  if (!v.is_number())
    throw JsonFault("found " + shown(v) + ", expected a number, a text, true, false, or a list of them");
  std::string text;
  append_shortest(text, v.get<double>());
  return text;
}

/// The words of an option; a list gives a repeated option.
void add_option(const std::string& name, const OrderedJson& value, Words* words) {
  const spec::Table& table = spec::table_of(words->front());
  std::string fault = option_name_fault(table, name);
  if (!fault.empty()) throw JsonFault(fault);
  if (value.is_array() && value.empty()) throw JsonFault("found [], expected one value or more");
  for (const OrderedJson& item : value.is_array() ? value : OrderedJson::array({value})) {
    const std::string v = value_of(item);
    fault = option_value_fault(table, name, v);
    // A NUL byte would end the word of a command line.
    if ((name + v).find('\0') != std::string::npos) fault = "found a character 0, which no option has";
    if (!fault.empty()) throw JsonFault(fault);
    for (std::string& word : option_words(name, v)) words->push_back(std::move(word));
  }
}

}  // namespace

PointRequest parse_request(std::string_view line, const Words& base) {
  PointRequest r;
  r.words = base;
  try {
    const auto request = parse_json_document<OrderedJson>(line);
    r.id = json_field(request, "id", id_of);
    for (const auto& [key, value] : request.items()) {
      if (key != "id" && key != "options") throw JsonFault(in_quotes(key) + ": unknown field; legal: id, options");
    }
    if (!request.contains("options")) return r;
    const OrderedJson& options = request["options"];
    if (!options.is_object()) throw JsonFault("options: found " + shown(options) + ", expected an object");
    for (const auto& [name, value] : options.items()) {
      try {
        add_option(name, value, &r.words);
      } catch (const JsonFault& e) {
        throw JsonFault("options." + cut(name) + ": " + e.what());
      }
    }
  } catch (const JsonFault& e) {
    r.fault = e.what();
  }
  return r;
}

std::string greeting(const std::string& version) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::spaced);
  w.open('{').field("kernbench", version).field("protocol", kProtocol).close('}');
  return text + "\n";
}

std::string answer(const std::string& id, const PointResult& r, bool stored) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::spaced, JsonWriter::Reals::decimal);
  w.open('{').key("id").raw(id).field("status", r.status);
  if (!r.error.empty()) w.field("error", escaped(r.error));
  if (!r.metrics.is_null()) w.key("metrics").raw(json_text(r.metrics)).field("wall_s", r.wall_s);
  if (stored) w.field("stored", true);
  w.close('}');
  return text + "\n";
}

std::string refusal(const std::string& id, const std::string& fault) {
  return answer(id, {2, fault, nullptr, 0}, false);
}

}  // namespace kernbench::sweep
