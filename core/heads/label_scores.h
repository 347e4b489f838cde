// GLiClass's heads (Stepanov et al., 2025) compare a text with labels, and give one score per label.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ops/activation.h"
#include "core/program/build.h"

namespace peruse {

// Package gliclass: GLiClassUniEncoder, GLiClassBiEncoder, GLiClassBiEncoderFused.
struct LabelHead {
  enum class Scorer : uint8_t { kDot, kWeightedDot, kMlp, kHopfield, kCrossAttention };
  // How to represent the text: by one of its rows, by a pooling of all rows, or by every row separately.
  enum class Pooling : uint8_t { kFirst, kLast, kPooled, kNone };
  enum class Labels : uint8_t {
    kRows,     // rows of the text, which contains the labels
    kVectors,  // vectors that the caller provides: labels are encoded separately
    kPlaces,   // vectors that the caller provides, at positions that the text has for them
  };

  Scorer scorer = Scorer::kDot;
  Labels labels = Labels::kRows;
  int32_t inner = 0;  // width of the hidden layers of projectors
  int32_t mlp_width[2] = {256, 128};
  int32_t heads = 1;                          // for kCrossAttention
  Activation activation = Activation::kGelu;  // activation of the projectors
  Pooling pooling = Pooling::kFirst;
  ops::PoolRows::Kind pool = ops::PoolRows::Kind::kMean;  // for kPooled
  bool words = false;                                     // pools words of the text instead of all tokens
  bool average_labels = false;                            // a label's vector is the mean of its rows
  bool lstm = false;                                      // applies an LSTM to the rows of the text
  bool normalize = false;                                 // scales compared vectors to unit length
  std::optional<int32_t> hidden;                          // layer whose hidden state is used; nullopt means the last
};

void BuildHead(Build& b, Value hidden, const LabelHead& head);

// Computes label vectors [texts, width] from a second encoder's output. Each text is a label.
Value LabelVectorsOf(Build& b, Value hidden, const LabelHead& head, int32_t width);

}  // namespace peruse
