// Losses over rows of logits. Each function returns the sum over rows divided by a total that the caller gives, and writes the gradient of
// that value; so losses of parts of a batch add up. Formulas: torch.nn.functional's cross_entropy (with label_smoothing and weight),
// binary_cross_entropy_with_logits, mse_loss.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor/ragged_batch.h"
#include "core/train/memory/tape.h"

namespace peruse::train {

inline constexpr int32_t kIgnored = -100;  // label of a row that does not count

struct CrossEntropyOptions {
  std::span<const float> class_weights = {};  // empty means that all weights are 1
  float smoothing = 0;
  const Workers* workers = nullptr;  // threads that share the rows; null means only the calling thread
};

double CrossEntropyMass(std::span<const int32_t> labels, const CrossEntropyOptions& options);

inline double WeightOf(int64_t label, const CrossEntropyOptions& options) {
  return options.class_weights.empty() ? 1 : double{options.class_weights[static_cast<size_t>(label)]};
}
// Returns the softmax target of column c of `classes` in a row with this label, with class weights and smoothing.
inline double CrossEntropyTarget(int32_t label, int64_t c, int64_t classes, const CrossEntropyOptions& options) {
  const double smoothing = double{options.smoothing};
  return WeightOf(c, options) * (smoothing / static_cast<double>(classes) + (c == label ? 1 - smoothing : 0));
}

// Returns the weighted sum of losses, divided by `mass`.
double CrossEntropy(const Block& logits, std::span<const int32_t> labels, const CrossEntropyOptions& options,
                    double mass, const Block& gradient);
// Returns the sum over rows of - sum_k p_k log softmax(z)_k, divided by `rows`. The targets p are [rows, cols].
double SoftCrossEntropy(const Block& logits, std::span<const float> targets, double rows, const Block& gradient);
double SigmoidCrossEntropy(const Block& logits, std::span<const float> targets, double cells, const Block& gradient);
double SquaredError(const Block& values, std::span<const float> targets, double cells, const Block& gradient);
// Question answering, logits [tokens, 2]: cross-entropies of start and end over the tokens of each text, divided by 2 `texts`. Ignores
// positions outside the text, as transformers does.
double SpanCrossEntropy(const Block& logits, const RaggedBatch& batch, std::span<const int32_t> starts,
                        std::span<const int32_t> ends, double texts, const Block& gradient);
// Returns `scale` times the sum over rows of the cross-entropies of each softmax against the other (scale-invariant fine-tuning, He et al.,
// 2020). Adds to both gradients; each treats the other softmax as constant.
double SymmetricDivergence(const Block& one, const Block& other, double scale, const Block& one_gradient,
                           const Block& other_gradient);

}  // namespace peruse::train
