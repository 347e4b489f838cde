// Logistic regression on features that do not change: convex, so that its answer does not depend on a start or a rate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/train/workers.h"

namespace peruse::train {

// Rows of features [rows, width] and the targets of their labels [rows, labels]: probabilities (one of them 1 for a hard label), times what
// the row counts for.
struct LogisticData {
  std::span<const float> features;
  std::span<const float> targets;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t labels = 0;
  bool sigmoid = false;  // each label on its own: a sigmoid in place of the softmax
};

struct LogisticFit {
  std::vector<float> weight;  // [labels, width]
  std::vector<float> bias;    // [labels]
  double l2 = 0;              // that cross-validation chose
  double loss = 0;            // mean cross-entropy on the data
};

// Minimises the mean over rows of - sum_k t_k log p_k + l2 / 2 |weight|^2 by L-BFGS (Liu and Nocedal, 1989); of a grid
// of l2 the one with the least loss on held-out folds. `seed`: of the folds.
LogisticFit FitLogistic(const LogisticData& data, uint64_t seed, const Workers& workers);

}  // namespace peruse::train
