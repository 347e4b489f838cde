// Heads that compare what a text says with labels that stand before it in the same text: GLiNER (Zaratiana et al., 2023) and
// GLiClass (Stepanov et al., 2025). They take one text, and beside it the rows of its words and labels (HeadInputs).
#pragma once

#include <cstdint>
#include <string>

#include "core/program/build.h"

namespace peruse {

// Reference classes: UniEncoderSpanModel, UniEncoderTokenModel.
struct EntityHead {
  enum class Mode : uint8_t {
    kMarker,    // SpanMarker
    kMarkerV0,  // SpanMarkerV0
    kTokens,    // Scorer
  };

  Mode mode = Mode::kMarkerV0;
  int32_t width = 0;   // of the head
  int32_t layers = 0;  // of the BiLSTM over the words
};

// logits [pairs, labels]: of spans, whose first and last words the pairs are; with kTokens [pairs, 3]: start, end and inside
// for pairs of a word and a label.
void BuildHead(Build& b, Value hidden, const EntityHead& head);

// GLiClassUniEncoder: one score for each label.
struct LabelHead {
  enum class Scorer : uint8_t { kDot, kWeightedDot, kMlp };

  Scorer scorer = Scorer::kDot;
  int32_t inner = 0;  // width of the projectors' hidden layer
  int32_t mlp_width[2] = {256, 128};
  Activation activation = Activation::kGelu;  // of the projectors
};

// logits [1, labels], or [labels, 1]. There is one word: the row that stands for the text; and its pair with each label.
void BuildHead(Build& b, Value hidden, const LabelHead& head);

}  // namespace peruse
