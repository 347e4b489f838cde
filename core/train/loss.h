// Losses over rows of logits, and their gradients. Each function returns its rows' sum divided by a total that the caller gives, and writes
// the gradient of that. So the results for parts of a batch add up to the batch's loss.
//
// Formulas: torch.nn.functional's cross_entropy (with its label_smoothing and weight), binary_cross_entropy_with_logits, mse_loss.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor/ragged_batch.h"
#include "core/train/tape.h"

namespace peruse::train {

inline constexpr int32_t kIgnored = -100;  // the label of a row without loss

struct CrossEntropyOptions {
  std::span<const float> class_weights = {};  // empty means all 1
  float smoothing = 0;
  const Workers* workers = nullptr;  // threads that share the rows; null means the calling thread only
};

// The total weight of the rows: the sum of their labels' weights.
double CrossEntropyMass(std::span<const int32_t> labels, const CrossEntropyOptions& options);

inline double WeightOf(int64_t label, const CrossEntropyOptions& options) {
  return options.class_weights.empty() ? 1 : double{options.class_weights[static_cast<size_t>(label)]};
}
// The target of a row's softmax at column c of `classes`: its label, weighted and smoothed.
inline double CrossEntropyTarget(int32_t label, int64_t c, int64_t classes, const CrossEntropyOptions& options) {
  const double smoothing = double{options.smoothing};
  return WeightOf(c, options) * (smoothing / static_cast<double>(classes) + (c == label ? 1 - smoothing : 0));
}

// Returns the sum of the rows' weighted losses, divided by `mass`.
double CrossEntropy(const Block& logits, std::span<const int32_t> labels, const CrossEntropyOptions& options,
                    double mass, const Block& gradient);
// Returns the sum over rows of - sum_k p_k log softmax(z)_k, with p [rows, cols], divided by `rows`.
double SoftCrossEntropy(const Block& logits, std::span<const float> targets, double rows, const Block& gradient);
// Sums over cells, with targets in [0, 1]; divided by `cells`.
double SigmoidCrossEntropy(const Block& logits, std::span<const float> targets, double cells, const Block& gradient);
// Sums (z - y)^2; divided by `cells`.
double SquaredError(const Block& values, std::span<const float> targets, double cells, const Block& gradient);
// Question answering, logits [tokens, 2]: cross-entropies of start and end over each text's tokens, divided by 2 `texts`. As in
// transformers, positions outside the text are ignored.
double SpanCrossEntropy(const Block& logits, const RaggedBatch& batch, std::span<const int32_t> starts,
                        std::span<const int32_t> ends, double texts, const Block& gradient);
// Returns `scale` times the sum over rows of both cross-entropies against the other softmax (scale-invariant fine-tuning, He et al.,
// 2020). Adds to both gradients, each with the other softmax as a constant.
double SymmetricDivergence(const Block& one, const Block& other, double scale, const Block& one_gradient,
                           const Block& other_gradient);

}  // namespace peruse::train
