#include "core/ops/activate.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

HostMatrix SweepMatrix(int32_t rows, int32_t cols) {
  HostMatrix matrix{rows, cols, {}, true};
  const float special[] = {0.0f,  -0.0f,  1e-30f, -1e-30f, 1e-4f, -1e-4f, 20.0f, -20.0f,
                           88.0f, -88.0f, 1e3f,   -1e3f,   1e30f, -1e30f, 3e38f, -3e38f};
  const int32_t count = rows * cols;
  for (int32_t i = 0; i < count; ++i) {
    matrix.values.push_back(i < 16 ? special[i] : -12.0f + 24.0f * static_cast<float>(i) / static_cast<float>(count));
  }
  return matrix;
}

void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(SweepMatrix(c.rows(), c.cols));
  p.Add(ops::Activate{x, c.activation, p.Output({Domain::kTokens, 1}, c.cols)});
}

}  // namespace

void AddActivateCases(Cases& cases) {
  cases.push_back({.operation = "Activate",
                   .write = Write,
                   .lengths = kRagged,
                   .cols = 21,
                   .strided_in = true,
                   .strided_out = true});
  for (int activation = 0; activation <= static_cast<int>(kLastActivation); ++activation) {
    cases.push_back({.operation = "Activate",
                     .write = Write,
                     .lengths = {23, 17},
                     .cols = 61,
                     .activation = static_cast<Activation>(activation)});
  }
}

}  // namespace peruse::testing
