#include "core/train/logistic.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <numeric>

#include "core/train/dropout.h"

namespace peruse::train {
namespace {

constexpr int kFolds = 5;
constexpr int kMostIterations = 300;
constexpr size_t kHistory = 8;
constexpr double kGrid[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The loss as a function of the parameters, [labels, width + 1] with the bias behind each row's weights.
class Problem {
 public:
  Problem(const LogisticData& data, std::vector<int64_t> rows, double l2)
      : data_(data), rows_(std::move(rows)), l2_(l2) {}

  size_t size() const { return static_cast<size_t>(data_.labels * (data_.width + 1)); }

  double Value(const std::vector<double>& x, std::vector<double>* gradient) const {
    const auto stride = static_cast<size_t>(data_.width + 1);
    const auto labels = static_cast<size_t>(data_.labels);
    const double scale = 1 / static_cast<double>(rows_.size());
    if (gradient != nullptr) gradient->assign(x.size(), 0);
    std::vector<double> scores(labels);
    double loss = 0;
    for (const int64_t row : rows_) {
      const float* features = data_.features.data() + row * data_.width;
      const float* targets = data_.targets.data() + row * data_.labels;
      for (size_t k = 0; k < labels; ++k) {
        double sum = x[k * stride + stride - 1];
        for (size_t i = 0; i + 1 < stride; ++i) sum += x[k * stride + i] * double{features[i]};
        scores[k] = sum;
      }
      loss += scale * Errors(targets, scores);
      if (gradient == nullptr) continue;
      for (size_t k = 0; k < labels; ++k) {
        const double error = scale * scores[k];
        double* own = gradient->data() + k * stride;
        for (size_t i = 0; i + 1 < stride; ++i) own[i] += error * double{features[i]};
        own[stride - 1] += error;
      }
    }
    for (size_t i = 0; i < x.size(); ++i) {
      if (i % stride == stride - 1) continue;
      loss += l2_ / 2 * x[i] * x[i];
      if (gradient != nullptr) (*gradient)[i] += l2_ * x[i];
    }
    return loss;
  }

 private:
  // The loss of one row; scores become predictions less targets.
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
  const std::vector<int64_t> rows_;
  const double l2_;
};

// L-BFGS with a line search that halves (Armijo's condition).
std::vector<double> Minimise(const Problem& problem) {
  std::vector<double> x(problem.size()), gradient, next, next_gradient;
  double value = problem.Value(x, &gradient);
  struct Pair {
    std::vector<double> s, y;
    double rho;
  };
  std::deque<Pair> history;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    if (std::sqrt(Dot(gradient, gradient)) < 1e-6) break;
    std::vector<double> direction = gradient;
    std::vector<double> alphas;
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
    for (int halvings = 0; halvings < 30 && !moved; ++halvings, step /= 2) {
      next = x;
      for (size_t i = 0; i < x.size(); ++i) next[i] -= step * direction[i];
      const double found = problem.Value(next, &next_gradient);
      if (!(found <= value + 1e-4 * step * slope)) continue;
      moved = true;
      Pair pair{next, next_gradient, 0};
      for (size_t i = 0; i < x.size(); ++i) pair.s[i] -= x[i], pair.y[i] -= gradient[i];
      const double curvature = Dot(pair.s, pair.y);
      const double gain = value - found;
      if (curvature > 1e-12) {
        pair.rho = 1 / curvature;
        history.push_back(std::move(pair));
        if (history.size() > kHistory) history.pop_front();
      }
      x = next;
      gradient = next_gradient;
      value = found;
      if (gain < 1e-9 * std::fabs(value)) return x;
    }
    if (!moved) break;
  }
  return x;
}

}  // namespace

LogisticFit FitLogistic(const LogisticData& data, uint64_t seed, const Workers& workers) {
  std::vector<int64_t> order(static_cast<size_t>(data.rows));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  for (size_t i = order.size(); i > 1; --i) {
    const auto words =
        Philox({static_cast<uint32_t>(i), 1, 0, 0}, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
    std::swap(order[i - 1], order[words[0] % i]);
  }
  LogisticFit fit;
  double losses[std::size(kGrid)][kFolds] = {};
  workers.For(std::size(kGrid) * kFolds, [&](int32_t, int64_t task) {
    const auto strength = static_cast<size_t>(task / kFolds), fold = static_cast<size_t>(task % kFolds);
    std::vector<int64_t> learnt, held_out;
    for (size_t i = 0; i < order.size(); ++i) (i % kFolds == fold ? held_out : learnt).push_back(order[i]);
    if (held_out.empty() || learnt.empty()) return;
    const std::vector<double> x = Minimise(Problem(data, learnt, kGrid[strength]));
    losses[strength][fold] = Problem(data, held_out, 0).Value(x, nullptr) * static_cast<double>(held_out.size());
  });
  double least = INFINITY;
  for (size_t strength = 0; strength < std::size(kGrid); ++strength) {
    const double loss = std::accumulate(losses[strength], losses[strength] + kFolds, 0.0);
    if (loss < least) {
      least = loss;
      fit.l2 = kGrid[strength];
    }
  }
  const std::vector<double> x = Minimise(Problem(data, order, fit.l2));
  fit.loss = Problem(data, order, 0).Value(x, nullptr);
  const auto stride = static_cast<size_t>(data.width + 1);
  for (size_t i = 0; i < x.size(); ++i) {
    (i % stride == stride - 1 ? fit.bias : fit.weight).push_back(static_cast<float>(x[i]));
  }
  return fit;
}

}  // namespace peruse::train
