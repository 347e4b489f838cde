#include "core/heads/entities.h"

namespace peruse {
namespace {

constexpr const char* kLogits = "logits";

// Linear(name.3, act(Linear(name.0, x))): create_projection_layer. `inner` columns between, `out` at the end.
Value Mlp(Build& b, Value x, const std::string& name, int32_t inner, int32_t out) {
  const Value hidden = b.Activate(b.Linear(x, b.StackedF32(b.cols(x)).Add(name + ".0", inner)), Activation::kRelu);
  return b.Linear(hidden, b.StackedF32(inner).Add(name + ".3", out));
}

// The part of a linear of several inputs side by side (`all` columns) that those from column `first` on make: x times these
// columns; with the bias only for the last of them. So a product for each word takes the place of one for each pair.
Value Part(Build& b, Value x, const std::string& name, int32_t first, int32_t all, int32_t out) {
  Stack stack = b.ColumnsOf(name, first, b.cols(x), all, out);
  if (first + b.cols(x) == all) stack.AddBias({name + ".bias"}, {out}, 0);
  return b.Linear(x, stack);
}

// x [words, width] of pairs' first elements, plus y of their second ones.
Value AddPairs(Build& b, Value x, Value y) {
  return b.Add(b.SelectRows(x, {.kind = Index::Kind::kPairFirst}), b.SelectRows(y, {.kind = Index::Kind::kPairSecond}));
}

// LstmSeq2SeqEncoder: both directions side by side.
Value Recurrent(Build& b, Value x, int32_t layer) {
  const int32_t width = b.cols(x) / 2;
  const std::string number = std::to_string(layer);
  Value directions[2];
  for (const bool reverse : {false, true}) {
    const auto name = [&](const char* what) {
      return std::string("rnn.lstm.") + what + "_l" + number + (reverse ? "_reverse" : "");
    };
    const int32_t gates = 4 * width;
    const Stack stack = b.StackedF32(2 * width)
                            .AddWeight({name("weight_ih")}, {gates, 2 * width}, gates)
                            .AddBias({name("bias_ih")}, {gates}, 0);
    const Value recurrent = b.TransposedConstant(name("weight_hh"), width, gates);
    directions[reverse] = b.Lstm(b.Linear(x, stack), recurrent, b.ConstantRow(name("bias_hh"), gates), reverse);
  }
  return b.Concat(directions[0], directions[1]);
}

// SpanMarker, SpanMarkerV0: vectors of spans from those of their first and last words.
Value Spans(Build& b, Value words, const EntityHead& head) {
  const std::string layer = "span_rep_layer.span_rep_layer.";
  const int32_t width = head.width;
  const bool v0 = head.mode == EntityHead::Mode::kMarkerV0;
  const int32_t inner = v0 ? 4 * width : 2 * width;
  const int32_t out = v0 ? 4 * width : width;
  const std::string joined = layer + (v0 ? "out_project.0" : "out_project");
  const Value start = b.Activate(Mlp(b, words, layer + "project_start", inner, width), Activation::kRelu);
  const Value end = b.Activate(Mlp(b, words, layer + "project_end", inner, width), Activation::kRelu);
  const Value sum = AddPairs(b, Part(b, start, joined, 0, 2 * width, out), Part(b, end, joined, width, 2 * width, out));
  if (!v0) return sum;
  return b.Linear(b.Activate(sum, Activation::kRelu), b.StackedF32(out).Add(layer + "out_project.3", width));
}

// Scorer: what a small network says of [x' | y' | x'' y''], from two projections of each.
Value PairScores(Build& b, Value x, Value y, const std::string& scorer, const char* x_name, int32_t scores) {
  const int32_t width = b.cols(x);
  const auto project = [&](Value value, const std::string& name) {
    return b.Split<2>(b.Linear(value, b.StackedF32(width).Add(scorer + name, 2 * width)));
  };
  const auto [x_sum, x_product] = project(x, x_name);
  const auto [y_sum, y_product] = project(y, "proj_label");
  const std::string mlp = scorer + "out_mlp.0";
  const int32_t inner = 4 * width;
  const Value product = b.Multiply(b.SelectRows(x_product, {.kind = Index::Kind::kPairFirst}),
                                   b.SelectRows(y_product, {.kind = Index::Kind::kPairSecond}));
  const Value sum = AddPairs(b, Part(b, x_sum, mlp, 0, 3 * width, inner), Part(b, y_sum, mlp, width, 3 * width, inner));
  const Value hidden = b.Activate(b.Add(sum, Part(b, product, mlp, 2 * width, 3 * width, inner)), Activation::kRelu);
  return b.Linear(hidden, b.StackedF32(inner).Add(scorer + "out_mlp.3", scores));
}

}  // namespace

void BuildHead(Build& b, Value hidden, const EntityHead& head) {
  if (b.cols(hidden) != head.width) {
    hidden = b.Linear(hidden, b.StackedF32(b.cols(hidden)).Add("token_rep_layer.projection", head.width));
  }
  Value words = b.SelectRows(hidden, {.kind = Index::Kind::kWords});
  for (int32_t layer = 0; layer < head.layers; ++layer) words = Recurrent(b, words, layer);
  const Value labels = b.SelectRows(hidden, {.kind = Index::Kind::kLabels});
  if (head.mode == EntityHead::Mode::kTokens) {
    b.Output(kLogits, PairScores(b, words, labels, "scorer.", "proj_token", 3));
    return;
  }
  const Value spans = Spans(b, words, head);
  b.Output(kLogits, b.MatMul(spans, Mlp(b, labels, "prompt_rep_layer", 4 * head.width, head.width)));
}

void BuildHead(Build& b, Value hidden, const LabelHead& head) {
  const int32_t width = b.cols(hidden);
  const auto project = [&](Index::Kind rows, const std::string& name) {
    const Value x = b.SelectRows(hidden, {.kind = rows});
    const Value inner = b.Linear(x, b.StackedF32(width).Add(name + ".linear_1", head.inner));
    return b.Linear(b.Activate(inner, head.activation), b.StackedF32(head.inner).Add(name + ".linear_2", width));
  };
  const Value text = project(Index::Kind::kWords, "model.text_projector");
  const Value labels = project(Index::Kind::kLabels, "model.classes_projector");
  if (head.scorer == LabelHead::Scorer::kDot) {
    b.Output(kLogits, b.MatMul(text, labels));
    return;
  }
  if (head.scorer == LabelHead::Scorer::kWeightedDot) {
    b.Output(kLogits, PairScores(b, text, labels, "model.scorer.", "proj_text", 1));
    return;
  }
  const std::string mlp = "model.scorer.mlp.";
  const auto [first, second] = head.mlp_width;
  const Value sum =
      AddPairs(b, Part(b, text, mlp + "0", 0, 2 * width, first), Part(b, labels, mlp + "0", width, 2 * width, first));
  const Value hidden_1 = b.Activate(sum, Activation::kRelu);
  const Value hidden_2 = b.Activate(b.Linear(hidden_1, b.StackedF32(first).Add(mlp + "2", second)), Activation::kRelu);
  b.Output(kLogits, b.Linear(hidden_2, b.StackedF32(second).Add(mlp + "4", 1)));
}

}  // namespace peruse
