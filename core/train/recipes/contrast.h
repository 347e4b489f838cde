// Trains an embedder to give similar vectors to texts with the same label, and orthogonal vectors to texts with different labels. SetFit (Tunstall
// et al., 2022) does this with drawn pairs; here, an update uses all pairs of a batch. A classifier that is fitted to the new vectors needs fewer
// examples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/train/recipes/objective.h"

namespace peruse::train {

// Draws the batches of texts whose pairs are compared.
class ContrastBatches {
 public:
  // Each example must have one label, and must outlive the object. A batch has at most `texts` texts and `tokens` tokens, but at least four
  // texts.
  ContrastBatches(std::span<const Example> examples, int32_t texts, int32_t tokens, uint64_t seed);

  // Returns the examples of an update: all if they are few, otherwise equally many of each label, and of some labels only if there are many.
  Part Draw(size_t update) const;

 private:
  std::vector<Part> by_label_;  // without labels that no example has
  size_t texts_, tokens_;
  uint64_t seed_;
};

// Returns the mean of (1 - cosine)^2 over all pairs of texts with the same label, plus the mean of cosine^2 over all pairs with different
// labels; 0 for a kind of pair that the batch does not have. Writes the gradient. `vectors` and `gradient`: [texts, width].
double ContrastLoss(const Part& part, const Block& vectors, const Block& gradient);

}  // namespace peruse::train
