// The conformance list: which operations, at which shapes, every backend is held to. A case is data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/backend/activation.h"

namespace peruse::testing {

enum class Operation {
  kLinear,
  kLinearMultiply,
  kLinearAddNorm,
  kLayerNorm,
  kAddNorm,
  kAttention,
  kDisentangledAttention,
  kDepthwiseConv,
  kSpanConv,
  kLinearSpanConv,
  kConv1d,
  kMultiply,
  kAdd,
  kActivate,
  kSelectRows,
};

// How distances map to slots (see RelativePositions).
enum class Slots {
  kExact,      // one slot for each distance
  kClamped,    // DeBERTa v1 with a short span: distances past 4 share a slot
  kLogBucket,  // DeBERTa v2 and v3: ever longer runs of distances share a slot
  kScrambled,  // no order at all; what the interface allows, if no model asks for it
};

struct OperationCase {
  Operation operation;
  std::vector<int32_t> lengths;  // of the sequences; the rows are their sum
  int32_t cols = 0;              // of the input x, query or values
  int32_t out = 0;               // outputs of a linear or a convolution
  int32_t groups = 1;
  int32_t heads = 1;
  int32_t kernel = 0;  // taps
  Activation activation = Activation::kNone;
  bool strided_in = false;   // inputs are column blocks of wider matrices
  bool strided_out = false;  // and so is the output
  bool position_key = false;
  bool position_query = false;
  Slots slots = Slots::kExact;
  bool extra_output = false;  // probabilities or kernels too
  bool broadcast = false;     // Add: y has one row
  bool half_weights = false;  // of a linear or a convolution; they are representable as half
  bool q8 = false;            // int8 weights of a linear or a convolution
  bool wide_input = false;    // and activations of 13 bits
  float offset = 0;           // added to every value of x: a large mean

  int32_t rows() const;
  int32_t longest() const;
  std::string name() const;  // letters, digits and underscores
};

std::vector<OperationCase> AllCases();

}  // namespace peruse::testing
