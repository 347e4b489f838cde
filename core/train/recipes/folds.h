// Splits examples for cross-validation, or holds out a share. Distributes labels evenly, and keeps equal texts and windows of one text
// together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/train/recipes/objective.h"

namespace peruse::train {

// Assigns a fold in [0, count) to each example, shuffled by the seed. Examples with equal ids get the same fold. For even distribution, an
// example's label is its label, its largest target, the last label of its tokens, or whether it has an answer.
std::vector<int32_t> FoldsOf(std::span<const Example> examples, int32_t count, uint64_t seed);

// Returns the number of folds: 5, or 10 for fewer than 30 examples, but at most the number of examples.
int32_t FoldCount(size_t examples);

// Selects the examples to hold out: about this share of each label, but never the last text of a label.
std::vector<bool> HeldOut(std::span<const Example> examples, double share, uint64_t seed);

}  // namespace peruse::train
