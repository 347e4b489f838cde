#include "core/train/recipes/logistic.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <numeric>

#include "core/cpu/dot.h"

namespace peruse::train {
namespace {

constexpr int kMostIterations = 500;
constexpr size_t kHistory = 8;
// Strengths of regularisation, from strong to weak: each fit starts from the result of the preceding one.
constexpr double kGrid[] = {10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 1e-5, 1e-6};
constexpr size_t kUsualStrength = 2;  // the strength 1
// A fit ends when all gradients are below this. Fits of folds only compare strengths, so they may end earlier.
constexpr double kFoldTolerance = 1e-4, kTolerance = 1e-8;

// Held-out losses of few rows are mostly chance, so a strength of 1 is preferred: a power of ten away from it costs this loss, in all.
constexpr double kPrior = 2;
// Limits of the factor for scores.
constexpr double kLeastFactor = 0.25, kMostFactor = 64;

using Vector = std::vector<double>;

using cpu::Dot;
double Dot(const Vector& a, const Vector& b) { return Dot(a.data(), b.data(), std::ssize(a)); }

// Features minus their means, divided by the root of their mean variance. Each row ends with a 1 for the bias.
struct Scaled {
  Vector values;  // [rows, width + 1]
  Vector means;   // [width]
  double scale = 1;
};

Scaled ScaleFeatures(const LogisticData& data) {
  const auto width = static_cast<size_t>(data.width), rows = static_cast<size_t>(data.rows);
  Scaled scaled;
  scaled.means.assign(width, 0);
  for (size_t i = 0; i < rows * width; ++i) scaled.means[i % width] += double{data.features[i]};
  for (double& mean : scaled.means) mean /= static_cast<double>(rows);
  double squares = 0;
  for (size_t i = 0; i < rows * width; ++i) {
    const double centred = double{data.features[i]} - scaled.means[i % width];
    squares += centred * centred;
  }
  if (squares > 0) scaled.scale = 1 / std::sqrt(squares / static_cast<double>(rows * width));
  scaled.values.reserve(rows * (width + 1));
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < width; ++i)
      scaled.values.push_back((double{data.features[row * width + i]} - scaled.means[i]) * scaled.scale);
    scaled.values.push_back(1);
  }
  return scaled;
}

// Returns a row's cross-entropy, and replaces its scores by the gradient for them.
double Errors(const float* targets, bool sigmoid, Vector& scores) {
  double loss = 0;
  if (sigmoid) {
    for (size_t k = 0; k < scores.size(); ++k) {
      const double z = scores[k], y = double{targets[k]};
      loss += std::max(z, 0.0) - z * y + std::log1p(std::exp(-std::fabs(z)));
      scores[k] = 1 / (1 + std::exp(-z)) - y;
    }
    return loss;
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - largest);
  const double total = std::accumulate(targets, targets + scores.size(), 0.0);
  for (size_t k = 0; k < scores.size(); ++k) {
    const double log = scores[k] - largest - std::log(sum);
    loss -= double{targets[k]} * log;
    scores[k] = total * std::exp(log) - double{targets[k]};
  }
  return loss;
}

// The loss as a function of the parameters, [labels, width + 1] with the bias at the end of each row.
class Problem {
 public:
  Problem(const LogisticData& data, const Vector& features, std::vector<int64_t> rows)
      : data_(data), features_(features), rows_(std::move(rows)) {}

  size_t size() const { return labels() * stride(); }
  size_t stride() const { return static_cast<size_t>(data_.width + 1); }
  size_t labels() const { return static_cast<size_t>(data_.labels); }
  const std::vector<int64_t>& rows() const { return rows_; }

  void Scores(const Vector& x, int64_t row, Vector* scores) const {
    scores->resize(labels());
    for (size_t k = 0; k < labels(); ++k)
      (*scores)[k] = Dot(x.data() + k * stride(), features_.data() + static_cast<size_t>(row) * stride(),
                         static_cast<int64_t>(stride()));
  }

  // Returns the mean loss of the rows plus l2 / 2 |weights|^2. `gradient` may be null.
  double Value(const Vector& x, double l2, Vector* gradient) const {
    const double scale = 1 / static_cast<double>(rows_.size());
    if (gradient != nullptr) gradient->assign(x.size(), 0);
    Vector scores;
    double loss = 0;
    for (const int64_t row : rows_) {
      Scores(x, row, &scores);
      loss += scale * Errors(data_.targets.data() + row * data_.labels, data_.sigmoid, scores);
      if (gradient == nullptr) continue;
      const double* features = features_.data() + static_cast<size_t>(row) * stride();
      for (size_t k = 0; k < labels(); ++k) {
        const double error = scale * scores[k];
        double* own = gradient->data() + k * stride();
        for (size_t i = 0; i < stride(); ++i) own[i] += error * features[i];
      }
    }
    for (size_t i = 0; i < x.size(); ++i) {
      if (i % stride() == stride() - 1) continue;
      loss += l2 / 2 * x[i] * x[i];
      if (gradient != nullptr) (*gradient)[i] += l2 * x[i];
    }
    return loss;
  }

 private:
  const LogisticData& data_;
  const Vector& features_;
  const std::vector<int64_t> rows_;
};

double LargestOf(const Vector& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

constexpr double kArmijo = 1e-4, kRounding = 1e-12;

// Minimises by L-BFGS with a backtracking line search (Armijo's condition), starting at `at`.
void Minimise(const Problem& problem, double l2, double tolerance, Vector* at) {
  Vector& x = *at;
  Vector gradient, next, next_gradient;
  double value = problem.Value(x, l2, &gradient);
  struct Pair {
    Vector s, y;
    double rho;
  };
  std::deque<Pair> history;
  for (int iteration = 0; iteration < kMostIterations && LargestOf(gradient) > tolerance; ++iteration) {
    Vector direction = gradient;
    Vector alphas;
    for (auto pair = history.rbegin(); pair != history.rend(); ++pair) {
      alphas.push_back(pair->rho * Dot(pair->s, direction));
      for (size_t i = 0; i < direction.size(); ++i) direction[i] -= alphas.back() * pair->y[i];
    }
    if (!history.empty()) {
      const Pair& last = history.back();
      const double gamma = 1 / (last.rho * Dot(last.y, last.y));
      for (double& d : direction) d *= gamma;
    }
    for (const Pair& pair : history) {
      const double beta = pair.rho * Dot(pair.y, direction);
      for (size_t i = 0; i < direction.size(); ++i) direction[i] += (alphas.back() - beta) * pair.s[i];
      alphas.pop_back();
    }
    const double slope = -Dot(gradient, direction);
    double step = history.empty() ? std::min(1.0, 1 / std::sqrt(Dot(gradient, gradient))) : 1;
    bool moved = false;
    for (int halvings = 0; halvings < 40 && !moved; ++halvings, step /= 2) {
      next = x;
      for (size_t i = 0; i < x.size(); ++i) next[i] -= step * direction[i];
      const double found = problem.Value(next, l2, &next_gradient);
      const bool is_less = found <= value + kArmijo * step * slope;
      // Near the minimum, rounding hides the decrease: then the slope at the new point decides (Hager and Zhang, 2005).
      const bool is_flat =
          found <= value + kRounding * std::fabs(value) && -Dot(next_gradient, direction) <= (2 * kArmijo - 1) * slope;
      if (!is_less && !is_flat) continue;
      moved = true;
      Pair pair{next, next_gradient, 0};
      for (size_t i = 0; i < x.size(); ++i) pair.s[i] -= x[i], pair.y[i] -= gradient[i];
      const double curvature = Dot(pair.s, pair.y);
      if (curvature > 1e-16) {
        pair.rho = 1 / curvature;
        history.push_back(std::move(pair));
        if (history.size() > kHistory) history.pop_front();
      }
      x = next;
      gradient = next_gradient;
      value = found;
    }
    if (!moved) break;  // double precision does not allow a smaller loss
  }
}

// A fold of the cross-validation: its held-out rows, and the fit to all other rows at the current strength.
struct Fold {
  Problem learnt;
  std::vector<int64_t> held_out;
  Vector x;

  // Writes the fit's scores of the held-out rows to `scores`, [rows, labels] of all data.
  void Fit(double l2, Vector& scores) {
    Minimise(learnt, l2, kFoldTolerance, &x);
    Vector own;
    for (const int64_t row : held_out) {
      learnt.Scores(x, row, &own);
      std::copy(own.begin(), own.end(), scores.begin() + row * static_cast<int64_t>(own.size()));
    }
  }
};

std::vector<Fold> MakeFolds(const LogisticData& data, const Vector& features, std::span<const int32_t> numbers,
                            int32_t count) {
  std::vector<Fold> folds;
  for (int32_t number = 0; number < count; ++number) {
    std::vector<int64_t> learnt, held_out;
    for (size_t i = 0; i < numbers.size(); ++i)
      (numbers[i] == number ? held_out : learnt).push_back(static_cast<int64_t>(i));
    if (learnt.empty() || held_out.empty()) continue;
    const auto size = static_cast<size_t>(data.labels * (data.width + 1));
    folds.push_back({Problem(data, features, std::move(learnt)), std::move(held_out), Vector(size)});
  }
  return folds;
}

// Returns targets that are not quite certain (Platt, 1999), as if one more row had all labels alike. Otherwise scores that are all right would
// be scaled without limit.
std::vector<float> SmoothTargets(const LogisticData& data) {
  std::vector<float> targets(data.targets.begin(), data.targets.end());
  const auto labels = static_cast<size_t>(data.labels);
  const double share = 1 / static_cast<double>(data.rows + 1);
  for (size_t row = 0; row < static_cast<size_t>(data.rows); ++row) {
    float* const own = targets.data() + row * labels;
    const double even = data.sigmoid ? 0.5 : std::accumulate(own, own + labels, 0.0) / static_cast<double>(labels);
    for (size_t k = 0; k < labels; ++k) own[k] = static_cast<float>(double{own[k]} * (1 - share) + even * share);
  }
  return targets;
}

// Held-out scores of one strength.
struct Trial {
  Vector scores;  // [rows, labels]
  double factor = 1;
  double loss = INFINITY;  // mean loss of the scores times the factor
};

// Computes the loss. Returns its slope by the factor.
double ScoreTrial(const LogisticData& data, const std::vector<float>& targets, Trial& trial) {
  const auto labels = static_cast<size_t>(data.labels);
  double loss = 0, slope = 0;
  Vector own(labels);
  for (size_t first = 0; first < trial.scores.size(); first += labels) {
    for (size_t k = 0; k < labels; ++k) own[k] = trial.factor * trial.scores[first + k];
    loss += Errors(targets.data() + first, data.sigmoid, own);
    for (size_t k = 0; k < labels; ++k) slope += own[k] * trial.scores[first + k];
  }
  trial.loss = loss / static_cast<double>(data.rows);
  return slope;
}

// Temperature scaling (Guo et al., 2017). The loss is convex in the factor, so bisection finds where its slope is zero.
void ChooseFactor(const LogisticData& data, const std::vector<float>& targets, Trial& trial) {
  double least = kLeastFactor, most = kMostFactor;
  for (int halvings = 0; halvings < 30; ++halvings) {
    trial.factor = std::sqrt(least * most);
    (ScoreTrial(data, targets, trial) < 0 ? least : most) = trial.factor;
  }
}

// A strength of kGrid, and its held-out scores if there are folds.
struct Choice {
  size_t strength = kUsualStrength;
  Trial trial;
};

// Tries strengths until two in a row were worse. There must be folds.
Choice ChooseStrength(const LogisticData& data, std::vector<Fold>& folds, const Workers& workers) {
  const std::vector<float> smooth = SmoothTargets(data);
  Trial trial;
  trial.scores.resize(static_cast<size_t>(data.rows * data.labels));
  Choice best = {.strength = 0};
  double least = INFINITY;
  for (size_t strength = 0; strength < std::size(kGrid) && strength < best.strength + 3; ++strength) {
    workers.For(static_cast<int64_t>(folds.size()), [&](int32_t, int64_t number) {
      folds[static_cast<size_t>(number)].Fit(kGrid[strength], trial.scores);
    });
    ChooseFactor(data, smooth, trial);
    const double distance = std::log10(kGrid[strength]);
    const double loss = trial.loss * static_cast<double>(data.rows) + kPrior * distance * distance;
    if (!(loss < least)) continue;
    least = loss;
    best = {strength, trial};
  }
  return best;
}

}  // namespace

LogisticFit FitLogistic(const LogisticData& data, std::span<const int32_t> folds, int32_t fold_count,
                        const Workers& workers) {
  const Scaled scaled = ScaleFeatures(data);
  std::vector<Fold> fitted = MakeFolds(data, scaled.values, folds, fold_count);
  Choice choice;
  choice.trial.factor = data.factor;
  if (!fitted.empty()) choice = ChooseStrength(data, fitted, workers);
  LogisticFit fit;
  const auto labels = static_cast<size_t>(data.labels);
  fit.factor = choice.trial.factor;
  fit.held_out_loss = choice.trial.loss;
  for (const double score : choice.trial.scores) fit.held_out.push_back(static_cast<float>(fit.factor * score));
  fit.l2 = kGrid[choice.strength] / (scaled.scale * scaled.scale);
  std::vector<int64_t> all(static_cast<size_t>(data.rows));
  std::iota(all.begin(), all.end(), 0);
  const Problem problem(data, scaled.values, std::move(all));
  Vector x(problem.size());
  for (size_t strength = 0; strength <= choice.strength; ++strength)
    Minimise(problem, kGrid[strength], strength == choice.strength ? kTolerance : kFoldTolerance, &x);
  for (double& value : x) value *= fit.factor;
  fit.loss = problem.Value(x, 0, nullptr);
  // Converts the weights to unscaled features: w (f - mean) scale + b.
  for (size_t k = 0; k < labels; ++k) {
    double bias = x[(k + 1) * problem.stride() - 1];
    for (size_t i = 0; i + 1 < problem.stride(); ++i) {
      const double weight = x[k * problem.stride() + i] * scaled.scale;
      bias -= weight * scaled.means[i];
      fit.weight.push_back(static_cast<float>(weight));
    }
    fit.bias.push_back(static_cast<float>(bias));
  }
  return fit;
}

}  // namespace peruse::train
