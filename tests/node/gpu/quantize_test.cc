// Rows become exactly the integers of core/formats/quantize.h. A GPU's own division is not exact enough for that.
#include "core/formats/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/native/ops/run_program.h"
#include "tests/node/gpu/hosted_backend.h"

namespace peruse::testing {
namespace {

constexpr int32_t kCols = 64;

// Rows of every size, and those where rounding is closest or there is nothing to scale.
std::vector<std::vector<float>> Rows() {
  std::vector<std::vector<float>> rows;
  std::mt19937 random(1);
  const auto uniform = [&] { return static_cast<float>(static_cast<int32_t>(random() >> 8) - (1 << 23)) / (1 << 23); };
  for (int i = 0; i < 300; ++i) {
    std::vector<float> row(kCols);
    const float size = std::ldexp(1 + std::fabs(uniform()), i - 110);  // from where scales are normal numbers
    for (float& value : row) value = uniform() * std::min(size, 1e38f);
    rows.push_back(row);
  }
  for (const float unit : {1.0f, 0.25f, 1024.0f}) {  // ties: halves of a step
    std::vector<float> row = {127 * unit};
    while (row.size() < kCols)
      row.push_back((static_cast<float>(row.size()) - 0.5f) * (row.size() % 2 == 0 ? unit : -unit));
    rows.push_back(row);
  }
  rows.emplace_back(kCols, 0.0f);
  rows.emplace_back(kCols, 1e-40f);
  rows.emplace_back(kCols, -3e38f);
  return rows;
}

TEST(GpuQuantize, RowsBecomeTheSameIntegersAsOnTheCpu) {
  const std::vector<std::vector<float>> rows = Rows();
  for (const bool wide : {false, true}) {
    const auto backend = CreateHostedWebGpuBackendWithin({});
    // out = x W^T with W = 1: the integers times the row's scale.
    SmallProgram program;
    const LinearId weight = program.Linear(*backend, {kCols, kCols, 1, Precision::kQ8, wide});
    std::vector<uint8_t> identity(kCols * kCols);
    for (size_t i = 0; i < kCols; ++i) identity[i * kCols + i] = 1;
    const std::vector<float> scales(kCols, 1.0f);
    ASSERT_TRUE(backend->WriteRows(program.weights().linears[0], 0, {identity, scales}).ok());
    std::vector<float> values;
    for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
    const auto count = static_cast<int32_t>(rows.size());
    const Value x = program.Input(count, kCols);
    const Value out = program.New(count, kCols);
    program.Add(ops::Linear{.x = x, .weight = weight, .out = out});
    program.Output(out);
    const ProgramResult ran = program.Run(*backend, {values});
    ASSERT_TRUE(ran.status.ok());
    const std::vector<float> result = ToVector(ran.outputs[0]);
    for (size_t r = 0; r < rows.size(); ++r) {
      std::vector<int16_t> integers(kCols);
      const float scale = QuantizeInputs(rows[r], InputLevels(kCols, wide), wide, integers.data());
      for (size_t c = 0; c < kCols; ++c) {
        ASSERT_EQ(result[r * kCols + c], static_cast<float>(integers[c]) * scale) << "row " << r << ", column " << c;
      }
    }
  }
}

}  // namespace
}  // namespace peruse::testing
