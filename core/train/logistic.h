// Logistic regression on fixed features. It is convex: the answer depends neither on a start nor on a learning rate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/train/workers.h"

namespace peruse::train {

// Rows of features [rows, width] and the targets of their labels [rows, labels]: probabilities (one of them 1 for a hard label), times the
// weight of the row.
struct LogisticData {
  std::span<const float> features;
  std::span<const float> targets;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t labels = 0;
  bool sigmoid = false;  // a sigmoid for each label in place of the softmax
};

struct LogisticFit {
  std::vector<float> weight;    // [labels, width]
  std::vector<float> bias;      // [labels]
  double l2 = 0;                // chosen by cross-validation, for the features as they are
  double loss = 0;              // mean cross-entropy on the data
  double held_out_loss = 0;     // the same, of each row by a fit without its fold
  std::vector<float> held_out;  // [rows, labels]: scores (logits) of each row by a fit without its fold
};

// Minimises the mean over rows of - sum_k t_k log p_k + l2 / 2 |weight|^2 by L-BFGS (Liu and Nocedal, 1989). Takes the l2 with the
// least loss on held-out folds from a grid, which is divided by the features' mean variance.
// `folds`: the fold of each row, from 0 to below `fold_count`; see FoldsOf in folds.h.
LogisticFit FitLogistic(const LogisticData& data, std::span<const int32_t> folds, int32_t fold_count,
                        const Workers& workers);

}  // namespace peruse::train
