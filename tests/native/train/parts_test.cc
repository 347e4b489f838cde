#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "core/ops/reference.h"
#include "core/train/memory/dropout.h"
#include "core/train/memory/random_stream.h"
#include "core/train/memory/workers.h"
#include "core/train/ops/loss.h"
#include "core/train/recipes/folds.h"
#include "core/train/recipes/logistic.h"
#include "tests/native/train/threads_here.h"

namespace peruse::train {
namespace {

std::vector<float> Random(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(static_cast<int32_t>(random() % 2001) - 1000) / 1000);
  return values;
}

TEST(Products, AgreeWithPlainSums) {
  Products products;
  ASSERT_TRUE(products.Allocate().ok());
  for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                {6, 16, 8},
                                {7, 17, 3},
                                {13, 5, 257},
                                {97, 33, 256},
                                {5, 1030, 20},
                                {200, 40, 600},
                                {3, 4, 0}}) {
    const std::vector<float> a = Random(m * k, 1), b = Random(k * n, 2), start = Random(m * n, 3);
    for (int turned = 0; turned < 4; ++turned) {
      const Operand left = turned & 1 ? Operand{a.data(), 1, m} : Operand{a.data(), k, 1};
      const Operand right = turned & 2 ? Operand{b.data(), 1, k} : Operand{b.data(), n, 1};
      for (const bool add : {false, true}) {
        std::vector<float> c = start;
        products.Run(m, n, k, left, right, c.data(), n, add);
        for (int64_t r = 0; r < m; ++r) {
          for (int64_t col = 0; col < n; ++col) {
            double sum = add ? double{start[static_cast<size_t>(r * n + col)]} : 0;
            double size = std::fabs(sum);
            for (int64_t p = 0; p < k; ++p) {
              const double product = double{left.data[r * left.row_stride + p * left.col_stride]} *
                                     double{right.data[p * right.row_stride + col * right.col_stride]};
              sum += product;
              size += std::fabs(product);
            }
            ASSERT_NEAR(c[static_cast<size_t>(r * n + col)], sum, ops::kEpsilon * ops::kDot * size)
                << m << " " << n << " " << k << " " << turned;
          }
        }
      }
    }
  }
}

TEST(Workers, MultiplyTheSameHoweverManyTheyAre) {
  for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{61, 200, 300},
                                {513, 70, 260},
                                {1, 1030, 40},
                                {300, 2, 128},
                                {5, 7, 9},
                                {256, 256, 0}}) {
    const std::vector<float> a = Random(m * k, 1), b = Random(k * n, 2), start = Random(m * n, 3);
    for (int turned = 0; turned < 4; ++turned) {
      const Operand left = turned & 1 ? Operand{a.data(), 1, m} : Operand{a.data(), k, 1};
      const Operand right = turned & 2 ? Operand{b.data(), 1, k} : Operand{b.data(), n, 1};
      for (const bool add : {false, true}) {
        Products products;
        ASSERT_TRUE(products.Allocate().ok());
        std::vector<float> want = start;
        products.Run(m, n, k, left, right, want.data(), n, add);
        for (const int32_t threads : {1, 2, 5}) {
          std::vector<float> got = start;
          Workers::Create(ThreadsHere(threads)).value()->Multiply(m, n, k, left, right, got.data(), n, add);
          ASSERT_EQ(got, want) << m << " " << n << " " << k << " " << turned << " with " << threads;
        }
      }
    }
  }
}

TEST(Workers, SplitWithoutGapsAtMultiplesOfTheUnit) {
  const auto workers = Workers::Create(ThreadsHere(3)).value();
  for (const int64_t count : {0, 1, 7, 64, 1000}) {
    for (const int64_t cost : {1, 1 << 14}) {
      std::vector<int> seen(static_cast<size_t>(count));
      workers->ForPieces(count, 8, cost, [&](int64_t first, int64_t end) {
        EXPECT_EQ(first % 8, 0);
        for (int64_t i = first; i < end; ++i) ++seen[static_cast<size_t>(i)];
      });
      EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(count), 1));
    }
  }
  EXPECT_FALSE(Workers::Create(0).ok());
}

TEST(Philox, GivesTheKnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Number i of a row is word i % 4 of counter i / 4, whatever the number of words computed together.
TEST(Dropout, IsPhiloxByPlaceRowAndIndex) {
  const Dropout dropout = {0.25f, (uint64_t{7} << 32) + 5, 3};
  for (int64_t count = 0; count < 75; ++count) {
    std::vector<float> row = Random(count, 2), want = row;
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t word = Philox({static_cast<uint32_t>(i / 4), 11, 9, 3}, {5, 7})[static_cast<size_t>(i % 4)];
      want[static_cast<size_t>(i)] = word < (1u << 30) ? 0 : want[static_cast<size_t>(i)] * (1 / 0.75f);
    }
    dropout.Apply(/*place=*/9, /*row_number=*/11, row.data(), count);
    EXPECT_EQ(row, want) << count;
  }
}

TEST(Dropout, DropsItsPartAndKeepsTheMean) {
  const Dropout dropout = {0.3f, 5, 2};
  std::vector<float> row(100000, 1), again(row);
  dropout.Apply(1, 7, row.data(), static_cast<int64_t>(row.size()));
  dropout.Apply(1, 7, again.data(), static_cast<int64_t>(again.size()));
  EXPECT_EQ(row, again);
  const auto dropped = static_cast<double>(std::count(row.begin(), row.end(), 0.0f));
  EXPECT_NEAR(dropped / 1e5, 0.3, 0.01);
  EXPECT_FLOAT_EQ(*std::max_element(row.begin(), row.end()), 1 / 0.7f);
  dropout.Apply(1, 8, again.data(), 1000);
  EXPECT_NE(std::vector<float>(row.begin(), row.begin() + 1000),
            std::vector<float>(again.begin(), again.begin() + 1000));
}

// Compares gradients with central differences of the losses, and losses with their formulas.
using Loss = std::function<double(const Block& logits, const Block& gradient)>;

void ExpectGradient(const Loss& loss, int64_t rows, int64_t cols) {
  std::vector<float> logits = Random(rows * cols, 4), gradient(logits.size()), unused(logits.size());
  const Block block = {logits.data(), rows, cols, cols};
  loss(block, {gradient.data(), rows, cols, cols});
  for (size_t i = 0; i < logits.size(); ++i) {
    constexpr float kStep = 1.0f / 64;  // exact in float32; losses are computed in double
    const float kept = logits[i];
    const auto at = [&](float value) {
      logits[i] = value;
      return loss(block, {unused.data(), rows, cols, cols});
    };
    // Richardson extrapolation, exact to h^4.
    const double wide = (at(kept + kStep) - at(kept - kStep)) / (2 * double{kStep});
    const double narrow = (at(kept + kStep / 2) - at(kept - kStep / 2)) / double{kStep};
    logits[i] = kept;
    EXPECT_NEAR(gradient[i], (4 * narrow - wide) / 3, 1e-6) << "cell " << i;
  }
}

TEST(Losses, HaveTheirGradients) {
  const std::vector<int32_t> labels = {2, kIgnored, 0, 1};
  const std::vector<float> weights = {0.5f, 2, 1};
  for (const float smoothing : {0.0f, 0.2f}) {
    for (const bool weighted : {false, true}) {
      CrossEntropyOptions options = {.smoothing = smoothing};
      if (weighted) options.class_weights = weights;
      ExpectGradient(
          [&](const Block& z, const Block& g) {
            return CrossEntropy(z, labels, options, CrossEntropyMass(labels, options), g);
          },
          4, 3);
    }
  }
  const std::vector<float> targets = {0.1f, 0.9f, 0, 0.5f, 0.25f, 0.25f};
  ExpectGradient([&](const Block& z, const Block& g) { return SoftCrossEntropy(z, targets, 2, g); }, 2, 3);
  ExpectGradient([&](const Block& z, const Block& g) { return SigmoidCrossEntropy(z, targets, 6, g); }, 2, 3);
  ExpectGradient([&](const Block& z, const Block& g) { return SquaredError(z, targets, 6, g); }, 2, 3);
  RaggedBatch batch;
  for (const int32_t length : {3, 1, 4}) batch.Append(length);
  const std::vector<int32_t> starts = {1, 0, 9}, ends = {2, 0, 3};  // 9 is beyond the text
  ExpectGradient([&](const Block& z, const Block& g) { return SpanCrossEntropy(z, batch, starts, ends, 3, g); }, 8, 2);
}

TEST(Losses, AreThoseOfPyTorch) {
  std::vector<float> logits = {1, 2, 0.5f, -1, 0, 3}, gradient(6);
  const Block z = {logits.data(), 2, 3, 3}, g = {gradient.data(), 2, 3, 3};
  const std::vector<int32_t> labels = {0, 2};
  // torch.nn.functional.cross_entropy of these values: plain; with weight [0.5, 2, 1]; also with label_smoothing 0.1.
  const std::vector<float> weights = {0.5f, 2, 1};
  CrossEntropyOptions options;
  const double first = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(0.5)) - 1;
  const double second = std::log(std::exp(-1.0) + 1 + std::exp(3.0)) - 3;
  EXPECT_NEAR(CrossEntropy(z, labels, options, CrossEntropyMass(labels, options), g), (first + second) / 2, 1e-9);
  options.class_weights = weights;
  EXPECT_NEAR(CrossEntropy(z, labels, options, CrossEntropyMass(labels, options), g), (0.5 * first + second) / 1.5,
              1e-9);
}

LogisticFit Fit(const LogisticData& data) {
  std::vector<int32_t> folds;
  for (int64_t row = 0; row < data.rows; ++row) folds.push_back(static_cast<int32_t>(row % 5));
  return FitLogistic(data, folds, 5, *Workers::Create(ThreadsHere(2)).value());
}

TEST(Logistic, FindsTheLineThatSeparates) {
  const std::vector<float> random = Random(200 * 2, 9);
  std::vector<float> targets;
  for (size_t i = 0; i < 200; ++i) {
    const bool one = random[2 * i] + 2 * random[2 * i + 1] > 0.1f;
    targets.push_back(one ? 0.0f : 1.0f);
    targets.push_back(one ? 1.0f : 0.0f);
  }
  const LogisticFit fit = Fit({random, targets, 200, 2, 2, false});
  EXPECT_LT(fit.loss, 0.1);
  int right = 0;
  for (size_t i = 0; i < 200; ++i) {
    const auto score = [&](size_t k) {
      return fit.weight[2 * k] * random[2 * i] + fit.weight[2 * k + 1] * random[2 * i + 1] + fit.bias[k];
    };
    right += (score(1) > score(0)) == (targets[2 * i + 1] == 1);
  }
  EXPECT_GE(right, 196);
  const double slope = double{fit.weight[3] - fit.weight[1]} / double{fit.weight[2] - fit.weight[0]};
  EXPECT_NEAR(slope, 2, 0.2);
}

// The gradient of a convex function is zero at its minimum: here that of CrossEntropy plus decay, with label weights and smoothing.
TEST(Logistic, HasItsLeastWhereTheLossOfTrainingHas) {
  constexpr int64_t kRows = 60, kLabels = 3, kWidth = 4;
  std::vector<float> features = Random(kRows * kWidth, 11);
  std::vector<int32_t> labels;
  for (const float x : Random(kRows, 12)) labels.push_back(x < -0.5f ? 0 : x < 0.2f ? 1 : 2);
  const std::vector<float> weights = {3, 1, 0.25f};
  const CrossEntropyOptions options = {.class_weights = weights, .smoothing = 0.1f};
  const double mass = CrossEntropyMass(labels, options);
  std::vector<float> targets;
  for (const int32_t label : labels) {
    for (int64_t c = 0; c < kLabels; ++c)
      targets.push_back(static_cast<float>(CrossEntropyTarget(label, c, kLabels, options) * kRows / mass));
  }
  const LogisticFit fit = Fit({features, targets, kRows, kWidth, kLabels, false});

  std::vector<float> logits, gradient(kRows * kLabels);
  for (int64_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kLabels; ++c) {
      logits.push_back(fit.bias[c]);
      for (size_t i = 0; i < kWidth; ++i) logits.back() += fit.weight[c * kWidth + i] * features[r * kWidth + i];
    }
  }
  const Block z = {logits.data(), kRows, kLabels, kLabels}, g = {gradient.data(), kRows, kLabels, kLabels};
  EXPECT_NEAR(CrossEntropy(z, labels, options, mass, g), fit.loss, 1e-5);
  for (float& logit : logits) logit /= static_cast<float>(fit.factor);  // The minimum itself.
  CrossEntropy(z, labels, options, mass, g);
  for (size_t c = 0; c < kLabels; ++c) {
    for (size_t i = 0; i <= kWidth; ++i) {
      double slope = i == kWidth ? 0 : fit.l2 * double{fit.weight[c * kWidth + i]} / fit.factor;
      for (size_t r = 0; r < kRows; ++r) {
        slope += double{gradient[r * kLabels + c]} * (i == kWidth ? 1 : double{features[r * kWidth + i]});
      }
      EXPECT_NEAR(slope, 0, 1e-4) << c << ", " << i;
    }
  }
}

// The fit centres and scales features, so moved or scaled features give the same scores.
TEST(Logistic, DoesNotDependOnTheScaleOfFeatures) {
  constexpr int64_t kRows = 40, kWidth = 6;
  const std::vector<float> features = Random(kRows * kWidth, 21);
  std::vector<float> moved, targets;
  for (const float x : features) moved.push_back(50 * x - 700);
  for (int64_t row = 0; row < kRows; ++row) {
    const bool one = features[static_cast<size_t>(row * kWidth)] > 0.2f;
    targets.insert(targets.end(), {one ? 0.0f : 1.0f, one ? 1.0f : 0.0f});
  }
  const LogisticFit fit = Fit({features, targets, kRows, kWidth, 2, false});
  const LogisticFit other = Fit({moved, targets, kRows, kWidth, 2, false});
  EXPECT_NEAR(other.l2 / fit.l2, 2500, 10);
  for (size_t i = 0; i < fit.weight.size(); ++i) EXPECT_NEAR(50 * other.weight[i], fit.weight[i], 1e-3);
  for (size_t i = 0; i < fit.held_out.size(); ++i) EXPECT_NEAR(other.held_out[i], fit.held_out[i], 5e-2);
}

// The held-out score of a row comes from a fit without its fold, so random labels are predicted at chance level.
TEST(Logistic, HeldOutScoresAreOfRowsNotSeen) {
  constexpr int64_t kRows = 60, kWidth = 100;
  const std::vector<float> features = Random(kRows * kWidth, 31);
  std::vector<float> targets;
  for (const float x : Random(kRows, 32)) targets.insert(targets.end(), {x > 0 ? 0.0f : 1.0f, x > 0 ? 1.0f : 0.0f});
  const LogisticFit fit = Fit({features, targets, kRows, kWidth, 2, false});
  int right = 0;
  for (size_t row = 0; row < kRows; ++row)
    right += (fit.held_out[2 * row] > fit.held_out[2 * row + 1]) == (targets[2 * row] == 1);
  EXPECT_LT(right, 42);
  EXPECT_GT(fit.held_out_loss, 0.6);
}

TEST(Logistic, WithoutFoldsHasAUsualStrengthAndTheCallersFactor) {
  constexpr int64_t kRows = 60, kWidth = 8;
  const std::vector<float> features = Random(kRows * kWidth, 51);
  std::vector<float> targets;
  for (size_t row = 0; row < kRows; ++row) {
    const bool one = features[row * kWidth] > 0;
    targets.insert(targets.end(), {one ? 0.0f : 1.0f, one ? 1.0f : 0.0f});
  }
  const LogisticData data = {features, targets, kRows, kWidth, 2, false, /*factor=*/0.8};
  const LogisticFit fit = FitLogistic(data, {}, 0, *Workers::Create(1).value());
  EXPECT_EQ(fit.factor, 0.8);
  EXPECT_TRUE(fit.held_out.empty());
  double mean = 0, squares = 0, variance = 0;
  for (int64_t i = 0; i < kWidth; ++i) {
    mean = squares = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      const double x = double{features[static_cast<size_t>(row * kWidth + i)]};
      mean += x / kRows;
      squares += x * x / kRows;
    }
    variance += (squares - mean * mean) / kWidth;
  }
  EXPECT_NEAR(fit.l2, variance, 1e-9);
  // At the minimum, the gradient of the loss is -l2 w. Here it is computed for the first feature of the first label.
  double gradient = 0;
  for (size_t row = 0; row < kRows; ++row) {
    double z = double{fit.bias[1]} - double{fit.bias[0]};
    for (size_t i = 0; i < kWidth; ++i)
      z += (double{fit.weight[kWidth + i]} - double{fit.weight[i]}) * double{features[row * kWidth + i]};
    const double chance = 1 / (1 + std::exp(z / fit.factor));
    gradient += (chance - double{targets[2 * row]}) * double{features[row * kWidth]} / kRows;
  }
  EXPECT_NEAR(gradient, -fit.l2 * double{fit.weight[0]} / fit.factor, 1e-6);
}

// The factor has the least loss of the held-out scores, with targets of which a part is even.
TEST(Logistic, ProbabilitiesSuitRowsNotSeen) {
  constexpr int64_t kRows = 60, kWidth = 8;
  const std::vector<float> features = Random(kRows * kWidth, 41), noise = Random(kRows, 42);
  std::vector<float> targets;
  for (size_t row = 0; row < kRows; ++row) {
    const bool one = features[row * kWidth] + noise[row] > 0;
    targets.insert(targets.end(), {one ? 0.0f : 1.0f, one ? 1.0f : 0.0f});
  }
  const LogisticFit fit = Fit({features, targets, kRows, kWidth, 2, false});
  double loss[3] = {};
  const double factors[] = {0.9, 1, 1.1};
  for (size_t row = 0; row < kRows; ++row) {
    for (size_t i = 0; i < 3; ++i) {
      const double z = factors[i] * (double{fit.held_out[2 * row + 1]} - double{fit.held_out[2 * row]});
      const double target = (double{targets[2 * row + 1]} * kRows + 0.5) / (kRows + 1);
      loss[i] += (std::log1p(std::exp(z)) - target * z) / kRows;
    }
  }
  EXPECT_NEAR(loss[1], fit.held_out_loss, 1e-5);
  EXPECT_LT(loss[1], loss[0]);
  EXPECT_LT(loss[1], loss[2]);
}

Example Text(std::vector<int32_t> ids, int32_t label, int64_t number) {
  Example example;
  example.ids = std::move(ids);
  example.labels = {label};
  example.number = number;
  return example;
}

TEST(Folds, HaveEveryLabelAndKeepEqualTextsTogether) {
  std::vector<Example> examples;
  for (int32_t i = 0; i < 40; ++i) examples.push_back(Text({i / 2, 9}, i < 30 ? 0 : 1, i));  // each text twice
  const std::vector<int32_t> folds = FoldsOf(examples, 5, 1);
  int64_t counts[5][2] = {};
  for (size_t i = 0; i < 40; ++i) ++counts[folds[i]][examples[i].labels[0]];
  for (const auto& [zeros, ones] : counts) {
    EXPECT_EQ(zeros, 6);
    EXPECT_EQ(ones, 2);
  }
  for (size_t i = 0; i < 40; i += 2) EXPECT_EQ(folds[i], folds[i + 1]);
  EXPECT_NE(folds, FoldsOf(examples, 5, 2));
}

TEST(Folds, HoldOutAShareOfEveryLabelButNotItsLastText) {
  std::vector<Example> examples;
  for (int32_t i = 0; i < 30; ++i) examples.push_back(Text({i}, i < 20 ? 0 : 1, i));
  examples.push_back(Text({30}, 2, 30));
  const std::vector<bool> held_out = HeldOut(examples, 0.2, 7);
  int64_t counts[3] = {};
  for (size_t i = 0; i < 31; ++i) counts[examples[i].labels[0]] += held_out[i] ? 1 : 0;
  EXPECT_EQ(counts[0], 4);
  EXPECT_EQ(counts[1], 2);
  EXPECT_EQ(counts[2], 0);
}

// A text that is there ten times is held out whole, and more than its label's share.
TEST(Folds, HoldOutAShareOfTheLabelAfterALargeGroup) {
  std::vector<Example> examples;
  for (int32_t i = 0; i < 30; ++i) examples.push_back(Text({i < 10 ? 0 : i}, i < 20 ? 0 : 1, i));
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const std::vector<bool> held_out = HeldOut(examples, 0.2, seed);
    EXPECT_GE(std::count(held_out.begin() + 20, held_out.end(), true), 2) << seed;
  }
}

TEST(Folds, KeepWindowsOfOneTextTogether) {
  std::vector<Example> examples;
  for (int32_t i = 0; i < 24; ++i) examples.push_back(Text({i}, 0, i / 3));
  const std::vector<bool> held_out = HeldOut(examples, 0.25, 3);
  for (size_t i = 0; i < 24; i += 3) EXPECT_TRUE(held_out[i] == held_out[i + 1] && held_out[i] == held_out[i + 2]);
  EXPECT_EQ(std::count(held_out.begin(), held_out.end(), true), 6);
}

}  // namespace
}  // namespace peruse::train
