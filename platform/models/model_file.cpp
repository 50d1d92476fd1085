// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/models/families.h"
#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::models {
namespace {

using Field = ModelFile::Field;
using Kind = ModelFile::Kind;
using topology::YamlItem;
using topology::YamlNode;

constexpr double kLargest = 1099511627776.0;  // 2^40
constexpr int64_t kMostLayers = 1 << 16;
constexpr size_t kLongestFile = size_t{1} << 24;

bool is_number(std::string_view text, double* v) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *v);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*v);
}

Field field_of(YamlNode v) {
  Field f;
  f.line = v.line();
  f.text = std::string(v.text());
  double number = 0;
  if (!v.is_scalar()) {
    f.kind = v.is_list() ? Kind::list : Kind::object;
    for (size_t i = 0; v.is_list() && i < v.size(); ++i) f.items.emplace_back(v[i].text());
  } else if (!v.is_quoted() && (f.text == "true" || f.text == "false")) {
    f.kind = Kind::flag;
  } else if (!v.is_quoted() && is_number(f.text, &number)) {
    f.kind = Kind::number;
  } else {
    f.kind = Kind::text;
  }
  return f;
}

void collect(YamlNode map, const std::string& prefix, const std::string& file, std::map<std::string, Field>* fields,
             std::set<std::string>* nulls) {
  for (const YamlItem& item : map) {
    const std::string key = prefix + std::string(item.key.text());
    if (item.value.is_null()) {
      nulls->insert(key);
      continue;
    }
    if (!fields->emplace(key, field_of(item.value)).second)
      throw InputError(fmt::format("{}:{}: {}: stands twice", file, item.key.line(), key));
    if (item.value.is_map() && prefix.empty()) collect(item.value, key + ".", file, fields, nulls);
  }
}

ModelFile parse(const std::string& text, const std::string& name) {
  topology::FaultList faults(name);
  const topology::YamlDocument document = topology::parse_document(text, faults);
  faults.throw_if_any();
  if (!document.root.is_map())
    throw InputError(name + ": expected a model: fields of a config.json, in JSON or YAML, model_type among them");
  std::map<std::string, Field> fields;
  std::set<std::string> nulls;
  collect(document.root, "", name, &fields, &nulls);
  return {name, std::move(fields), std::move(nulls)};
}

std::string list_of_families() {
  std::vector<std::string_view> names;
  for (const Family& f : families()) names.push_back(f.name);
  return joined(names);
}

const Family& family_of(const ModelFile& f) {
  if (!f.has("model_type")) throw InputError(f.name() + ": model_type is missing; legal: " + list_of_families());
  const Family* family = find_family(f.text("model_type"));
  if (!family) f.refuse("model_type", list_of_families());
  return *family;
}

/// Reports all missing fields in one line.
void require(const ModelFile& f, const Family& family) {
  std::vector<std::string_view> missing;
  for (const auto* names : {&common_required(), &family.required}) {
    for (const std::string_view n : *names) {
      if (!f.has(n)) missing.push_back(n);
    }
  }
  if (!missing.empty())
    throw InputError(fmt::format("{}: model_type {}: lacks {}", f.name(), family.name, joined(missing)));
}

/// A config.json has many fields that do not affect the computation, so unknown ones are ignored. YAML is written for
/// this reader, so they are errors.
void refuse_unread(const ModelFile& f, const Family& family) {
  std::set<std::string, std::less<>> known;
  for (const auto* names : {&common_required(), &common_optional(), &family.required, &family.optional})
    known.insert(names->begin(), names->end());
  for (const std::string_view word : {family.words.eps, family.words.rope_theta, family.words.rotary}) {
    if (!word.empty()) known.emplace(word);
  }
  const std::vector<std::string> words(known.begin(), known.end());
  for (const auto& [name, field] : f.fields()) {
    if (known.count(name.substr(0, name.find('.'))) == 0)
      throw InputError(fmt::format("{}:{}: {}: unknown field of model_type {}{} legal: {}", f.name(), field.line, name,
                                   family.name, did_you_mean(name, words), joined(words)));
  }
}

/// Position scaling: rope_scaling, or rope_parameters, which also holds rope_theta (transformers 5).
class RopeFields {
 public:
  RopeFields(const ModelFile& f, const FamilyWords& words)
      : f_(f), words_(words), before_(f.has("rope_parameters") ? "rope_parameters." : "rope_scaling.") {}

  double theta(double fallback) const {
    return has("rope_theta") ? number("rope_theta") : f_.number(words_.rope_theta, fallback);
  }
  /// Rotated elements of a head.
  int64_t rotary(int64_t head_dim, double fallback) const {
    if (words_.rotary.empty()) return head_dim;
    const std::string field =
        has("partial_rotary_factor") ? before_ + "partial_rotary_factor" : std::string(words_.rotary);
    const auto turned = static_cast<int64_t>(static_cast<double>(head_dim) * f_.number(field, fallback));
    if (turned < 2 || turned > head_dim || turned % 2 != 0)
      f_.refuse(field, fmt::format("a share of a head's {} elements that is an even number of them", head_dim));
    return turned;
  }
  /// `positions`: the model's maximum; `fallback`: used if the file gives none.
  RopeScaling scaling(int64_t positions, int64_t turned, double theta, const RopeScaling& fallback) const {
    RopeScaling s;
    for (const char* name : {"rope_scaling", "rope_parameters"}) {
      if (f_.has(name) && f_.fields().at(name).kind != Kind::object) f_.refuse(name, "an object");
    }
    const std::string given = before_.substr(0, before_.size() - 1);
    if (!f_.has(given)) return f_.is_null(given) ? s : fallback;
    const char* key = has("rope_type") ? "rope_type" : "type";
    if (!has(key) && !has("factor")) return s;  // only rope_theta, or nothing
    const std::string type = f_.text(before_ + key);
    if (type == "default") return s;
    if (type == "longrope" || type == "su") return longrope(s, positions, turned);
    if (type != "linear" && type != "llama3" && type != "yarn")
      refuse(key, "default, linear, llama3, yarn or longrope");
    s.factor = number("factor");
    if (type == "yarn") return yarn(s, positions, theta);
    s.kind = RopeScaling::Kind::linear;
    if (type == "linear") return s;
    s.kind = RopeScaling::Kind::llama3;
    s.low_freq_factor = number("low_freq_factor");
    s.high_freq_factor = number("high_freq_factor");
    s.original_positions = f_.whole(before_ + "original_max_position_embeddings");
    if (s.high_freq_factor <= s.low_freq_factor) refuse("high_freq_factor", "more than low_freq_factor");
    return s;
  }

 private:
  bool has(const char* field) const { return f_.has(before_ + field); }
  double number(const char* field, std::optional<double> fallback = {}) const {
    return f_.number(before_ + field, fallback);
  }
  [[noreturn]] void refuse(const char* field, const std::string& expected) const {
    f_.refuse(before_ + field, expected);
  }
  RopeScaling yarn(RopeScaling s, int64_t positions, double theta) const {
    s.kind = RopeScaling::Kind::yarn;
    if (theta <= 1)
      f_.refuse(has("rope_theta") ? before_ + "rope_theta" : std::string(words_.rope_theta), "more than 1 beside yarn");
    s.original_positions = f_.whole(before_ + "original_max_position_embeddings", positions);
    s.beta_fast = number("beta_fast", s.beta_fast);
    s.beta_slow = number("beta_slow", s.beta_slow);
    if (s.beta_fast < s.beta_slow) refuse("beta_fast", "at least beta_slow");
    s.truncate = f_.flag(before_ + "truncate", true);
    s.amplitude = amplitude(s.factor);
    return s;
  }
  /// LongRoPE (Ding et al. 2024), as in Phi-3's files; the original positions may be a field beside it.
  RopeScaling longrope(RopeScaling s, int64_t positions, int64_t turned) const {
    s.kind = RopeScaling::Kind::longrope;
    const char* original = "original_max_position_embeddings";
    const std::string field = has(original) ? before_ + original : original;
    s.original_positions = f_.whole(field, positions);
    if (s.original_positions < 2) f_.refuse(field, "more than 1 beside longrope");
    const auto pairs = static_cast<size_t>(turned / 2);
    s.short_factors = f_.numbers(before_ + "short_factor", pairs);
    s.long_factors = f_.numbers(before_ + "long_factor", pairs);
    const double factor = static_cast<double>(positions) / static_cast<double>(s.original_positions);
    if (has("attention_factor"))
      s.amplitude = number("attention_factor");
    else if (factor > 1)
      s.amplitude = std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(s.original_positions)));
    return s;
  }
  /// Cos and sin are scaled by the factor's logarithm, which sharpens the softmax of longer contexts.
  double amplitude(double factor) const {
    if (has("attention_factor")) return number("attention_factor");
    if (!has("mscale") || !has("mscale_all_dim")) return yarn_amplitude(factor);
    return yarn_amplitude(factor, number("mscale")) / yarn_amplitude(factor, number("mscale_all_dim"));
  }

  const ModelFile& f_;
  const FamilyWords& words_;
  const std::string before_;
};

std::string activation_of(const ModelFile& f, std::string_view fallback) {
  const std::string key = f.has("hidden_activation") ? "hidden_activation" : "hidden_act";
  const std::string name = f.text(key, std::string(fallback));
  if (name == "silu" || name == "swish") return "silu";
  if (name == "gelu") return "gelu";
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return "gelu_tanh";
  f.refuse(key, "silu, gelu, gelu_new or gelu_pytorch_tanh");
}

DType dtype_of(const ModelFile& f) {
  const std::string key = f.has("torch_dtype") ? "torch_dtype" : "dtype";
  const std::string name = f.text(key, "bfloat16");
  if (name == "bfloat16") return DType::bf16;
  if (name == "float16") return DType::f16;
  if (name == "float32") return DType::f32;
  f.refuse(key, "float32, float16 or bfloat16");
}

/// A type, named as in the option, for values that may have their own type.
std::string type_word(const ModelFile& f, std::string_view word, const std::vector<std::string>& legal) {
  const std::string name = f.text(word, "");
  if (!name.empty() && std::find(legal.begin(), legal.end(), name) == legal.end()) f.refuse(word, joined(legal));
  return name;
}

ModelSpec model_of(const ModelFile& f, const Family& family) {
  ModelSpec m;
  m.file = f.name();
  m.family = family.name;
  m.vocab = f.whole("vocab_size");
  m.dim = f.whole("hidden_size");
  m.layers = f.whole("num_hidden_layers");
  if (m.layers > kMostLayers) f.refuse("num_hidden_layers", fmt::format("at most {}", kMostLayers));
  m.heads = f.whole("num_attention_heads");
  const FamilyDefaults& otherwise = family.defaults;
  m.kv_heads = f.whole("num_key_value_heads", otherwise.kv_heads > 0 ? otherwise.kv_heads : m.heads);
  if (m.heads % m.kv_heads != 0)
    f.refuse("num_key_value_heads", fmt::format("a divisor of num_attention_heads, {}", m.heads));
  if (!f.has("head_dim") && otherwise.head_dim == 0 && m.dim % m.heads != 0)
    f.refuse("num_attention_heads", fmt::format("a divisor of hidden_size, {}, or a head_dim", m.dim));
  m.head_dim = f.whole("head_dim", otherwise.head_dim > 0 ? otherwise.head_dim : m.dim / m.heads);
  if (m.head_dim % 2 != 0 || m.head_dim > 512) f.refuse("head_dim", "an even number, at most 512");
  m.hidden = f.whole("intermediate_size");
  m.positions = f.whole("max_position_embeddings", otherwise.positions);
  m.eps = f.number(family.words.eps, otherwise.eps);
  const RopeFields rope(f, family.words);
  m.rotary = rope.rotary(m.head_dim, otherwise.rotary);
  m.rope_theta = rope.theta(otherwise.rope_theta);
  m.rope_scaling = rope.scaling(m.positions, m.rotary, m.rope_theta, otherwise.rope_scaling);
  m.activation = activation_of(f, otherwise.activation);
  m.layer_norm = family.parts.layer_norm;
  m.gated = family.parts.gated;
  m.dtype = dtype_of(f);
  m.weights = type_word(f, "weights", {"f32", "f16", "bf16", "f8", "i8", "i4"});
  m.kv = type_word(f, "kv", {"f32", "f16", "bf16", "f8", "i8"});
  m.activations = type_word(f, "activations", {"f32", "f16", "bf16", "i8"});
  family.settle(f, &m);
  if (m.experts_per_token > m.experts)
    f.refuse("num_experts_per_tok", fmt::format("at most the number of experts, {}", m.experts));
  return m;
}

}  // namespace

const Field* ModelFile::find(std::string_view field) const {
  const auto it = fields_.find(std::string(field));
  return it == fields_.end() ? nullptr : &it->second;
}

void ModelFile::missing(std::string_view field) const {
  throw InputError(fmt::format("{}: {} is missing", name_, field));
}

void ModelFile::refuse(std::string_view field, const std::string& expected) const {
  const Field* f = find(field);
  const std::string found = !f                        ? "nothing"
                            : f->kind == Kind::list   ? "a list"
                            : f->kind == Kind::object ? "an object"
                                                      : in_quotes(f->text);
  throw InputError(fmt::format("{}:{}: {}: found {}, expected {}", name_, f ? f->line : 0, field, found, expected));
}

std::string ModelFile::text(std::string_view field, std::optional<std::string> fallback) const {
  const Field* f = find(field);
  if (!f && !fallback) missing(field);
  if (!f) return *fallback;
  if (f->kind != Kind::text) refuse(field, "text");
  return f->text;
}

int64_t ModelFile::whole(std::string_view field, std::optional<int64_t> fallback) const {
  const Field* f = find(field);
  if (!f && !fallback) missing(field);
  if (!f) return *fallback;
  const double least = fallback == 0 ? 0 : 1;
  double v = 0;
  if (f->kind != Kind::number || !is_number(f->text, &v) || v < least || v > kLargest || v != std::floor(v))
    refuse(field, fmt::format("a whole number from {} to 2^40", least));
  return static_cast<int64_t>(v);
}

double ModelFile::number(std::string_view field, std::optional<double> fallback) const {
  const Field* f = find(field);
  if (!f && !fallback) missing(field);
  if (!f) return *fallback;
  double v = 0;
  if (f->kind != Kind::number || !is_number(f->text, &v) || v <= 0) refuse(field, "a number above 0");
  return v;
}

bool ModelFile::flag(std::string_view field, bool fallback) const {
  const Field* f = find(field);
  if (!f) return fallback;
  if (f->kind != Kind::flag) refuse(field, "true or false");
  return f->text == "true";
}

std::vector<std::string> ModelFile::list(std::string_view field) const {
  const Field* f = find(field);
  if (!f) return {};
  if (f->kind != Kind::list) refuse(field, "a list");
  return f->items;
}

std::vector<double> ModelFile::numbers(std::string_view field, size_t count) const {
  if (!find(field)) missing(field);
  std::vector<double> all;
  for (const std::string& item : list(field)) {
    double v = 0;
    if (is_number(item, &v) && v > 0) all.push_back(v);
  }
  if (all.size() != count || list(field).size() != count)
    refuse(field, fmt::format("a list of {} numbers above 0, one for each rotated pair", count));
  return all;
}

ModelSpec read_model_text(const std::string& text, const std::string& name) {
  const ModelFile f = parse(text, name);
  const Family& family = family_of(f);
  require(f, family);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') refuse_unread(f, family);
  if (f.has("quantization_config"))
    logging::warn(logging::Room::models, [&] {
      const std::string method = f.text("quantization_config.quant_method", "");
      return fmt::format(
          "{}:{}: quantization_config{}: is not read; weights are of the model's dtype unless --weights says another",
          name, f.fields().at("quantization_config").line, method.empty() ? "" : " (" + method + ")");
    });
  return model_of(f, family);
}

ModelSpec read_model(const std::string& file) {
  std::ifstream in = open_input(file);
  const std::string text = read_all(in, file, kLongestFile);
  if (text.size() > kLongestFile) throw InputError(file + ": more than 16 MiB, not a model description");
  ModelSpec model = read_model_text(text, file);
  logging::info(logging::Room::models, [&] { return fmt::format("read {}: {} layers", file, model.layers); });
  return model;
}

}  // namespace kernbench::models
