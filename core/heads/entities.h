// GLiNER's heads (Zaratiana et al., 2023): spans or words of a text, compared with labels. They take one text, and beside it
// the rows of its words and labels (HeadInputs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/program/build.h"

namespace peruse {

// Reference classes: UniEncoderSpanModel, UniEncoderTokenModel, BiEncoderSpanModel, BiEncoderTokenModel.
struct EntityHead {
  enum class Mode : uint8_t {
    kMarker,    // SpanMarker
    kMarkerV0,  // SpanMarkerV0
    kMarkerV1,  // SpanMarkerV1: with the mean of all words
    kMarkerV2,  // SpanMarkerV2: with the last word
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
  int32_t width = 0;      // of the head
  int32_t layers = 0;     // of the BiLSTM over the words
  int32_t max_width = 0;  // words of the longest span
  WordPooling pooling = WordPooling::kOneToken;
  // Labels come as vectors (a bi-encoder), not as rows of the text.
  bool label_vectors = false;
  // CrossFuser: "l2l", "t2t", "l2t", "t2l" for each block of a layer; first the side that changes (labels, text), then the side that it attends to.
  std::vector<std::string> fusion;
  int32_t fusion_layers = 0;
  int32_t fusion_heads = 0;
};

// logits [pairs, labels]: of spans, whose first and last words the pairs are; with kTokens [pairs, 3]: start, end and inside
// for pairs of a word and a label.
void BuildHead(Build& b, Value hidden, const EntityHead& head);

// Vectors of spans, [pairs, width], from those of the words. Not for kTokens.
Value SpanVectors(Build& b, Value words, const EntityHead& head);

}  // namespace peruse
