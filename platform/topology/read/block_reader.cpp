// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/read/block_reader.h"

#include "kernbench/phase2/text/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernbench::topology {

std::optional<std::string> read_id(YamlMap& map) {
  const auto id = map.require_string("id", "a text, its own in the file");
  const auto illegal = [](unsigned char c) { return c <= ' ' || c == '"' || c == '\\' || c == ','; };
  if (!id || std::none_of(id->begin(), id->end(), illegal)) return id;
  map.faults().add(map.line_of_key("id"), map.field("id"),
                   "found '" + cut(*id) + "'; legal: a text without blanks, commas, quotes, backslashes");
  return std::nullopt;
}

namespace {

constexpr double kMostInteger = 2147483647;  // counts beyond 32 bits are mistakes
constexpr double kMostAddress = 4294967295;  // for attributes that declare a maximum up to here

NumberRule rule_of(const AttrSpec& spec) {
  NumberRule rule;
  rule.min = std::max(rule.min, spec.min);
  rule.max = std::min(rule.max, spec.max);
  rule.min_exclusive = spec.min_exclusive && spec.min >= -1e15;
  rule.unit = spec.unit.c_str();
  return rule;
}

void read_integer(YamlNode n, const std::string& field, const AttrSpec& spec, Attributes& attrs, FaultList& faults) {
  const double least = std::max(0.0, spec.min + (spec.min_exclusive ? 1 : 0));
  const double most = spec.max <= kMostAddress ? spec.max : kMostInteger;
  const auto v = read_unsigned(n, field, static_cast<uint64_t>(least), static_cast<uint64_t>(most), faults);
  if (!v) return;
  if (spec.power_of_two && (*v == 0 || (*v & (*v - 1)) != 0)) {
    faults.add(n.line(), field, fmt::format("found '{}'; legal: a power of two", *v));
  } else if (*v % spec.multiple_of != 0) {
    faults.add(n.line(), field, fmt::format("found '{}'; legal: a multiple of {}", *v, spec.multiple_of));
  } else {
    attrs.set(spec.name, static_cast<int64_t>(*v));
  }
}

void read_map(YamlNode n, const std::string& field, const AttrSpec& spec, Attributes& attrs, FaultList& faults) {
  YamlMap map(n, field, faults);
  if (!map.valid()) return;
  NumberMap values;
  for (const auto& [key, value] : map.entries()) {
    if (!spec.is_legal(key)) {
      const std::vector<std::string> legal = spec.legal_texts();
      faults.add(value.line(), map.field(cut(key)),
                 "unknown name" + did_you_mean(key, legal) + " legal: " + joined(legal));
      continue;
    }
    if (const auto v = read_number(value, map.field(cut(key)), rule_of(spec), faults)) values[key] = *v;
  }
  attrs.set(spec.name, std::move(values));
}

void read_text(YamlNode n, const std::string& field, const AttrSpec& spec, Attributes& attrs, FaultList& faults) {
  auto v = read_string(n, field, faults);
  if (!v) return;
  if (const std::vector<std::string> legal = spec.legal_texts(); !spec.is_legal(*v))
    faults.add(n.line(), field, "found '" + cut(*v) + "'" + did_you_mean(*v, legal) + " legal: " + joined(legal));
  else
    attrs.set(spec.name, std::move(*v));
}

}  // namespace

void read_attribute(YamlNode n, const std::string& field, const AttrSpec& spec, Attributes& attrs, FaultList& faults) {
  switch (spec.type) {
    case AttrType::number:
      if (const auto v = read_number(n, field, rule_of(spec), faults)) attrs.set(spec.name, *v);
      break;
    case AttrType::integer:
      read_integer(n, field, spec, attrs, faults);
      break;
    case AttrType::boolean:
      if (const auto v = read_boolean(n, field, faults)) attrs.set(spec.name, *v);
      break;
    case AttrType::string:
      read_text(n, field, spec, attrs, faults);
      break;
    case AttrType::number_map:
      read_map(n, field, spec, attrs, faults);
      break;
  }
}

namespace {

std::string legal_of(const AttrSpec& spec) {
  switch (spec.type) {
    case AttrType::number:
      return rule_of(spec).to_string();
    case AttrType::integer:
      return spec.unit.empty() ? "an integer" : "an integer (" + spec.unit + ")";
    case AttrType::boolean:
      return "true or false";
    case AttrType::string:
      return spec.legal_texts().empty() ? "a text" : joined(spec.legal_texts());
    case AttrType::number_map:
      break;
  }
  return "a mapping of names to numbers";
}

Attributes read_attributes(YamlNode node, const std::string& field, const ImplSpec& spec, int line, FaultList& faults) {
  Attributes attrs;
  const size_t before = faults.count();
  // `attrs:` without a value is an empty mapping.
  if (node.is_defined() && !node.is_null()) {
    YamlMap map(node, field, faults);
    line = map.line() > 0 ? map.line() : line;
    bool all_known = true;
    // Values keep the order of the file.
    for (const auto& [key, value] : map.entries()) {
      const auto a = std::find_if(spec.attributes.begin(), spec.attributes.end(),
                                  [&k = key](const AttrSpec& s) { return s.name == k; });
      all_known = all_known && a != spec.attributes.end();
      if (a != spec.attributes.end()) read_attribute(value, map.field(key), *a, attrs, faults);
    }
    if (!all_known) {
      for (const AttrSpec& a : spec.attributes) map.take(a.name);
      map.finish();
    }
  }
  // Undefined if absent; without a line if set by an override.
  const auto key_given = [&](const std::string& name) {
    for (const YamlItem& item : node) {
      if (item.key.text() == name) return item.key;
    }
    return YamlNode();
  };
  for (const AttrSpec& a : spec.attributes) {
    if (a.required && !key_given(a.name).is_defined())
      faults.add(line, field + "." + a.name, "missing, " + spec.impl + " has no default; legal: " + legal_of(a));
  }
  if (faults.count() > before || !spec.fault_together) return attrs;
  if (const auto fault = spec.fault_together(attrs)) {
    const int given = key_given(fault->attribute).line();
    faults.add(given > 0 ? given : line, field + "." + fault->attribute, fault->text);
  }
  return attrs;
}

/// Implementations in the catalog, for messages.
std::vector<std::string> impls_of(const ImplCatalog& catalog, const std::string& kind) {
  std::vector<std::string> impls;
  for (const ImplSpec* s : catalog.all()) {
    if (s->kind == kind) impls.push_back(s->impl);
  }
  return impls;
}

std::string unknown_word(const std::string& what, const std::string& word, const std::vector<std::string>& legal) {
  return "unknown " + what + " '" + cut(word) + "'" + did_you_mean(word, legal) + " legal: " + joined(legal);
}

/// The block's kind; for an unknown one null and an error that lists the known ones.
const Kind* read_kind(Block& block, const ImplCatalog& catalog, int line, const std::string& field, FaultList& faults) {
  const Kind* kind = catalog.kinds().find(block.kind);
  if (!kind) {
    faults.add(line, field, unknown_word("kind", block.kind, catalog.kinds().names()));
    return nullptr;
  }
  block.transit = kind->facts.transit;
  block.initiator = kind->facts.initiator;
  block.space = kind->facts.memory;
  return kind;
}

/// The specification of an implementation of that kind, or null and an error.
const ImplSpec* find_spec(const std::string& kind, const std::string& impl, const ImplCatalog& catalog, int line,
                          const std::string& field, FaultList& faults) {
  const ImplSpec* spec = catalog.find(impl);
  if (!spec) {
    std::string fault = unknown_word("impl", impl, impls_of(catalog, kind));
    if (impl.compare(0, 8, "builtin.") != 0) fault += "; others come with a plug-in (--plugin LIB.so)";
    faults.add(line, field, fault);
  } else if (spec->kind != kind) {
    faults.add(line, field,
               "found '" + cut(impl) + "', which is of kind " + spec->kind + ", on a node of kind " + kind +
                   "; legal: " + joined(impls_of(catalog, kind)));
    spec = nullptr;
  }
  return spec;
}

}  // namespace

Block read_block(YamlMap& map, const std::string& fixed_kind, const ImplCatalog& catalog) {
  Block block;
  block.line = map.line();
  FaultList& faults = map.faults();
  block.kind = fixed_kind;
  if (fixed_kind.empty() || map.has("kind")) {
    const auto kind =
        map.has("kind") ? map.string("kind") : map.require_string("kind", joined(catalog.kinds().names()));
    if (!kind) return block;
    if (fixed_kind.empty()) {
      block.kind = *kind;
    } else if (*kind != fixed_kind) {
      faults.add(map.line_of_key("kind"), map.field("kind"), "found '" + cut(*kind) + "'; legal here: " + fixed_kind);
    }
  }
  const Kind* known = read_kind(block, catalog, map.line_of_key("kind"), map.field("kind"), faults);
  const auto impl = map.string("impl");
  block.impl = impl.value_or("builtin." + block.kind);

  if (const auto transit = map.boolean("transit")) {
    if (*transit && known && !known->facts.transit && !known->stated_by.empty())
      faults.add(map.line_of_key("transit"), map.field("transit"),
                 "found 'true'; legal: false, as a node of kind " + block.kind + " can only be an end of a path");
    block.transit = *transit;
  }

  const YamlNode attrs = map.take("attrs");
  if (!known) return block;  // without a kind nothing else can be checked
  const ImplSpec* spec = find_spec(block.kind, block.impl, catalog, map.line_of_key("impl"), map.field("impl"), faults);
  if (spec) block.attrs = read_attributes(attrs, map.field("attrs"), *spec, map.line(), faults);
  return block;
}

Block default_block(const std::string& kind, const ImplCatalog& catalog, int line, const std::string& field,
                    FaultList& faults) {
  Block block;
  block.kind = kind;
  block.impl = "builtin." + kind;
  block.line = line;
  const ImplSpec* spec = read_kind(block, catalog, line, field, faults)
                             ? find_spec(kind, block.impl, catalog, line, field, faults)
                             : nullptr;
  if (spec) read_attributes(YamlNode(), field + ".attrs", *spec, line, faults);
  return block;
}

}  // namespace kernbench::topology
