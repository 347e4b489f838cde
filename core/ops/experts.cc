#include "core/ops/experts.h"

#include <algorithm>
#include <numeric>

#include "core/ops/linear.h"
#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

// Calls visit(row, j, expert, share) for each expert j that a row passes through.
template <typename Visit>
void ForChosen(const Experts& op, const Numbers& n, Visit visit) {
  const Matrix& router = n(op.router);
  for (int32_t r = 0; r < router.rows; ++r) {
    std::vector<int32_t> order(static_cast<size_t>(router.cols));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return router(r, a) > router(r, b); });
    std::vector<double> shares(&router(r, 0), &router(r, 0) + router.cols);
    Softmax(shares);
    if (op.among_chosen) {
      double sum = 0;
      for (int32_t j = 0; j < op.chosen; ++j) sum += shares[static_cast<size_t>(order[static_cast<size_t>(j)])];
      for (double& share : shares) share /= sum;
    }
    for (int32_t j = 0; j < op.chosen; ++j) {
      const int32_t expert = order[static_cast<size_t>(j)];
      visit(r, j, expert, shares[static_cast<size_t>(expert)]);
    }
  }
}

// Calls visit(row, j, share, outputs) with the outputs of each of a row's experts. sizes: see Project.
template <typename Visit>
void ForOutputs(const Experts& op, const Numbers& n, bool sizes, Visit visit) {
  const LinearValues& weight = n(op.weight);
  const int32_t outputs = weight.spec.out / n(op.router).cols;
  std::vector<double> all(static_cast<size_t>(weight.spec.out));
  ForChosen(op, n, [&](int32_t r, int32_t j, int32_t expert, double share) {
    Project(&n(op.x)(r, op.sums ? j * weight.spec.in : 0), weight, sizes, all.data());
    visit(r, j, share, std::span(all).subspan(static_cast<size_t>(expert * outputs), static_cast<size_t>(outputs)));
  });
}

}  // namespace

void ChooseExperts(std::span<const float> logits, std::span<int32_t> chosen) {
  size_t count = 0;
  for (size_t expert = 0; expert < logits.size(); ++expert) {
    size_t at = count;
    while (at > 0 && logits[expert] > logits[static_cast<size_t>(chosen[at - 1])]) --at;
    if (at == chosen.size()) continue;
    count = std::min(count + 1, chosen.size());
    for (size_t i = count - 1; i > at; --i) chosen[i] = chosen[i - 1];
    chosen[at] = static_cast<int32_t>(expert);
  }
}

bool Fits(const Experts& op, const Shapes& s) {
  const LinearSpec& spec = s(op.weight);
  const Extent rows = s(op.x).rows;
  const int32_t experts = s.cols(op.router);
  const int32_t outputs = spec.out / experts;
  if (spec.groups != 1 || outputs * experts != spec.out || outputs % Linear::kPartMultiple != 0) return false;
  if (op.chosen < 1 || op.chosen > experts || !s.Is(op.router, rows, experts)) return false;
  return s.Is(op.x, rows, op.sums ? op.chosen * spec.in : spec.in) &&
         s.Is(op.out, rows, op.sums ? outputs : op.chosen * outputs);
}

void Compute(const Experts& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  ForOutputs(op, n, /*sizes=*/false, [&](int32_t r, int32_t j, double share, std::span<const double> outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto c = static_cast<int32_t>(i);
      if (!op.sums) {
        out(r, j * static_cast<int32_t>(outputs.size()) + c) = outputs[i];
      } else {
        out(r, c) = share * outputs[i] + (j > 0 ? out(r, c) : 0);
      }
    }
  });
}

// A share has the error of a softmax term whose score is exact; each product with it and each sum rounds once.
std::vector<double> Bound(const Experts& op, Value result, const Numbers& n) {
  const Matrix& out = n(result);
  std::vector<double> bounds(static_cast<size_t>(out.rows) * static_cast<size_t>(out.cols));
  ForOutputs(op, n, /*sizes=*/true, [&](int32_t r, int32_t j, double share, std::span<const double> sizes) {
    double* const row = &bounds[static_cast<size_t>(r) * static_cast<size_t>(out.cols)];
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (!op.sums) {
        row[static_cast<size_t>(j) * sizes.size() + i] = kEpsilon * kDot * sizes[i];
      } else {
        row[i] += kEpsilon * (kDot + kSoftmax + 1 + op.chosen) * share * sizes[i];
      }
    }
  });
  return bounds;
}

}  // namespace peruse::ops
