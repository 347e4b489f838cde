#include "core/tasks/bioes_path.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>

#include "tests/native/random.h"

namespace peruse {
namespace {

using testing::Random;

const std::vector<std::string> kLabels = {"O", "B-a", "I-a", "E-a", "S-a", "B-b", "I-b", "E-b", "S-b"};
constexpr PathBiases kBiases = {0.3f, -0.4f, 0.2f, -0.7f, 0.5f, -0.1f};

char PrefixOf(size_t label) { return kLabels[label][0]; }
bool Continues(size_t label) { return PrefixOf(label) == 'I' || PrefixOf(label) == 'E'; }
bool IsOpen(size_t label) { return PrefixOf(label) == 'B' || PrefixOf(label) == 'I'; }

// The bias of a legal step between labels; nullopt if it is not legal.
std::optional<double> StepOf(size_t from, size_t to, const PathBiases& b) {
  if (IsOpen(from) != Continues(to)) return std::nullopt;
  if (IsOpen(from)) {
    if (kLabels[from].substr(2) != kLabels[to].substr(2)) return std::nullopt;
    return PrefixOf(to) == 'I' ? b.inside_to_continue : b.inside_to_end;
  }
  if (from == 0) return to == 0 ? b.background_stay : b.background_to_start;
  return to == 0 ? b.end_to_background : b.end_to_start;
}

// Compares all sequences of labels.
std::vector<size_t> BestOfAll(const std::vector<std::vector<float>>& scores, const PathBiases& biases) {
  std::vector<size_t> best, path(scores.size());
  double largest = -std::numeric_limits<double>::infinity();
  const std::function<void(size_t, double)> extend = [&](size_t t, double sum) {
    if (t == scores.size()) {
      if (IsOpen(path.back()) || sum <= largest) return;
      largest = sum;
      best = path;
      return;
    }
    for (size_t label = 0; label < kLabels.size(); ++label) {
      const std::optional<double> step =
          t == 0 ? (Continues(label) ? std::nullopt : std::optional(0.0)) : StepOf(path[t - 1], label, biases);
      if (!step) continue;
      path[t] = label;
      extend(t + 1, sum + *step + double{scores[t][label]});
    }
  };
  extend(0, 0);
  return best;
}

// The sum of a legal sequence.
double SumOf(const std::vector<size_t>& path, const std::vector<std::vector<float>>& scores, const PathBiases& biases) {
  EXPECT_FALSE(Continues(path[0]) || IsOpen(path.back()));
  double sum = 0;
  for (size_t t = 0; t < path.size(); ++t) {
    if (t > 0) sum += StepOf(path[t - 1], path[t], biases).value();
    sum += double{scores[t][path[t]]};
  }
  return sum;
}

std::vector<std::vector<float>> RandomScores(Random& random, size_t tokens) {
  std::vector<std::vector<float>> scores(tokens, std::vector<float>(kLabels.size()));
  for (auto& row : scores) {
    for (float& score : row) score = -0.01f * static_cast<float>(random.Int(0, 1000));
  }
  return scores;
}

TEST(BioesPath, IsTheBestOfAllLegalSequences) {
  Random random(7);
  for (const PathBiases& biases : {PathBiases{}, kBiases}) {
    for (size_t turn = 0; turn < 200; ++turn) {
      const auto scores = RandomScores(random, turn % 5 + 1);
      EXPECT_NEAR(SumOf(BestPath(scores, kLabels, biases), scores, biases),
                  SumOf(BestOfAll(scores, biases), scores, biases), 1e-4)
          << turn;  // several sequences may have one sum
    }
  }
}

TEST(BioesPath, EachBiasMatters) {
  float PathBiases::* const fields[] = {&PathBiases::background_stay,    &PathBiases::background_to_start,
                                        &PathBiases::inside_to_continue, &PathBiases::inside_to_end,
                                        &PathBiases::end_to_background,  &PathBiases::end_to_start};
  const std::vector<std::vector<float>> flat(5, std::vector<float>(kLabels.size()));
  for (const auto field : fields) {
    PathBiases biases;
    biases.*field = 3;
    EXPECT_NEAR(SumOf(BestPath(flat, kLabels, biases), flat, biases), SumOf(BestOfAll(flat, biases), flat, biases),
                1e-5);
  }
}

TEST(BioesPath, EqualScoresGiveTheFirstLabels) {
  const std::vector<std::vector<float>> flat(3, std::vector<float>(kLabels.size()));
  EXPECT_EQ(BestPath(flat, kLabels, {}), (std::vector<size_t>{0, 0, 0}));
}

}  // namespace
}  // namespace peruse
