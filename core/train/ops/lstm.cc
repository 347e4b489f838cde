#include "core/cpu/lstm.h"

#include <algorithm>
#include <cmath>

#include "core/train/memory/tape.h"

namespace peruse::train {
namespace {

// States of all steps in scratch memory: i, f, g, o, then c and h, which start with the initial state.
struct States {
  Block gates;  // [steps, 4 * width]
  Block c, h;   // [steps + 1, width]

  States(const ops::Lstm& op, Tape& t) {
    const Block in = t.value(op.gates), recurrent = t.value(op.recurrent), bias = t.value(op.bias);
    const int64_t steps = in.rows, width = recurrent.rows;
    gates = {t.scratch(), steps, 4 * width, 4 * width};
    c = {gates.row(steps), steps + 1, width, width};
    h = {c.row(steps + 1), steps + 1, width, width};
    std::fill_n(c.data, width, 0.0f);
    std::fill_n(h.data, width, 0.0f);
    for (int64_t step = 0; step < steps; ++step) {
      const float* x = in.row(op.reverse ? steps - 1 - step : step);
      const float* const last = step > 0 ? h.row(step) : nullptr;
      cpu::LstmStep(x, bias.data, recurrent, last, gates.row(step), c.row(step), c.row(step + 1), h.row(step + 1));
    }
  }
};

}  // namespace

template <>
void Forward(const ops::Lstm& op, Tape& t) {
  const States states(op, t);
  const Block out = t.value(op.out);
  for (int64_t step = 0; step < out.rows; ++step) {
    std::copy_n(states.h.row(step + 1), out.cols, out.row(op.reverse ? out.rows - 1 - step : step));
  }
}

template <>
void Backward(const ops::Lstm& op, Tape& t) {
  const States s(op, t);
  const Block recurrent = t.value(op.recurrent), out = t.gradient(op.out);
  const int64_t steps = out.rows, width = out.cols;
  float* const dh = s.h.row(steps + 1);
  float* const dc = dh + width;
  std::fill_n(dh, 2 * width, 0.0f);
  for (int64_t step = steps; step-- > 0;) {
    const float* came = out.row(op.reverse ? steps - 1 - step : step);
    float* own = s.gates.row(step);  // at first the gates, then the gradients of their arguments
    for (int64_t k = 0; k < width; ++k) {
      const float i = own[k], f = own[width + k], g = own[2 * width + k], o = own[3 * width + k];
      const float squashed = std::tanh(s.c.row(step + 1)[k]);
      const float h_gradient = dh[k] + came[k];
      const float c_gradient = dc[k] + h_gradient * o * (1 - squashed * squashed);
      own[k] = c_gradient * g * i * (1 - i);
      own[width + k] = c_gradient * s.c.row(step)[k] * f * (1 - f);
      own[2 * width + k] = c_gradient * i * (1 - g * g);
      own[3 * width + k] = h_gradient * squashed * o * (1 - o);
      dc[k] = c_gradient * f;
    }
    t.workers().Multiply(1, width, 4 * width, s.gates.Rows(step, 1).operand(), recurrent.operand().Transposed(), dh,
                         width,
                         /*add=*/false);
  }
  const auto add_steps = [&](const Block& to, bool by_row) {
    for (int64_t step = 0; step < steps; ++step) {
      float* sum = to.row(!by_row ? 0 : op.reverse ? steps - 1 - step : step);
      for (int64_t j = 0; j < 4 * width; ++j) sum[j] += s.gates.row(step)[j];
    }
  };
  if (t.wants(op.gates)) add_steps(t.Accumulator(op.gates), /*by_row=*/true);
  if (t.wants(op.bias)) add_steps(t.Accumulator(op.bias), /*by_row=*/false);
  if (t.wants(op.recurrent)) {
    const Block to = t.Accumulator(op.recurrent);
    t.workers().Multiply(width, 4 * width, steps, s.h.Rows(0, steps).operand().Transposed(), s.gates.operand(), to.data,
                         to.stride, /*add=*/true);
  }
}

}  // namespace peruse::train
