#include "core/ops/lstm.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

double Sigmoid(double x) { return Activated(x, Activation::kSigmoid); }

// Computes h into `out`. Also bounds its float32 error in `errors`, if given: errors propagate through products with their weights, and
// through sigmoid and tanh with slopes of at most 1/4 and 1.
void Visit(const Lstm& op, const Numbers& n, const Matrix& out, double* errors) {
  const Matrix& gates = n(op.gates);
  const Matrix& recurrent = n(op.recurrent);
  const int32_t width = recurrent.rows;
  const auto size = static_cast<size_t>(width);
  std::vector<double> h(size), c(size), h_error(size), c_error(size), sums(4 * size), sum_errors(4 * size);
  for (int32_t step = 0; step < gates.rows; ++step) {
    const int32_t t = op.reverse ? gates.rows - 1 - step : step;
    for (int32_t j = 0; j < 4 * width; ++j) {
      double sum = gates(t, j) + n(op.bias)(0, j);
      double magnitude = std::fabs(gates(t, j)) + std::fabs(n(op.bias)(0, j));
      double passed = 0;
      for (int32_t k = 0; k < width; ++k) {
        const auto at = static_cast<size_t>(k);
        sum += h[at] * recurrent(k, j);
        magnitude += std::fabs(h[at] * recurrent(k, j));
        passed += h_error[at] * std::fabs(recurrent(k, j));
      }
      sums[static_cast<size_t>(j)] = sum;
      sum_errors[static_cast<size_t>(j)] = passed + kEpsilon * kDot * magnitude;
    }
    for (size_t k = 0; k < size; ++k) {
      const double i = Sigmoid(sums[k]), f = Sigmoid(sums[size + k]);
      const double g = std::tanh(sums[2 * size + k]), o = Sigmoid(sums[3 * size + k]);
      const auto gate_error = [&](size_t gate, double slope) {
        return slope * sum_errors[gate * size + k] + kEpsilon * kActivation;
      };
      c_error[k] = f * c_error[k] + std::fabs(c[k]) * gate_error(1, 0.25) + std::fabs(g) * gate_error(0, 0.25) +
                   i * gate_error(2, 1) + kEpsilon * (std::fabs(f * c[k]) + std::fabs(i * g));
      c[k] = f * c[k] + i * g;
      const double squashed = std::tanh(c[k]);
      h_error[k] = std::fabs(squashed) * gate_error(3, 0.25) + o * (c_error[k] + kEpsilon * kActivation) + kEpsilon;
      h[k] = o * squashed;
      out(t, static_cast<int64_t>(k)) = h[k];
      if (errors != nullptr) errors[static_cast<size_t>(t) * size + k] = h_error[k];
    }
  }
}

}  // namespace

bool Fits(const Lstm& op, const Shapes& s) {
  const int32_t width = s.cols(op.out);
  return s.Is(op.gates, s(op.out).rows, 4 * width) && s.Is(op.recurrent, {Domain::kOne, width}, 4 * width) &&
         s.Is(op.bias, kOneRow, 4 * width);
}

void Compute(const Lstm& op, const Numbers& n) { Visit(op, n, n(op.out), nullptr); }

// Backpropagation through time: recomputes the gates, and carries the gradients of h and c from later steps.
void Gradient(const Lstm& op, const Numbers& n, const Gradients& g) {
  const Matrix& gates = n(op.gates);
  const Matrix& recurrent = n(op.recurrent);
  const int32_t width = recurrent.rows;
  const auto size = static_cast<size_t>(width);
  const auto steps = static_cast<size_t>(gates.rows);
  const auto row = [&](size_t step) { return static_cast<int32_t>(op.reverse ? steps - 1 - step : step); };
  std::vector<double> h((steps + 1) * size), c((steps + 1) * size), all(steps * 4 * size);
  for (size_t step = 0; step < steps; ++step) {
    double* own = all.data() + step * 4 * size;
    for (int32_t j = 0; j < 4 * width; ++j) {
      double sum = gates(row(step), j) + n(op.bias)(0, j);
      for (int32_t k = 0; k < width; ++k) sum += h[step * size + static_cast<size_t>(k)] * recurrent(k, j);
      own[j] = j / width == 2 ? std::tanh(sum) : Sigmoid(sum);
    }
    for (size_t k = 0; k < size; ++k) {
      const size_t next = (step + 1) * size + k;
      c[next] = own[size + k] * c[step * size + k] + own[k] * own[2 * size + k];
      h[next] = own[3 * size + k] * std::tanh(c[next]);
    }
  }
  std::vector<double> h_gradient(size), c_gradient(size), sums(4 * size);
  for (size_t step = steps; step-- > 0;) {
    const double* own = all.data() + step * 4 * size;
    for (size_t k = 0; k < size; ++k) {
      const double i = own[k], f = own[size + k], cell = own[2 * size + k], o = own[3 * size + k];
      const double squashed = std::tanh(c[(step + 1) * size + k]);
      const double dh = h_gradient[k] + g(op.out)(row(step), static_cast<int64_t>(k));
      const double dc = c_gradient[k] + dh * o * (1 - squashed * squashed);
      sums[k] = dc * cell * i * (1 - i);
      sums[size + k] = dc * c[step * size + k] * f * (1 - f);
      sums[2 * size + k] = dc * i * (1 - cell * cell);
      sums[3 * size + k] = dh * squashed * o * (1 - o);
      c_gradient[k] = dc * f;
      h_gradient[k] = 0;
    }
    for (int32_t j = 0; j < 4 * width; ++j) {
      const double sum = sums[static_cast<size_t>(j)];
      g(op.gates)(row(step), j) += sum;
      g(op.bias)(0, j) += sum;
      for (int32_t k = 0; k < width; ++k) {
        h_gradient[static_cast<size_t>(k)] += sum * recurrent(k, j);
        g(op.recurrent)(k, j) += sum * h[step * size + static_cast<size_t>(k)];
      }
    }
  }
}

std::vector<double> Bound(const Lstm& op, Value result, const Numbers& n) {
  const Matrix& out = n(result);
  std::vector<double> values(static_cast<size_t>(out.rows) * static_cast<size_t>(out.cols)), errors(values.size());
  Visit(op, n, {values.data(), out.rows, out.cols, out.cols}, errors.data());
  return errors;
}

}  // namespace peruse::ops
