// The best sequence of BIOES labels, as OpenAI's package for its privacy filter chooses it. A span is B, any number of I, and E; or S alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/families/config.h"

namespace peruse {

class BioesPath {
 public:
  static constexpr float kIllegal = -1e9f;  // the score of a step that is not allowed

  BioesPath(std::span<const std::string> labels, const PathBiases& biases);

  // Returns the label of each token in the sequence with the largest sum of scores and biases (Viterbi, 1967), in float32. Ties go to the
  // label with the lower number. A sequence with an illegal step is chosen only if there is no legal one. scores: logarithms of the labels'
  // probabilities for each token.
  std::vector<size_t> Best(std::span<const std::vector<float>> scores) const;

 private:
  struct Mark {
    char prefix;  // 'B', 'I', 'E', 'S', or 'O' for labels without one
    std::string_view name;
  };

  float Step(const Mark& from, const Mark& to) const;

  std::vector<Mark> marks_;
  std::vector<float> steps_;  // [from, to]
  PathBiases biases_;
};

}  // namespace peruse
