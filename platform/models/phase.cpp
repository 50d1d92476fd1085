// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::models {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 24;  // tokens, sequences, steps
constexpr const char* kLegal =
    "prefill:N, decode:batch=B,context=C[,steps=S][,page=T] or mixed:prefill=N,batch=B,context=C[,page=T]";
constexpr int64_t kGroup = 128;  // 4-bit weights along k that share a scale, as in GPTQ and AWQ

[[noreturn]] void refuse(const std::string& phase, const std::string& why) {
  throw InputError(fmt::format("--phase: found {}: {}; legal: {}", in_quotes(phase), why, kLegal));
}

int64_t count(const std::string& phase, const std::string& text, int64_t least) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || v < least || v > kMostTokens)
    refuse(phase, fmt::format("{} is no whole number from {} to {}", in_quotes(text), least, kMostTokens));
  return v;
}

/// The fields of a phase's text.
struct Word {
  const char* name;
  int64_t Phase::*value;
  int64_t least;
  bool required = true;
  bool given = false;
};
constexpr Word kBatch{"batch", &Phase::batch, 1}, kContext{"context", &Phase::context, 0},
    kSteps{"steps", &Phase::steps, 1, false}, kPage{"page", &Phase::page, 1, false},
    kPrefill{"prefill", &Phase::tokens, 1};

void read_words(const std::string& phase, const std::string& values, std::vector<Word> words, Phase* p) {
  for (const std::string& word : parts_between(',', values)) {
    const size_t equals = std::min(word.find('='), word.size());
    const auto which =
        std::find_if(words.begin(), words.end(), [&](const Word& w) { return word.substr(0, equals) == w.name; });
    if (which == words.end() || equals == word.size()) refuse(phase, in_quotes(word) + " says nothing");
    if (which->given) refuse(phase, std::string(which->name) + " stands twice");
    which->given = true;
    p->*(which->value) = count(phase, word.substr(equals + 1), which->least);
  }
  for (const Word& w : words) {
    if (!w.given && w.required) refuse(phase, std::string(w.name) + " is missing");
  }
}

}  // namespace

Phase parse_phase(const std::string& text) {
  Phase p;
  p.text = text;
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string kind = text.substr(0, colon), values = colon < text.size() ? text.substr(colon + 1) : "";
  if (kind == "prefill") {
    p.tokens = count(text, values, 1);
  } else if (kind == "decode") {
    read_words(text, values, {kBatch, kContext, kSteps, kPage}, &p);
  } else if (kind == "mixed") {
    read_words(text, values, {kPrefill, kBatch, kContext, kPage}, &p);
  } else {
    refuse(text, "no such phase");
  }
  return p;
}

int64_t Plan::group(int64_t k) const {
  return weights == DType::i4 && k > kGroup ? kGroup : 0;
}

std::vector<uint32_t> Plan::ranks_of(int64_t layer) const {
  if (stages == 1) return {};
  const int64_t stage = stage_of(layer);
  std::vector<uint32_t> all;
  for (int64_t r = 0; r < ranks; ++r) all.push_back(static_cast<uint32_t>(stage * ranks + r));
  return all;
}

void check_plan(const ModelSpec& m, const Plan& plan) {
  if (!m.not_yet.empty())
    throw InputError(fmt::format("{}: model_type {}: not yet: {}", m.file, m.family, joined(m.not_yet, "; ")));
  for (const Phase& p : plan.phases) {
    if (p.reach() > m.positions)
      throw InputError(fmt::format("--phase: {}: position {} of a model with max_position_embeddings {}", p.text,
                                   p.reach(), m.positions));
  }
  if (plan.integer_rows() && plan.weights != DType::i8)
    throw InputError(fmt::format("activations: found {} beside weights of {}, expected --weights i8 beside it",
                                 name_of(plan.activations), name_of(plan.weights)));
  const int64_t ep = plan.expert_groups;
  if (ep > 1 && m.experts == 0)
    throw InputError(fmt::format("--ep: found {}, a {} has no experts to distribute", ep, m.family));
  if (ep > 1 && m.experts % ep != 0)
    throw InputError(fmt::format("--ep: found {}, expected a divisor of the number of experts, {}", ep, m.experts));
  if (!plan.expert_order.empty()) {
    std::vector<int64_t> sorted = plan.expert_order, all(static_cast<size_t>(m.experts));
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    if (ep == 1) throw InputError("--expert-order: found without groups of experts, --ep above 1");
    if (sorted != all)
      throw InputError(fmt::format("--expert-order: found {} numbers, expected each expert from 0 to {} once",
                                   sorted.size(), m.experts - 1));
  }
  if (m.kv_heads % plan.ranks != 0)
    throw InputError(fmt::format("{}: found {}, expected a divisor of num_key_value_heads, {}",
                                 ep > 1 ? "--tp times --ep" : "--tp", plan.ranks, m.kv_heads));
  if (plan.routed && m.experts == 0) throw InputError(fmt::format("--routing: a {} has no experts", m.family));
  if (plan.stages > plan.layers)
    throw InputError(
        fmt::format("--pp: found {}, expected at most one stage for each layer, {}", plan.stages, plan.layers));
  if (plan.stages > 1 && (plan.repeat || !plan.whole()))
    throw InputError("--pp: stages have different layers; found --repeat or --verify-layer with it");
  if (plan.only_layer >= m.layers)
    throw InputError(
        fmt::format("--verify-layer: found {}, expected a layer from 0 to {}", plan.only_layer, m.layers - 1));
}

}  // namespace kernbench::models
