#include "core/heads/heads.h"

#include <algorithm>

#include "core/program/token_indices.h"

namespace peruse {
namespace {

constexpr float kNormalizeEps = 1e-12f;  // the constant of torch.nn.functional.normalize

std::vector<std::string> WithSuffix(std::vector<std::string> names, const char* suffix) {
  for (std::string& name : names) name += suffix;
  return names;
}

// Replaces every row by the mean over its text: attention with equal scores.
Value MeanOfText(Build& b, Value x, int32_t width) {
  constexpr int32_t kWidestHead = 64;
  int32_t heads = 1;
  while (width % heads != 0 || width / heads > kWidestHead) ++heads;
  return b.Attention({.query = x, .key = x, .value = x, .heads = heads, .scale = 0}).out;
}

Value Transform(Build& b, Value rows, const HeadSizes& sizes, const RowTransform& transform) {
  if (!transform.dense.empty()) {
    Stack dense = b.StackedF32(sizes.hidden);
    dense.AddWeight({transform.dense + ".weight"}, {sizes.hidden, sizes.hidden}, sizes.hidden);
    if (transform.dense_bias) dense.AddBias({transform.dense + ".bias"}, {sizes.hidden}, 0);
    rows = b.Linear(rows, dense);
  }
  rows = b.Activate(rows, transform.activation);
  if (transform.norm.empty()) return rows;
  return b.LayerNorm(rows, b.Norm({transform.norm}, sizes.hidden, sizes.layer_norm_eps, transform.norm_bias));
}

// Returns norm(activation(dense(rows))), or `rows` if the head only has a decoder.
Value BeforeDecoder(Build& b, Value rows, const HeadSizes& sizes, const MaskedLmHead& head) {
  if (head.dense.empty()) return rows;
  const int32_t width = sizes.embedding;
  Stack stack = b.StackedF32(sizes.hidden);
  stack.AddWeight(WithSuffix(head.dense, ".weight"), {width, sizes.hidden}, width);
  if (head.dense_bias) stack.AddBias(WithSuffix(head.dense, ".bias"), {width}, 0);
  const Value dense = b.Activate(b.Linear(rows, stack), head.activation);
  return b.LayerNorm(dense, b.Norm(head.norm, width, sizes.layer_norm_eps, head.norm_bias));
}

Stack Decoder(Build& b, const HeadSizes& sizes, const MaskedLmHead& head) {
  const int32_t width = sizes.embedding, words = sizes.vocabulary;
  // the decoder may be the tied token embeddings, which always exist, so another tensor selects the layout
  std::vector<std::string> if_has;
  if (head.decoder.size() > 1) if_has = WithSuffix(head.dense, ".weight");
  Stack decoder = b.Stacked(width).AddWeight(head.decoder, {words, width}, words, if_has);
  if (!head.bias.empty()) decoder.AddBias(head.bias, {words}, 0);
  return decoder;
}

}  // namespace

std::string_view HeadName(Head head) {
  switch (head) {
    case Head::kNone:
      return "no head";
    case Head::kSequenceClassification:
      return "sequence classification";
    case Head::kTokenClassification:
      return "token classification";
    case Head::kQuestionAnswering:
      return "question answering";
    case Head::kMaskedLm:
      return "masked language modelling";
    case Head::kVocabulary:
      return "sparse embeddings";
    case Head::kTokenVectors:
      return "late interaction";
    case Head::kMultipleChoice:
      return "multiple choice";
    case Head::kReplacedTokenDetection:
      return "replaced-token detection";
    case Head::kEntities:
      return "zero-shot token classification";
    case Head::kLogitScore:
      return "scores by the logits of tokens";
  }
  return "";
}

void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const PooledHead& head) {
  if (head.transforms_all) hidden = Transform(b, hidden, sizes, head.transform);
  if (head.pick == PooledHead::Pick::kMean) hidden = MeanOfText(b, hidden, sizes.hidden);
  const bool last = head.pick == PooledHead::Pick::kLast;
  Value pooled =
      last ? b.SelectRows(hidden, indices::LastTokens{head.padding}) : b.SelectRows(hidden, indices::FirstTokens{});
  if (head.normalized) pooled = b.Normalize(pooled, kNormalizeEps);
  if (head.drops_row) b.Dropped(pooled);
  if (!head.transforms_all) pooled = Transform(b, pooled, sizes, head.transform);
  if (head.drops) b.Dropped(pooled);
  Stack classifier = b.StackedF32(sizes.hidden);
  classifier.AddWeight({head.classifier + ".weight"}, {head.labels, sizes.hidden}, head.labels);
  if (head.classifier_bias) classifier.AddBias({head.classifier + ".bias"}, {head.labels}, 0);
  b.Output(kLogits, b.Linear(pooled, classifier));
}

void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const TokenHead& head) {
  const Value rows = Transform(b, hidden, sizes, head.transform);
  if (head.drops_rows) b.Dropped(rows);
  b.Output(kLogits, b.Linear(rows, b.StackedF32(sizes.hidden).Add(head.classifier, head.labels)));
}

void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const MaskedLmHead& head) {
  const Value rows = b.SelectRows(hidden, indices::Chosen{});
  b.Output(kLogits, b.Linear(BeforeDecoder(b, rows, sizes, head), Decoder(b, sizes, head)));
}

void BuildVocabularyHead(Build& b, Value hidden, const HeadSizes& sizes, const MaskedLmHead& head,
                         const SparsePooling& pooling) {
  constexpr int32_t kWords = 64 * ops::Linear::kPartMultiple;  // words of the vocabulary in a part
  using Kind = ops::PoolRows::Kind;
  const auto weights_of = [&](Value logits) {
    for (int i = 0; i < (pooling.logs_twice ? 2 : 1); ++i) logits = b.Activate(logits, Activation::kLog1pRelu);
    return logits;
  };
  const auto pool = [&](Value x, Kind kind) {
    return b.PoolRows(x, indices::FirstTokens{}, indices::Lengths{}, {.kind = kind});
  };
  const Value rows = BeforeDecoder(b, hidden, sizes, head);
  const LinearId decoder = b.Weights(Decoder(b, sizes, head));
  Value all;
  for (int32_t first = 0; first < sizes.vocabulary; first += kWords) {
    const Value logits = b.LinearPart(rows, decoder, first, std::min(kWords, sizes.vocabulary - first));
    // The activation is monotone, so that it may follow the maximum.
    const Value pooled = pooling.sums ? pool(weights_of(logits), Kind::kSum) : weights_of(pool(logits, Kind::kMax));
    all = all.valid() ? b.Concat(all, pooled) : pooled;
  }
  b.Output(kLogits, all);
}

void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const LogitScoreHead& head) {
  Stack decoder = b.StackedF32(sizes.hidden);
  for (const int32_t token : head.tokens) decoder.AddRow(head.decoder, sizes.vocabulary, token);
  const Value last = b.SelectRows(hidden, indices::LastTokens{PooledHead::kNoPadding});
  b.Output(kLogits, b.Linear(last, decoder));
}

void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const DiscriminatorHead& head) {
  if (!head.norm.empty()) {
    const Value first = b.SelectRows(hidden, indices::FirstOfText{});
    hidden = b.LayerNorm(b.Add(hidden, first), b.Norm(head.norm, sizes.hidden, sizes.layer_norm_eps));
  }
  const Value dense = b.Linear(hidden, b.StackedF32(sizes.hidden).Add(head.dense, sizes.hidden));
  b.Output(kLogits, b.Linear(b.Activate(dense, head.activation), b.StackedF32(sizes.hidden).Add(head.classifier, 1)));
}

}  // namespace peruse
