// GLiNER's heads (Zaratiana et al., 2023) compare spans or words of a text with labels. They need a batch of one text, and the rows of its
// words and labels (HeadInputs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/program/build.h"

namespace peruse {

// Package gliner: UniEncoderSpanModel, UniEncoderTokenModel, BiEncoderSpanModel, BiEncoderTokenModel.
struct EntityHead {
  enum class Mode : uint8_t {
    kMarker,    // SpanMarker
    kMarkerV0,  // SpanMarkerV0
    kMarkerV1,  // SpanMarkerV1: includes the mean of all words
    kMarkerV2,  // SpanMarkerV2: includes the last word
    kQuery,     // SpanQuery
    kMlp,       // SpanMLP
    kCat,       // SpanCAT
    kConvConv,  // SpanConv
    kConvMax,
    kConvMean,
    kConvSum,
    kConvShare,  // ConvShare
    kTokens,     // Scorer
  };
  enum class WordPooling : uint8_t { kOneToken, kMean, kMax };

  Mode mode = Mode::kMarkerV0;
  const char* spans = "span_rep_layer.span_rep_layer.";  // prefix of the tensors of spans
  int32_t width = 0;
  int32_t layers = 0;     // number of BiLSTM layers over the words
  int32_t max_width = 0;  // maximum words of a span
  WordPooling pooling = WordPooling::kOneToken;
  // Whether labels are vectors (from a bi-encoder) instead of rows of the text.
  bool label_vectors = false;
  // Blocks of each CrossFuser layer: "l2l", "t2t", "l2t" or "t2l". The first letter is the side that changes (labels or text), the last
  // letter the side that it attends to.
  std::vector<std::string> fusion;
  int32_t fusion_layers = 0;
  int32_t fusion_heads = 0;
};

// Adds logits. Spans: [pairs, labels], for pairs of first and last word. kTokens: [pairs, 3] with start, end and inside, for pairs of a
// word and a label.
void BuildHead(Build& b, Value hidden, const EntityHead& head);

// Returns vectors of words, [words, width of `hidden`], from those of tokens.
Value WordVectors(Build& b, Value hidden, const EntityHead& head);

// Computes vectors of spans, [pairs, width], from the vectors of words. Not for kTokens.
Value SpanVectors(Build& b, Value words, const EntityHead& head);

}  // namespace peruse
