// GLiClass's heads (Stepanov et al., 2025): a text compared with labels, one score for each.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ops/activation.h"
#include "core/program/build.h"

namespace peruse {

// Reference classes: GLiClassUniEncoder, GLiClassBiEncoder, GLiClassBiEncoderFused.
struct LabelHead {
  enum class Scorer : uint8_t { kDot, kWeightedDot, kMlp, kHopfield, kCrossAttention };
  // What stands for the text of its rows: one of them, what is pooled of all, or each by itself.
  enum class Pooling : uint8_t { kFirst, kLast, kPooled, kNone };
  enum class Labels : uint8_t {
    kRows,     // of the text that is read
    kVectors,  // brought: the labels were read by themselves
    kPlaces,   // brought, and put into the text that is read, which then has rows for them
  };

  Scorer scorer = Scorer::kDot;
  Labels labels = Labels::kRows;
  int32_t inner = 0;  // width of the projectors' hidden layer
  int32_t mlp_width[2] = {256, 128};
  int32_t heads = 1;                          // of kCrossAttention
  Activation activation = Activation::kGelu;  // of the projectors
  Pooling pooling = Pooling::kFirst;
  ops::PoolRows::Kind pool = ops::PoolRows::Kind::kMean;  // of kPooled
  bool words = false;                                     // the text's rows are the words; else all tokens
  bool average_labels = false;                            // a label's vector is the mean of its rows
  bool lstm = false;                                      // over the text's rows
  bool normalize = false;                                 // what is compared has length one
  std::optional<int32_t> hidden;                          // the layer whose hidden state is read; the last if unset
};

// logits [1, labels], or [labels, 1]. Pairs are the text, 0, with each label.
void BuildHead(Build& b, Value hidden, const LabelHead& head);

// Vectors of labels, [texts, width], from what a second encoder made of them, a label a text.
Value LabelVectorsOf(Build& b, Value hidden, const LabelHead& head, int32_t width);

}  // namespace peruse
