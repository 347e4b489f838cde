// GLiClass's heads (Stepanov et al., 2025): compare a text with labels, with one score per label.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ops/activation.h"
#include "core/program/build.h"

namespace peruse {

// Reference classes: GLiClassUniEncoder, GLiClassBiEncoder, GLiClassBiEncoderFused.
struct LabelHead {
  enum class Scorer : uint8_t { kDot, kWeightedDot, kMlp, kHopfield, kCrossAttention };
  // The text's vector: one of its rows, a pooling of all, or every row separately.
  enum class Pooling : uint8_t { kFirst, kLast, kPooled, kNone };
  enum class Labels : uint8_t {
    kRows,     // rows of the text that contains them
    kVectors,  // inputs: the labels were encoded separately
    kPlaces,   // inputs, inserted into the text, which has positions for them
  };

  Scorer scorer = Scorer::kDot;
  Labels labels = Labels::kRows;
  int32_t inner = 0;  // width of the projectors' hidden layer
  int32_t mlp_width[2] = {256, 128};
  int32_t heads = 1;                          // for kCrossAttention
  Activation activation = Activation::kGelu;  // of the projectors
  Pooling pooling = Pooling::kFirst;
  ops::PoolRows::Kind pool = ops::PoolRows::Kind::kMean;  // for kPooled
  bool words = false;                                     // the text's rows are its words instead of all tokens
  bool average_labels = false;                            // a label's vector is the mean of its rows
  bool lstm = false;                                      // over the text's rows
  bool normalize = false;                                 // scale compared vectors to unit length
  std::optional<int32_t> hidden;                          // the layer whose hidden state is used; unset means the last
};

// logits [1, labels], or [labels, 1]. Pairs combine the text (0) with each label.
void BuildHead(Build& b, Value hidden, const LabelHead& head);

// Computes label vectors, [texts, width], from a second encoder's output, with one label per text.
Value LabelVectorsOf(Build& b, Value hidden, const LabelHead& head, int32_t width);

}  // namespace peruse
