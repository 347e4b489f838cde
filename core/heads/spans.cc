// Vectors of spans (gliner's SpanRepLayer). A span is a pair of words; its width is the number of words after the first.
#include "core/heads/entities.h"
#include "core/heads/head_indices.h"
#include "core/heads/pairs.h"

namespace peruse {
namespace {

using Mode = EntityHead::Mode;

constexpr indices::PairWidth kWidths;
constexpr indices::PairWidth kWords = {.offset = 1};  // number of words of a span

std::string In(const EntityHead& head, const char* name) { return std::string(head.spans) + name; }

Value Relu(Build& b, Value x) { return b.Activate(x, Activation::kRelu); }

// Returns the context of each span: the mean of all words (SpanMarkerV1), or a transformation of the last word (SpanMarkerV2).
Value Context(Build& b, Value words, const EntityHead& head) {
  const int32_t width = head.width;
  Value context;
  if (head.mode == Mode::kMarkerV1) {
    const Index first = indices::Row{.per = indices::Row::Per::kSequence};
    context = b.PoolRows(words, first, indices::WordCount{}, {.kind = ops::PoolRows::Kind::kMean});
  } else {
    const Value last = b.SelectRows(words, indices::WordCount{.offset = -1});
    context = Mlp(b, last, In(head, "project_context"), 4 * width, width);
  }
  const Value part = Part(b, Relu(b, context), In(head, "out_project.0"), 2 * width, 3 * width, 4 * width);
  return b.SelectRows(part, indices::Row{.per = indices::Row::Per::kPair});
}

// gliner's SpanMarker, V0, V1 and V2: first word, last word and context.
Value Markers(Build& b, Value words, const EntityHead& head) {
  const int32_t width = head.width;
  const bool old = head.mode == Mode::kMarker;
  const bool context = head.mode == Mode::kMarkerV1 || head.mode == Mode::kMarkerV2;
  const int32_t inner = old ? 2 * width : 4 * width;
  const int32_t out = old ? width : 4 * width;
  const int32_t all = context ? 3 * width : 2 * width;
  const std::string joined = In(head, old ? "out_project" : "out_project.0");
  const Value start = Relu(b, Mlp(b, words, In(head, "project_start"), inner, width));
  const Value end = Relu(b, Mlp(b, words, In(head, "project_end"), inner, width));
  Value sum = AddPairs(b, Part(b, start, joined, 0, all, out), Part(b, end, joined, width, all, out));
  if (context) sum = b.Add(sum, Context(b, words, head));
  if (old) return sum;
  return b.Linear(Relu(b, sum), b.StackedF32(out).Add(In(head, "out_project.3"), width));
}

// gliner's SpanQuery and SpanCAT: the first word and a learned vector for the width.
Value FirstAndWidth(Build& b, Value words, const EntityHead& head) {
  constexpr int32_t kCatWidth = 128;
  const int32_t width = head.width;
  const Index first = indices::PairFirst{};
  if (head.mode == Mode::kQuery) {
    const Value query = b.TransposedConstant(In(head, "query_seg"), head.max_width, width);
    const Value product = b.Multiply(b.SelectRows(words, first), b.SelectRows(query, kWidths));
    return Relu(b, b.Linear(product, b.StackedF32(width).Add(In(head, "project.0"), width)));
  }
  // gliner reshapes the stored tensor like this before it uses it.
  const Value query = b.ReshapedConstant(In(head, "query_seg"), {kCatWidth, head.max_width}, head.max_width, kCatWidth);
  const int32_t all = width + kCatWidth;
  const Value words_part = Part(b, words, In(head, "project.0"), 0, all, width);
  const Value width_part = Part(b, query, In(head, "project.0"), width, all, width);
  return Relu(b, b.Add(b.SelectRows(words_part, first), b.SelectRows(width_part, kWidths)));
}

// gliner's SpanMLP: each word gives one vector per width.
Value FromFirst(Build& b, Value words, const EntityHead& head) {
  const Value all = b.Linear(words, b.StackedF32(head.width).Add(In(head, "mlp"), head.width * head.max_width));
  const indices::PairBlock block = {.blocks = head.max_width, .by = indices::PairBlock::By::kWidth};
  const Index one = indices::Row{.row = 1, .per = indices::Row::Per::kPair};
  return Relu(b, b.PoolRows(all, block, one, {.width = head.width}));
}

// Scores each span by a convolution of its words: multiplies every word by every tap that it may meet, then sums the products of each span.
// SpanConv has separate taps for each width above one word; ConvShare shares the first taps.
Value Convolved(Build& b, Value words, const EntityHead& head) {
  const int32_t width = head.width;
  const int32_t widths = head.max_width;
  if (head.mode == Mode::kConvShare) {
    const Value taps = b.Linear(words, b.StackedF32(width).AddTaps(In(head, "conv_weigth"), width, widths));
    const indices::PairBlock first = {.blocks = widths};
    return b.PoolRows(taps, first, kWords, {.stride = widths + 1, .width = width});
  }
  if (widths == 1) return b.SelectRows(words, indices::PairFirst{});
  Stack stack = b.StackedF32(width);
  for (int32_t i = 1; i < widths; ++i) {
    const std::string conv = In(head, "convs.") + std::to_string(i - 1) + ".conv.";
    // The bias is added to the products of the first tap, which every span uses once.
    stack.AddBias({conv + "bias"}, {width}, (i * (i + 1) / 2 - 1) * width);
    stack.AddTaps(conv + "weight", width, i + 1);
  }
  const int32_t blocks = widths * (widths + 1) / 2;
  const Value taps = b.Concat(words, b.Linear(words, stack));
  const indices::PairBlock first = {.blocks = blocks, .by = indices::PairBlock::By::kTriangle};
  return b.PoolRows(taps, first, kWords, {.stride = blocks + 1, .width = width});
}

Value Convolution(Build& b, Value words, const EntityHead& head) {
  const Index first = indices::PairFirst{};
  const auto pooled = [&](ops::PoolRows::Kind kind) { return b.PoolRows(words, first, kWords, {.kind = kind}); };
  const Value spans = head.mode == Mode::kConvMax    ? pooled(ops::PoolRows::Kind::kMax)
                      : head.mode == Mode::kConvMean ? pooled(ops::PoolRows::Kind::kMean)
                      : head.mode == Mode::kConvSum  ? pooled(ops::PoolRows::Kind::kSum)
                                                     : Convolved(b, words, head);
  return b.Linear(Relu(b, spans), b.StackedF32(head.width).Add(In(head, "project.1"), head.width));
}

}  // namespace

Value SpanVectors(Build& b, Value words, const EntityHead& head) {
  switch (head.mode) {
    case Mode::kQuery:
    case Mode::kCat:
      return FirstAndWidth(b, words, head);
    case Mode::kMlp:
      return FromFirst(b, words, head);
    case Mode::kConvConv:
    case Mode::kConvMax:
    case Mode::kConvMean:
    case Mode::kConvSum:
    case Mode::kConvShare:
      return Convolution(b, words, head);
    case Mode::kMarkerV0:
    case Mode::kMarker:
    case Mode::kMarkerV1:
    case Mode::kMarkerV2:
    case Mode::kTokens:
      return Markers(b, words, head);
  }
}

}  // namespace peruse
