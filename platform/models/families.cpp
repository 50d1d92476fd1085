// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/families.h"

#include <algorithm>
#include <cmath>

namespace kernbench::models {
namespace {

/// Determines which layers have the window: from layer_types, or from the argument if the file has none.
template <class Rule>
void settle_windows(const ModelFile& f, ModelSpec* m, const Rule& has_window) {
  const std::vector<std::string> types = f.list("layer_types");
  if (!types.empty() && types.size() != static_cast<size_t>(m->layers))
    f.refuse("layer_types", "one item for each of num_hidden_layers, " + std::to_string(m->layers));
  for (int64_t l = 0; l < m->layers; ++l) {
    const std::string type = types.empty() ? "" : types[static_cast<size_t>(l)];
    if (!type.empty() && type != "sliding_attention" && type != "full_attention")
      f.refuse("layer_types", "sliding_attention or full_attention, not '" + type + "'");
    m->windowed.push_back(type.empty() ? has_window(l) : type == "sliding_attention");
  }
}

/// Biases of q, k, v and o.
void settle_attention_bias(const ModelFile& f, bool fallback, ModelSpec* m) {
  m->qkv_bias = m->o_bias = f.flag("attention_bias", fallback);
}

void settle_llama(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  settle_attention_bias(f, false, m);
  m->mlp_bias = f.flag("mlp_bias", false);
}

/// The file may declare that there is no window.
int64_t window_of(const ModelFile& f, int64_t fallback) {
  return f.is_null("sliding_window") ? 0 : f.whole("sliding_window", fallback);
}

void settle_mistral(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  m->window = window_of(f, 4096);
}

/// The window holds from layer max_window_layers on; most published files switch it off.
void settle_qwen(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  if (!f.flag("use_sliding_window", false)) return;
  m->window = window_of(f, 4096);
  const int64_t first = f.has("max_window_layers") ? f.whole("max_window_layers", 0) : 28;
  settle_windows(f, m, [first](int64_t layer) { return layer >= first; });
}

void settle_qwen2(const ModelFile& f, ModelSpec* m) {
  settle_qwen(f, m);
  m->qkv_bias = true;
}

void settle_qwen3(const ModelFile& f, ModelSpec* m) {
  settle_qwen(f, m);
  m->qk_norm = true;
  settle_attention_bias(f, false, m);
}

void settle_gemma(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", true);
  m->embedding_scale = std::sqrt(static_cast<double>(m->dim));
  settle_attention_bias(f, false, m);
}

/// gemma 2 and 3: norms after attention and MLP too; windows in all layers except the last of each `pattern`.
void settle_gemma_with_windows(const ModelFile& f, ModelSpec* m, int64_t pattern) {
  settle_gemma(f, m);
  m->post_norms = true;
  m->score_scale = 1 / std::sqrt(f.number("query_pre_attn_scalar", 256));
  m->window = f.whole("sliding_window", 4096);
  settle_windows(f, m, [pattern](int64_t layer) { return (layer + 1) % pattern != 0; });
  if (f.flag("use_bidirectional_attention", false)) m->not_yet.emplace_back("use_bidirectional_attention");
}

/// 0: none, like null.
double softcap_of(const ModelFile& f, const char* field, double fallback) {
  return f.is_null(field) ? 0 : f.number(field, fallback);
}

void settle_gemma2(const ModelFile& f, ModelSpec* m) {
  settle_gemma_with_windows(f, m, 2);
  m->score_softcap = softcap_of(f, "attn_logit_softcapping", 50);
  m->logits_softcap = softcap_of(f, "final_logit_softcapping", 30);
}

void settle_gemma3_text(const ModelFile& f, ModelSpec* m) {
  settle_gemma_with_windows(f, m, f.whole("sliding_window_pattern", 6));
  m->qk_norm = true;
  m->window_theta = f.number("rope_local_base_freq", 10000);
  if (f.has("rope_parameters"))
    f.refuse("rope_parameters", "rope_theta, rope_local_base_freq and rope_scaling in its place");
  m->score_softcap = softcap_of(f, "attn_logit_softcapping", 0);
  m->logits_softcap = softcap_of(f, "final_logit_softcapping", 0);
}

void settle_phi3(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  m->window = window_of(f, 0);
}

void settle_granite(const ModelFile& f, ModelSpec* m) {
  settle_llama(f, m);
  m->embedding_scale = f.number("embedding_multiplier", 1);
  m->residual_scale = f.number("residual_multiplier", 1);
  m->score_scale = f.number("attention_multiplier", 1);
  m->logits_scale = 1 / f.number("logits_scaling", 1);
}

void settle_mixtral(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  m->window = f.whole("sliding_window", 0);
  m->experts = f.whole("num_local_experts");
  m->experts_per_token = f.whole("num_experts_per_tok");
}

/// Published files have experts in all layers; decoder_sparse_step and mlp_only_layers would give some layers one MLP.
void settle_qwen3_moe(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  if (f.flag("use_sliding_window", false)) m->window = window_of(f, 4096);  // in all layers
  m->qk_norm = true;
  settle_attention_bias(f, false, m);
  m->hidden = f.whole("moe_intermediate_size");
  m->experts = f.whole("num_experts");
  m->experts_per_token = f.whole("num_experts_per_tok");
  m->weights_of_chosen = f.flag("norm_topk_prob", false);
  if (f.whole("decoder_sparse_step", 1) != 1) m->not_yet.push_back("decoder_sparse_step, layers without experts");
  if (!f.list("mlp_only_layers").empty()) m->not_yet.push_back("mlp_only_layers, layers without experts");
}

void settle_starcoder2(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", true);
  m->window = window_of(f, 0);
  m->qkv_bias = m->o_bias = m->mlp_bias = f.flag("use_bias", true);
  if (!m->mlp_bias) m->not_yet.push_back("use_bias: false, an MLP without biases");
}

void settle_qk_layernorm(const ModelFile& f, ModelSpec* m) {
  if (f.flag("qk_layernorm", false)) m->not_yet.push_back("qk_layernorm");
}

void settle_stablelm(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  m->qkv_bias = f.flag("use_qkv_bias", false);
  m->parallel = m->one_norm = f.flag("use_parallel_residual", false);
  settle_qk_layernorm(f, m);
}

void settle_phi(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  m->qkv_bias = m->o_bias = m->mlp_bias = m->head_bias = true;
  m->parallel = m->one_norm = true;
  settle_qk_layernorm(f, m);
}

void settle_gpt_neox(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  settle_attention_bias(f, true, m);
  m->mlp_bias = true;
  m->parallel = f.flag("use_parallel_residual", true);
}

RopeScaling gpt_oss_scaling() {
  RopeScaling s;
  s.kind = RopeScaling::Kind::yarn;
  s.factor = 32;
  s.original_positions = 4096;
  s.truncate = false;
  s.amplitude = yarn_amplitude(s.factor);
  return s;
}

void settle_gpt_oss(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  settle_attention_bias(f, true, m);
  m->experts = f.whole("num_local_experts");
  m->experts_per_token = f.whole("num_experts_per_tok");
  m->expert_bias = true;
  m->sinks = true;
  m->activation = "swiglu_oai";
  m->activation_limit = f.number("swiglu_limit", m->activation_limit);
  m->window = window_of(f, 128);
  settle_windows(f, m, [](int64_t layer) { return layer % 2 == 0; });
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"llama",
       "attention_bias: bias of q, k, v and o; mlp_bias",
       {},
       {"attention_bias", "mlp_bias"},
       settle_llama,
       {10000, 1e-6, 2048}},
      {"mistral", "as llama, a sliding window", {}, {"sliding_window"}, settle_mistral, {10000, 1e-6, 131072, 8}},
      {"qwen2",
       "as llama, bias of q, k and v; use_sliding_window: a window from layer max_window_layers on, or by layer_types",
       {},
       {"use_sliding_window", "sliding_window", "max_window_layers", "layer_types"},
       settle_qwen2,
       {10000, 1e-6, 32768, 32}},
      {"qwen3",
       "as llama, q and k heads normed before rotation; windows as qwen2",
       {},
       {"attention_bias", "use_sliding_window", "sliding_window", "max_window_layers", "layer_types"},
       settle_qwen3,
       {10000, 1e-6, 32768, 32, 128}},
      {"gemma",
       "embedding times sqrt(dim), tanh gelu, tied weights",
       {"head_dim"},
       {"attention_bias"},
       settle_gemma,
       {10000, 1e-6, 8192, 16, 0, {}, "gelu_pytorch_tanh"}},
      {"gemma2",
       "as gemma, post-norms, soft caps of scores and logits, a window in every other layer or by layer_types",
       {},
       {"attention_bias", "query_pre_attn_scalar", "sliding_window", "layer_types", "attn_logit_softcapping",
        "final_logit_softcapping", "use_bidirectional_attention"},
       settle_gemma2,
       {10000, 1e-6, 8192, 4, 256, {}, "gelu_pytorch_tanh"}},
      {"gemma3_text",
       "as gemma2, q and k heads normed, soft caps only if given, windows in all layers but the last of each "
       "pattern, with rope_local_base_freq; refuses use_bidirectional_attention and rope_parameters by layer kind",
       {},
       {"attention_bias", "query_pre_attn_scalar", "sliding_window", "sliding_window_pattern", "layer_types",
        "rope_local_base_freq", "attn_logit_softcapping", "final_logit_softcapping", "use_bidirectional_attention"},
       settle_gemma3_text,
       {1e6, 1e-6, 131072, 4, 256, {}, "gelu_pytorch_tanh"}},
      {"phi3",
       "as llama, partial rotary embedding, a sliding window, longrope",
       {},
       {"sliding_window", "original_max_position_embeddings"},
       settle_phi3,
       {10000, 1e-5, 4096},
       {},
       {"rms_norm_eps", "rope_theta", "partial_rotary_factor"}},
      {"granite",
       "as llama, factors of the embedding, the residual stream, scores and logits",
       {},
       {"attention_bias", "mlp_bias", "embedding_multiplier", "residual_multiplier", "attention_multiplier",
        "logits_scaling"},
       settle_granite,
       {10000, 1e-6, 2048}},
      {"mixtral",
       "as mistral, with experts instead of one MLP",
       {"num_local_experts", "num_experts_per_tok"},
       {"sliding_window"},
       settle_mixtral,
       {1e6, 1e-5, 131072, 8}},
      {"qwen3_moe",
       "as qwen3, experts; refuses layers of one MLP (mlp_only_layers, decoder_sparse_step above 1)",
       {"moe_intermediate_size", "num_experts", "num_experts_per_tok"},
       {"attention_bias", "use_sliding_window", "sliding_window", "norm_topk_prob", "decoder_sparse_step",
        "mlp_only_layers"},
       settle_qwen3_moe,
       {10000, 1e-6, 32768, 4}},
      {"gpt_oss",
       "experts and router with biases, sinks, a window in every other layer or by layer_types",
       {"num_local_experts", "num_experts_per_tok"},
       {"attention_bias", "sliding_window", "layer_types", "swiglu_limit"},
       settle_gpt_oss,
       {150000, 1e-5, 131072, 8, 64, gpt_oss_scaling()}},
      {"starcoder2",
       "LayerNorm, MLP without gate, tanh gelu, use_bias: bias of all matrices but the head; refuses use_bias: false",
       {},
       {"sliding_window", "use_bias"},
       settle_starcoder2,
       {10000, 1e-5, 4096, 2, 0, {}, "gelu_pytorch_tanh"},
       {true, false},
       {"norm_epsilon"}},
      {"stablelm",
       "LayerNorm, partial rotary embedding, parallel residual behind one norm if given; refuses qk_layernorm",
       {},
       {"use_qkv_bias", "use_parallel_residual", "qk_layernorm"},
       settle_stablelm,
       {10000, 1e-5, 4096, 32, 0, {}, "silu", 0.25},
       {true, true},
       {"layer_norm_eps", "rope_theta", "partial_rotary_factor"}},
      {"phi",
       "one LayerNorm, then attention and MLP without gate in parallel, tanh gelu, bias of all matrices; refuses "
       "qk_layernorm",
       {},
       {"qk_layernorm"},
       settle_phi,
       {10000, 1e-5, 2048, 0, 0, {}, "gelu_new", 0.5},
       {true, false},
       {"layer_norm_eps", "rope_theta", "partial_rotary_factor"}},
      {"gpt_neox",
       "LayerNorm, MLP without gate, attention and MLP in parallel behind a norm each unless switched off, biases",
       {},
       {"attention_bias", "use_parallel_residual"},
       settle_gpt_neox,
       {10000, 1e-5, 2048, 0, 0, {}, "gelu", 0.25},
       {true, false},
       {"layer_norm_eps", "rotary_emb_base", "rotary_pct"}},
  };
  return all;
}

const Family* find_family(std::string_view name) {
  const auto& all = families();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Family& f) { return f.name == name; });
  return it == all.end() ? nullptr : &*it;
}

const std::vector<std::string_view>& common_required() {
  static const std::vector<std::string_view> all = {"model_type",        "hidden_size",         "intermediate_size",
                                                    "num_hidden_layers", "num_attention_heads", "vocab_size"};
  return all;
}

const std::vector<std::string_view>& common_optional() {
  static const std::vector<std::string_view> all = {"num_key_value_heads", "head_dim", "rope_scaling",
                                                    "rope_parameters", "max_position_embeddings", "hidden_act",
                                                    "hidden_activation", "torch_dtype", "dtype", "tie_word_embeddings",
                                                    // Types, named as in the options.
                                                    "weights", "kv", "activations"};
  return all;
}

}  // namespace kernbench::models
