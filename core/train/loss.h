// Losses over rows of logits, and their gradients. Each returns `weight` times the loss and writes the gradient of that; a loss whose
// rows are spread over several batches is the sum of these with weights that add up to one.
//
// Formulas: torch.nn.functional's cross_entropy (with its label_smoothing and weight), binary_cross_entropy_with_logits, mse_loss.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor/ragged_batch.h"
#include "core/train/tape.h"

namespace peruse::train {

inline constexpr int32_t kIgnored = -100;  // the label of a row that counts for nothing

struct CrossEntropyOptions {
  std::span<const float> class_weights = {};  // empty: all 1
  float smoothing = 0;
  const Workers* workers = nullptr;  // who share the rows; none: the caller alone
};

// What rows count for in all: the sum of their labels' weights.
double CrossEntropyMass(std::span<const int32_t> labels, const CrossEntropyOptions& options);

inline double WeightOf(int64_t label, const CrossEntropyOptions& options) {
  return options.class_weights.empty() ? 1 : double{options.class_weights[static_cast<size_t>(label)]};
}
// What a row's softmax is compared with at column c of `classes`: its label, weighted and smoothed.
inline double CrossEntropyTarget(int32_t label, int64_t c, int64_t classes, const CrossEntropyOptions& options) {
  const double smoothing = double{options.smoothing};
  return WeightOf(c, options) * (smoothing / static_cast<double>(classes) + (c == label ? 1 - smoothing : 0));
}

// The sum over rows of their weighted losses, divided by `mass`.
double CrossEntropy(const Block& logits, std::span<const int32_t> labels, const CrossEntropyOptions& options,
                    double mass, const Block& gradient);
// - sum_k p_k log softmax(z)_k of each row, p [rows, cols], divided by `rows`.
double SoftCrossEntropy(const Block& logits, std::span<const float> targets, double rows, const Block& gradient);
// Of each cell on its own, targets in [0, 1]; divided by `cells`.
double SigmoidCrossEntropy(const Block& logits, std::span<const float> targets, double cells, const Block& gradient);
// (z - y)^2, divided by `cells`.
double SquaredError(const Block& values, std::span<const float> targets, double cells, const Block& gradient);
// Question answering, logits [tokens, 2]: cross-entropy of the start over each text's tokens, and of the end; divided by
// 2 `texts`. A place outside the text is ignored, as by transformers.
double SpanCrossEntropy(const Block& logits, const RaggedBatch& batch, std::span<const int32_t> starts,
                        std::span<const int32_t> ends, double texts, const Block& gradient);
// Of each row both cross-entropies against the other's softmax, a constant there; divided by `rows` (scale-invariant
// fine-tuning, He et al., 2020). Adds to both gradients.
double SymmetricDivergence(const Block& one, const Block& other, double scale, const Block& one_gradient,
                           const Block& other_gradient);

}  // namespace peruse::train
