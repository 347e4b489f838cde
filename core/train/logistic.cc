#include "core/train/logistic.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <numeric>

namespace peruse::train {
namespace {

constexpr int kMostIterations = 500;
constexpr size_t kHistory = 8;
// Strengths of regularisation, from strong to weak: each fit starts from the result of the preceding one.
constexpr double kGrid[] = {10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 1e-5, 1e-6};
// A fit ends when all gradients are below this. Fits of folds only compare strengths, so they may end earlier.
constexpr double kFoldTolerance = 1e-4, kTolerance = 1e-8;

using Vector = std::vector<double>;

// Sums in a fixed order, in four accumulators that fit vector registers.
double Dot(const double* a, const double* b, size_t count) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
double Dot(const Vector& a, const Vector& b) { return Dot(a.data(), b.data(), a.size()); }

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
      (*scores)[k] = Dot(x.data() + k * stride(), features_.data() + static_cast<size_t>(row) * stride(), stride());
  }

  // Returns the mean loss of the rows plus l2 / 2 |weights|^2. `gradient` may be null.
  double Value(const Vector& x, double l2, Vector* gradient) const {
    const double scale = 1 / static_cast<double>(rows_.size());
    if (gradient != nullptr) gradient->assign(x.size(), 0);
    Vector scores;
    double loss = 0;
    for (const int64_t row : rows_) {
      Scores(x, row, &scores);
      loss += scale * Errors(data_.targets.data() + row * data_.labels, scores);
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
  double Errors(const float* targets, std::vector<double>& scores) const {
    double loss = 0;
    if (data_.sigmoid) {
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

  const LogisticData& data_;
  const Vector& features_;
  const std::vector<int64_t> rows_;
};

double LargestOf(const Vector& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

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
      if (!(found <= value + 1e-4 * step * slope)) continue;
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

// A fold of the cross-validation: its held-out rows, the fit to all other rows at the current strength, and that fit's scores of the
// held-out rows.
struct Fold {
  Problem learnt, held_out;
  Vector x;
  double loss = 0;
  Vector scores;  // [rows, labels]

  void Fit(double l2) {
    Minimise(learnt, l2, kFoldTolerance, &x);
    loss = held_out.Value(x, 0, nullptr) * static_cast<double>(held_out.rows().size());
    Vector own;
    scores.clear();
    for (const int64_t row : held_out.rows()) {
      held_out.Scores(x, row, &own);
      scores.insert(scores.end(), own.begin(), own.end());
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
    folds.push_back(
        {Problem(data, features, std::move(learnt)), Problem(data, features, std::move(held_out)), Vector(size)});
  }
  return folds;
}

}  // namespace

LogisticFit FitLogistic(const LogisticData& data, std::span<const int32_t> folds, int32_t fold_count,
                        const Workers& workers) {
  const Scaled scaled = ScaleFeatures(data);
  std::vector<Fold> fitted = MakeFolds(data, scaled.values, folds, fold_count);
  LogisticFit fit;
  const auto labels = static_cast<size_t>(data.labels);
  size_t best = 0;
  fit.held_out_loss = INFINITY;
  fit.held_out.resize(static_cast<size_t>(data.rows) * labels);
  // Tries strengths until the held-out loss has risen twice in a row.
  for (size_t strength = 0; strength < std::size(kGrid) && strength < best + 3; ++strength) {
    workers.For(static_cast<int64_t>(fitted.size()),
                [&](int32_t, int64_t number) { fitted[static_cast<size_t>(number)].Fit(kGrid[strength]); });
    double loss = 0;
    for (const Fold& fold : fitted) loss += fold.loss;
    loss /= static_cast<double>(data.rows);
    if (!(loss < fit.held_out_loss)) continue;
    fit.held_out_loss = loss;
    best = strength;
    for (const Fold& fold : fitted) {
      for (size_t i = 0; i < fold.scores.size(); ++i)
        fit.held_out[static_cast<size_t>(fold.held_out.rows()[i / labels]) * labels + i % labels] =
            static_cast<float>(fold.scores[i]);
    }
  }
  fit.l2 = kGrid[best] / (scaled.scale * scaled.scale);
  std::vector<int64_t> all(static_cast<size_t>(data.rows));
  std::iota(all.begin(), all.end(), 0);
  const Problem problem(data, scaled.values, std::move(all));
  Vector x(problem.size());
  for (size_t strength = 0; strength <= best; ++strength)
    Minimise(problem, kGrid[strength], strength == best ? kTolerance : kFoldTolerance, &x);
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
