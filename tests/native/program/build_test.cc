#include "core/program/build.h"

#include <gtest/gtest.h>

namespace peruse {
namespace {

bool HasWideInput(Precision precision, int32_t in, int32_t groups = 1) {
  Program program;
  Parameters parameters;
  Build build(program, parameters, precision);
  const LinearId id = build.GroupedWeights("linear", in, 64, groups);
  EXPECT_EQ(program.linears[id.id], parameters.linears[id.id]);
  return program.linears[id.id].wide_input;
}

TEST(BuildTest, ShallowLayersOfQ8HaveWideInputs) {
  EXPECT_TRUE(HasWideInput(Precision::kQ8, 192));
  EXPECT_FALSE(HasWideInput(Precision::kQ8, 193));
  EXPECT_TRUE(HasWideInput(Precision::kQ8, 768, 4));
  EXPECT_FALSE(HasWideInput(Precision::kF32, 192));
  EXPECT_FALSE(HasWideInput(Precision::kF16, 192));
}

}  // namespace
}  // namespace peruse
