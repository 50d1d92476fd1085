#include "kernbench/platform/models/families.h"

#include <algorithm>

namespace kernbench::models {
namespace {

void settle_llama(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  if (f.flag("attention_bias", false)) m->qkv_bias = true;
  if (f.flag("mlp_bias", false)) m->not_yet.push_back("mlp_bias");
}

void settle_mistral(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  m->window = f.whole("sliding_window", 0);
}

/// Its window holds from layer max_window_layers on: shipped files switch it off.
void settle_qwen(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  if (f.flag("use_sliding_window", false)) m->not_yet.push_back("use_sliding_window, a window in some layers");
}

void settle_qwen2(const ModelFile& f, ModelSpec* m) {
  settle_qwen(f, m);
  m->qkv_bias = true;
}

void settle_qwen3(const ModelFile& f, ModelSpec* m) {
  settle_qwen(f, m);
  m->qk_norm = true;
  m->qkv_bias = f.flag("attention_bias", false);
}

void settle_gemma(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", true);
  m->scaled_embedding = true;
  m->qkv_bias = f.flag("attention_bias", false);
}

void settle_mixtral(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  m->window = f.whole("sliding_window", 0);
  m->experts = f.whole("num_local_experts");
  m->experts_per_token = f.whole("num_experts_per_tok");
}

/// Shipped files have experts in all layers; decoder_sparse_step and mlp_only_layers make some of one MLP.
void settle_qwen3_moe(const ModelFile& f, ModelSpec* m) {
  settle_qwen3(f, m);
  m->hidden = f.whole("moe_intermediate_size");
  m->experts = f.whole("num_experts");
  m->experts_per_token = f.whole("num_experts_per_tok");
  m->weights_of_chosen = f.flag("norm_topk_prob", false);
  if (f.whole("decoder_sparse_step", 1) != 1) m->not_yet.push_back("decoder_sparse_step, layers without experts");
  if (!f.list("mlp_only_layers").empty()) m->not_yet.push_back("mlp_only_layers, layers without experts");
}

void settle_gpt_oss(const ModelFile& f, ModelSpec* m) {
  m->tied = f.flag("tie_word_embeddings", false);
  m->qkv_bias = f.flag("attention_bias", true);
  m->experts = f.whole("num_local_experts");
  m->experts_per_token = f.whole("num_experts_per_tok");
  for (const char* part : {"experts", "sinks of attention", "a window in every other layer"})
    m->not_yet.push_back(part);
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"llama", "grouped heads, gated MLP with silu", {}, {"attention_bias", "mlp_bias"}, settle_llama},
      {"mistral", "as llama, queries see a sliding window", {}, {"sliding_window"}, settle_mistral},
      {"qwen2", "as llama, with a bias of q, k and v", {}, {"use_sliding_window"}, settle_qwen2},
      {"qwen3", "as llama, heads of q and k are normed", {}, {"attention_bias", "use_sliding_window"}, settle_qwen3},
      {"gemma", "the embedding scaled and the head's, gelu", {"head_dim"}, {"attention_bias"}, settle_gemma},
      {"mixtral",
       "as mistral, experts instead of one MLP",
       {"num_local_experts", "num_experts_per_tok"},
       {"sliding_window"},
       settle_mixtral},
      {"qwen3_moe",
       "as qwen3, experts instead of one MLP",
       {"moe_intermediate_size", "num_experts", "num_experts_per_tok"},
       {"attention_bias", "use_sliding_window", "norm_topk_prob", "decoder_sparse_step", "mlp_only_layers"},
       settle_qwen3_moe},
      {"gpt_oss",
       "experts, sinks, windows by turns; read, not yet run",
       {"head_dim", "num_local_experts", "num_experts_per_tok"},
       {"attention_bias", "sliding_window"},
       settle_gpt_oss},
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
                                                    "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
                                                    "vocab_size"};
  return all;
}

const std::vector<std::string_view>& common_optional() {
  static const std::vector<std::string_view> all = {
      "head_dim",   "rms_norm_eps",      "rope_theta",  "rope_scaling", "max_position_embeddings",
      "hidden_act", "hidden_activation", "torch_dtype", "dtype",        "tie_word_embeddings"};
  return all;
}

}  // namespace kernbench::models
