// Folds of examples for cross-validation, and a held-out share. Both have about the same share of every label, and keep equal texts and the
// windows of one text together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/train/objective.h"

namespace peruse::train {

// The fold of each example, from 0 to below `count`, drawn by the seed. Examples with equal ids get one fold; the label of an example is its
// label, its largest target, the last label of its tokens, or whether it has an answer.
std::vector<int32_t> FoldsOf(std::span<const Example> examples, int32_t count, uint64_t seed);

// The number of folds for so many examples: 5, but 10 where there are fewer than 30, and at most one an example.
int32_t FoldCount(size_t examples);

// Which examples to hold out: about this share of each label's, and never the last text of a label.
std::vector<bool> HeldOut(std::span<const Example> examples, double share, uint64_t seed);

}  // namespace peruse::train
