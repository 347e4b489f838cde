#include "core/heads/label_scores.h"

#include <cmath>

#include "core/heads/head_indices.h"
#include "core/heads/pairs.h"
#include "core/program/token_indices.h"

namespace peruse {
namespace {

using Scorer = LabelHead::Scorer;
using Pooling = LabelHead::Pooling;

constexpr const char* kScorer = "model.scorer.";
// gliclass adds this to lengths before it divides; only matters for very short vectors.
constexpr float kShortest = 1e-8f;

// gliclass: FeaturesProjector, BiEncoderProjector.
Value Project(Build& b, Value x, const std::string& name, const LabelHead& head, int32_t width) {
  const Value inner = b.Linear(x, b.StackedF32(b.cols(x)).Add(name + ".linear_1", head.inner));
  return b.Linear(b.Activate(inner, head.activation), b.StackedF32(head.inner).Add(name + ".linear_2", width));
}

Value Normalized(Build& b, Value x, const LabelHead& head) { return head.normalize ? b.Normalize(x, kShortest) : x; }

Value PoolTokens(Build& b, Value hidden, const LabelHead& head) {
  const Index first = indices::FirstTokens{};
  if (head.pooling == Pooling::kFirst) return b.SelectRows(hidden, first);
  if (head.pooling == Pooling::kLast) return b.SelectRows(hidden, indices::LastTokens{});
  return b.PoolRows(hidden, first, indices::Lengths{}, {.kind = head.pool});
}

// Returns the vector of the text, or all its rows if the head does not pool them.
Value Text(Build& b, Value hidden, const LabelHead& head) {
  if (!head.words) return head.pooling == Pooling::kNone ? hidden : PoolTokens(b, hidden, head);
  Value words = b.PoolRows(hidden, indices::Words{}, indices::WordTokens{}, {});
  if (head.lstm) words = BiLstm(b, words, "model.lstm.lstm.", 0);
  if (head.pooling == Pooling::kNone) return words;
  const Index first = indices::Row{.per = indices::Row::Per::kSequence};
  if (head.pooling == Pooling::kFirst) return b.SelectRows(words, first);
  const Index last = indices::WordCount{.offset = -1};
  if (head.pooling == Pooling::kLast) return b.SelectRows(words, last);
  return b.PoolRows(words, first, indices::WordCount{}, {.kind = head.pool});
}

// Returns Linear(.4, act(Linear(.2, act(x)))), where x is the result of Linear(.0).
Value ScoreMlp(Build& b, Value x, const std::string& mlp, Activation activation, const LabelHead& head) {
  const auto [first, second] = head.mlp_width;
  const Value hidden = b.Linear(b.Activate(x, activation), b.StackedF32(first).Add(mlp + "2", second));
  return b.Linear(b.Activate(hidden, activation), b.StackedF32(second).Add(mlp + "4", 1));
}

// gliclass's HopfieldScorer: each label attends to the text; labels are scored independently.
Value HopfieldScores(Build& b, Value text, Value labels, const LabelHead& head) {
  constexpr float kBeta = 4;
  const int32_t width = b.cols(labels);
  const auto project = [&](Value x, const char* name) {
    return b.Linear(x, b.StackedF32(width).AddWeight({std::string(kScorer) + name}, {width, width}, width));
  };
  const Value context = b.CrossAttention({.query = project(labels, "q_proj.weight"),
                                          .key = project(text, "k_proj.weight"),
                                          .value = project(text, "v_proj.weight"),
                                          .heads = 1,
                                          .scale = kBeta,
                                          .over_queries = true});
  const std::string mlp = std::string(kScorer) + "mlp.";
  const Value first = b.Linear(b.Add(context, labels), b.StackedF32(width).Add(mlp + "0", head.mlp_width[0]));
  return ScoreMlp(b, first, mlp, Activation::kRelu, head);
}

// gliclass's CrossAttnScorer: labels attend to the rows of the text.
Value CrossAttentionScores(Build& b, Value text, Value labels, const LabelHead& head) {
  constexpr float kEps = 1e-5f;
  const int32_t width = b.cols(labels);
  const std::string scorer = kScorer;
  const auto linear = [&](Value x, const char* name) {
    return b.Linear(x, b.StackedF32(width).Add(scorer + name, width));
  };
  const auto norm = [&](Value x, const char* name) { return b.LayerNorm(x, b.Norm(scorer + name, width, kEps)); };
  const Value context = b.CrossAttention({.query = linear(norm(labels, "q_norm"), "q"),
                                          .key = linear(norm(text, "kv_norm"), "k"),
                                          .value = linear(text, "v"),
                                          .heads = head.heads,
                                          .scale = 1.0f / std::sqrt(static_cast<float>(width / head.heads))});
  const Value seen = norm(linear(context, "out"), "norm");
  const std::string mlp = scorer + "score_mlp.";
  const Value both = b.Concat(seen, labels);
  return ScoreMlp(b, b.Linear(both, b.StackedF32(2 * width).Add(mlp + "0", head.mlp_width[0])), mlp, Activation::kGelu,
                  head);
}

Value MlpScores(Build& b, Value text, Value labels, const LabelHead& head) {
  const int32_t width = b.cols(labels);
  const std::string mlp = std::string(kScorer) + "mlp.";
  const int32_t first = head.mlp_width[0];
  const Value sum =
      AddPairs(b, Part(b, text, mlp + "0", 0, 2 * width, first), Part(b, labels, mlp + "0", width, 2 * width, first));
  return ScoreMlp(b, sum, mlp, Activation::kRelu, head);
}

}  // namespace

void BuildHead(Build& b, Value hidden, const LabelHead& head) {
  if (head.hidden) hidden = b.Named({OutputKind::kHidden, *head.hidden});
  const int32_t width = b.cols(hidden);
  const Value text = Normalized(b, Project(b, Text(b, hidden, head), "model.text_projector", head, width), head);
  Value labels;
  if (head.labels == LabelHead::Labels::kVectors) {
    labels = b.Input(0, {Domain::kLabels, 1}, width);
  } else {
    const Index rows = indices::Labels{};
    labels = head.average_labels
                 ? b.PoolRows(hidden, rows, indices::LabelTokens{}, {.kind = ops::PoolRows::Kind::kMean})
                 : b.SelectRows(hidden, rows);
    if (head.labels == LabelHead::Labels::kRows) {
      labels = Normalized(b, Project(b, labels, "model.classes_projector", head, width), head);
    }
  }
  // gliclass only multiplies by the learned scale in bi-encoders, or with normalisation.
  const bool scaled = head.normalize || head.labels != LabelHead::Labels::kRows;
  const auto scale = [&](Value x) { return scaled ? b.Multiply(x, b.ScalarRow("model.logit_scale", b.cols(x))) : x; };
  switch (head.scorer) {
    case Scorer::kDot:
      b.Output(kLogits, b.MatMul(scale(text), labels));
      return;
    case Scorer::kWeightedDot:
      b.Output(kLogits, scale(PairScores(b, text, labels, kScorer, "proj_text", 1)));
      return;
    case Scorer::kMlp:
      b.Output(kLogits, scale(MlpScores(b, text, labels, head)));
      return;
    case Scorer::kHopfield:
      b.Output(kLogits, scale(HopfieldScores(b, text, labels, head)));
      return;
    case Scorer::kCrossAttention:
      b.Output(kLogits, scale(CrossAttentionScores(b, text, labels, head)));
      return;
  }
}

Value LabelVectorsOf(Build& b, Value hidden, const LabelHead& head, int32_t width) {
  const Value projected = Project(b, PoolTokens(b, hidden, head), "model.biencoder_projector", head, width);
  return Normalized(b, Project(b, projected, "model.classes_projector", head, width), head);
}

}  // namespace peruse
