#include "core/train/ops/loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace peruse::train {
namespace {

// Log softmax in double precision: losses are few, and training depends on them. Consecutive logits are `stride` apart.
class LogSoftmax {
 public:
  void Run(const float* logits, int64_t count, int64_t stride = 1) {
    logs_.resize(static_cast<size_t>(count));
    double largest = -INFINITY;
    for (int64_t i = 0; i < count; ++i) largest = std::max(largest, double{logits[i * stride]});
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += std::exp(double{logits[i * stride]} - largest);
    for (int64_t i = 0; i < count; ++i) {
      logs_[static_cast<size_t>(i)] = double{logits[i * stride]} - largest - std::log(sum);
    }
  }
  double log(int64_t i) const { return logs_[static_cast<size_t>(i)]; }
  double probability(int64_t i) const { return std::exp(log(i)); }

 private:
  std::vector<double> logs_;
};

}  // namespace

double CrossEntropyMass(std::span<const int32_t> labels, const CrossEntropyOptions& options) {
  double mass = 0;
  for (const int32_t label : labels) mass += label == kIgnored ? 0 : WeightOf(label, options);
  return mass;
}

double CrossEntropy(const Block& logits, std::span<const int32_t> labels, const CrossEntropyOptions& options,
                    double mass, const Block& gradient) {
  double smoothed = 0;  // the part of a row's targets that smoothing gives to all labels
  for (int64_t c = 0; c < logits.cols; ++c) smoothed += CrossEntropyTarget(kIgnored, c, logits.cols, options);
  // One sum per row, so that the total does not depend on the number of threads.
  std::vector<double> losses(static_cast<size_t>(logits.rows));
  const auto work = [&](int64_t first, int64_t end) {
    LogSoftmax softmax;
    for (int64_t r = first; r < end; ++r) {
      const int32_t label = labels[static_cast<size_t>(r)];
      std::fill_n(gradient.row(r), gradient.cols, 0.0f);
      if (label == kIgnored) continue;
      softmax.Run(logits.row(r), logits.cols);
      // The loss is - sum_c t_c log p_c, and its gradient p sum(t) - t.
      const double total = (smoothed + (1 - double{options.smoothing}) * WeightOf(label, options)) / mass;
      double loss = 0;
      for (int64_t c = 0; c < logits.cols; ++c) {
        const double target = CrossEntropyTarget(label, c, logits.cols, options) / mass;
        loss -= target * softmax.log(c);
        gradient.row(r)[c] = static_cast<float>(softmax.probability(c) * total - target);
      }
      losses[static_cast<size_t>(r)] = loss;
    }
  };
  constexpr int64_t kCost = 64;  // cost per cell for Workers::ForPieces: two exponentials in double precision
  if (options.workers != nullptr) {
    options.workers->ForPieces(logits.rows, 1, kCost * logits.cols, work);
  } else {
    work(0, logits.rows);
  }
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

double SoftCrossEntropy(const Block& logits, std::span<const float> targets, double rows, const Block& gradient) {
  LogSoftmax softmax;
  double loss = 0;
  for (int64_t r = 0; r < logits.rows; ++r) {
    const float* target = targets.data() + r * logits.cols;
    softmax.Run(logits.row(r), logits.cols);
    double sum = 0;
    for (int64_t c = 0; c < logits.cols; ++c) sum += double{target[c]};
    for (int64_t c = 0; c < logits.cols; ++c) {
      loss -= double{target[c]} * softmax.log(c) / rows;
      gradient.row(r)[c] = static_cast<float>((softmax.probability(c) * sum - double{target[c]}) / rows);
    }
  }
  return loss;
}

double SigmoidCrossEntropy(const Block& logits, std::span<const float> targets, double cells, const Block& gradient) {
  double loss = 0;
  for (int64_t r = 0; r < logits.rows; ++r) {
    for (int64_t c = 0; c < logits.cols; ++c) {
      const double z = double{logits.row(r)[c]};
      const double y = double{targets[static_cast<size_t>(r * logits.cols + c)]};
      loss += (std::max(z, 0.0) - z * y + std::log1p(std::exp(-std::fabs(z)))) / cells;
      gradient.row(r)[c] = static_cast<float>((1 / (1 + std::exp(-z)) - y) / cells);
    }
  }
  return loss;
}

double SquaredError(const Block& values, std::span<const float> targets, double cells, const Block& gradient) {
  double loss = 0;
  for (int64_t r = 0; r < values.rows; ++r) {
    for (int64_t c = 0; c < values.cols; ++c) {
      const double error = double{values.row(r)[c]} - double{targets[static_cast<size_t>(r * values.cols + c)]};
      loss += error * error / cells;
      gradient.row(r)[c] = static_cast<float>(2 * error / cells);
    }
  }
  return loss;
}

double SpanCrossEntropy(const Block& logits, const RaggedBatch& batch, std::span<const int32_t> starts,
                        std::span<const int32_t> ends, double texts, const Block& gradient) {
  LogSoftmax softmax;
  double loss = 0;
  Fill(gradient, 0);
  for (int32_t s = 0; s < batch.sequences(); ++s) {
    for (int64_t side = 0; side < 2; ++side) {
      const int32_t place = (side == 0 ? starts : ends)[static_cast<size_t>(s)];
      if (place < 0 || place >= batch.length(s)) continue;
      softmax.Run(logits.row(batch.start(s)) + side, batch.length(s), logits.stride);
      loss -= softmax.log(place) / (2 * texts);
      for (int32_t t = 0; t < batch.length(s); ++t) {
        gradient.row(batch.start(s) + t)[side] =
            static_cast<float>((softmax.probability(t) - (t == place ? 1 : 0)) / (2 * texts));
      }
    }
  }
  return loss;
}

double SymmetricDivergence(const Block& one, const Block& other, double scale, const Block& one_gradient,
                           const Block& other_gradient) {
  LogSoftmax p, q;
  double loss = 0;
  for (int64_t r = 0; r < one.rows; ++r) {
    p.Run(one.row(r), one.cols);
    q.Run(other.row(r), other.cols);
    for (int64_t c = 0; c < one.cols; ++c) {
      loss -= scale * (q.probability(c) * p.log(c) + p.probability(c) * q.log(c));
      const double difference = scale * (p.probability(c) - q.probability(c));
      if (one_gradient) one_gradient.row(r)[c] += static_cast<float>(difference);
      if (other_gradient) other_gradient.row(r)[c] -= static_cast<float>(difference);
    }
  }
  return loss;
}

}  // namespace peruse::train
