#include "core/heads/entities.h"

#include <cmath>

#include "core/heads/head_indices.h"
#include "core/heads/pairs.h"

namespace peruse {
namespace {

// gliner's SelfAttentionBlock and CrossAttentionBlock: `side` attends to `other`, or to itself if `other` is null.
Value FusionBlock(Build& b, Value side, const Value* other, const std::string& name, int32_t heads) {
  constexpr float kEps = 1e-5f;
  const int32_t width = b.cols(side);
  const auto linear = [&](Value x, const std::string& what) {
    return b.Linear(x, b.StackedF32(width).Add(name + what, width));
  };
  const Value x = b.LayerNorm(side, b.Norm(name + "pre_norm", width, kEps));
  const std::string attention = other != nullptr ? "cross_attn." : "self_attn.";
  const Value key = other != nullptr ? *other : linear(x, "k_proj");
  const Value query = other != nullptr ? x : linear(x, "q_proj");
  const Value value = linear(other != nullptr ? *other : x, "v_proj");
  const Value context = b.CrossAttention({.query = linear(query, attention + "query_layer"),
                                          .key = linear(key, attention + "key_layer"),
                                          .value = linear(value, attention + "value_layer"),
                                          .heads = heads,
                                          .scale = 1.0f / std::sqrt(static_cast<float>(width / heads))});
  return b.LayerNorm(b.Add(context, x), b.Norm(name + "post_norm", width, kEps));
}

void Fuse(Build& b, const EntityHead& head, Value& words, Value& labels) {
  for (int32_t layer = 0; layer < head.fusion_layers; ++layer) {
    for (size_t i = 0; i < head.fusion.size(); ++i) {
      const std::string name = "cross_fuser.layers." + std::to_string(layer) + "." + std::to_string(i) + ".";
      const std::string& block = head.fusion[i];
      Value& side = block.front() == 'l' ? labels : words;
      const Value& seen = block.back() == 'l' ? labels : words;
      side = FusionBlock(b, side, block.front() == block.back() ? nullptr : &seen, name, head.fusion_heads);
    }
  }
}

}  // namespace

Value WordVectors(Build& b, Value hidden, const EntityHead& head) {
  const Index words = indices::Words{};
  if (head.pooling == EntityHead::WordPooling::kOneToken) return b.SelectRows(hidden, words);
  const bool mean = head.pooling == EntityHead::WordPooling::kMean;
  return b.PoolRows(hidden, words, indices::WordTokens{},
                    {.kind = mean ? ops::PoolRows::Kind::kMean : ops::PoolRows::Kind::kMax});
}

void BuildHead(Build& b, Value hidden, const EntityHead& head) {
  if (b.cols(hidden) != head.width) {
    hidden = b.Linear(hidden, b.StackedF32(b.cols(hidden)).Add("token_rep_layer.projection", head.width));
  }
  Value words = WordVectors(b, hidden, head);
  for (int32_t layer = 0; layer < head.layers; ++layer) words = BiLstm(b, words, "rnn.lstm.", layer);
  Value labels =
      head.label_vectors ? b.Input(0, {Domain::kLabels, 1}, head.width) : b.SelectRows(hidden, indices::Labels{});
  Fuse(b, head, words, labels);
  if (head.mode == EntityHead::Mode::kTokens) {
    b.Output(kLogits, PairScores(b, words, labels, "scorer.", "proj_token", 3));
    return;
  }
  const Value spans = SpanVectors(b, words, head);
  b.Output(kLogits, b.MatMul(spans, Mlp(b, labels, "prompt_rep_layer", 4 * head.width, head.width)));
}

}  // namespace peruse
