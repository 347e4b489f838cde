// The best sequence of BIOES labels, as OpenAI's package for its privacy filter chooses it. A span is B, any number of I, and E; or S alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/families/config.h"

namespace peruse {

inline constexpr float kIllegalStep = -1e9f;  // the score of a step that is not allowed

// Returns the label of each token in the sequence with the largest sum of scores and biases (Viterbi, 1967), in float32. Ties go to the label
// with the lower number. A sequence with an illegal step is chosen only if there is no legal one. scores: logits of the labels for each
// token, at least one; a number added to all logits of a token changes nothing.
std::vector<size_t> BestPath(std::span<const std::vector<float>> scores, std::span<const std::string> labels,
                             const PathBiases& biases);

}  // namespace peruse
