// Typed errors of backends leave them usable, and their weights are counted.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/ops/run_program.h"

namespace peruse::testing {
namespace {

std::vector<std::unique_ptr<Backend>> AllBackends() {
  std::vector<std::unique_ptr<Backend>> backends;
  for (const BackendUnderTest& under_test : BackendsUnderTest()) backends.push_back(under_test.create());
  return backends;
}

Status WriteRows(Backend& backend, Weight weight, const std::vector<float>& rows) {
  return backend.WriteRows(weight, 0, {{reinterpret_cast<const uint8_t*>(rows.data()), 4 * rows.size()}, {}});
}

constexpr int32_t kAbsurd = 1 << 25;  // [kAbsurd, kAbsurd] floats are 4 PiB

TEST(BackendTest, OutOfMemoryFailsTheRunAndLeavesTheBackendUsable) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    const std::vector<float> values = {1, -2, 3};
    SmallProgram huge;
    huge.Activated(huge.Activated(huge.Input(kAbsurd, kAbsurd), Activation::kRelu), Activation::kRelu);
    const Status status = huge.Run(*backend, {values}).status;
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_NE(status.message(), "");

    SmallProgram small;
    small.Output(small.Activated(small.Input(1, 3), Activation::kRelu));
    const ProgramResult result = small.Run(*backend, {values});
    ASSERT_TRUE(result.status.ok());
    EXPECT_EQ(ToVector(result.outputs[0]), (std::vector<float>{1, 0, 3}));
  }
}

TEST(BackendTest, AWeightTooLargeIsATypedError) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    const Result<Weight> weight = backend->CreateLinear({kAbsurd, kAbsurd, 1, Precision::kF32});
    ASSERT_FALSE(weight.ok());
    EXPECT_EQ(weight.status().code(), StatusCode::kOutOfMemory);
    const Result<Tensor> constant = backend->CreateConstant(kAbsurd, kAbsurd);
    ASSERT_FALSE(constant.ok());
    EXPECT_EQ(constant.status().code(), StatusCode::kOutOfMemory);
    EXPECT_EQ(backend->WeightBytes(), 0);
  }
}

TEST(BackendTest, ABiasIsZeroUntilWritten) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    SmallProgram program;
    const Value x = program.Input(1, 1);
    const LinearId weight = program.Linear(*backend, {.in = 1, .out = 2});
    const Value y = program.New(1, 2);
    program.Add(ops::Linear{.x = x, .weight = weight, .out = y});
    program.Output(y);
    ASSERT_TRUE(WriteRows(*backend, program.weights().linears[0], {2, 3}).ok());
    EXPECT_GT(backend->WeightBytes(), 0);
    const std::vector<float> ten = {10};
    const ProgramResult result = program.Run(*backend, {ten});
    ASSERT_TRUE(result.status.ok());
    EXPECT_EQ(ToVector(result.outputs[0]), (std::vector<float>{20, 30}));
  }
}

TEST(BackendTest, CpuHoldsHalfWeightsInHalfTheMemory) {
  const auto full = CreateCpuBackend(1).value();
  const auto half = CreateCpuBackend(1).value();
  ASSERT_TRUE(full->CreateLinear({256, 64, 2, Precision::kF32}).ok());
  ASSERT_TRUE(half->CreateLinear({256, 64, 2, Precision::kF16}).ok());
  EXPECT_EQ(full->WeightBytes(), 128 * 64 * 4 + 64 * 4);
  EXPECT_EQ(half->WeightBytes(), 128 * 64 * 2 + 64 * 4);
}

TEST(BackendTest, AFreedLinearLeavesTheOthersAlone) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    SmallProgram program;
    const LinearId kept = program.Linear(*backend, {.in = 1, .out = 2});
    const int64_t before = backend->WeightBytes();
    const Weight freed = backend->CreateLinear({.in = 3, .out = 5}).value();
    EXPECT_GT(backend->WeightBytes(), before);
    ASSERT_TRUE(WriteRows(*backend, program.weights().linears[0], {2, 3}).ok());
    backend->FreeLinear(freed);
    EXPECT_EQ(backend->WeightBytes(), before);
    const LinearId next = program.Linear(*backend, {.in = 1, .out = 2});
    ASSERT_TRUE(WriteRows(*backend, program.weights().linears[1], {5, 7}).ok());
    const Value x = program.Input(1, 1);
    const Value out = program.New(1, 4);
    program.Add(ops::Linear{.x = x, .weight = kept, .out = program.Columns(out, 0, 2)});
    program.Add(ops::Linear{.x = x, .weight = next, .out = program.Columns(out, 2, 2)});
    program.Output(out);
    const std::vector<float> one = {1};
    const ProgramResult result = program.Run(*backend, {one});
    ASSERT_TRUE(result.status.ok());
    EXPECT_EQ(ToVector(result.outputs[0]), (std::vector<float>{2, 3, 5, 7}));
  }
}

TEST(BackendTest, AResultLivesWhileOthersComeAndGo) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    SmallProgram program;
    const Value kept = program.Activated(program.Input(1, 2), Activation::kNone);
    Value other = program.Input(50, 50);
    for (int i = 0; i < 100; ++i) other = program.Activated(other, Activation::kRelu);
    program.Output(program.Activated(kept, Activation::kNone));
    EXPECT_LT(PlanMemory(program.program()).slots.size(), 6u);
    const std::vector<float> values = {4, 5};
    const std::vector<float> others(2500, 1.0f);
    const ProgramResult result = program.Run(*backend, {values, others});
    ASSERT_TRUE(result.status.ok());
    EXPECT_EQ(ToVector(result.outputs[0]), (std::vector<float>{4, 5}));
  }
}

TEST(BackendTest, AnOperationMayFoldIntoAConstant) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    SmallProgram program;
    const Value table = program.Constant(*backend, 2, 2);
    const Value folded = program.Constant(*backend, 2, 2);
    ASSERT_TRUE(backend->WriteConstant(program.weights().constants[0], 0, std::vector<float>{1, -1, 2, -2}).ok());
    program.Add(ops::Activate{table, Activation::kRelu, folded});
    ASSERT_TRUE(program.Run(*backend, {}).status.ok());
    program.program().ops.clear();
    program.Output(program.Activated(folded, Activation::kNone));
    const ProgramResult result = program.Run(*backend, {});
    ASSERT_TRUE(result.status.ok());
    EXPECT_EQ(ToVector(result.outputs[0]), (std::vector<float>{1, 0, 2, 0}));
  }
}

TEST(BackendTest, CpuHoldsInt8WeightsInAQuarterOfTheMemory) {
  const auto backend = CreateCpuBackend(1).value();
  ASSERT_TRUE(backend->CreateLinear({256, 64, 2, Precision::kQ8}).ok());
  EXPECT_EQ(backend->WeightBytes(), 128 * 64 + 3 * 64 * 4);
}

TEST(BackendTest, ALinearTooDeepForInt8SumsIsRefusedByName) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    const Result<Weight> deep = backend->CreateLinear({133145, 1, 1, Precision::kQ8});
    ASSERT_FALSE(deep.ok());
    EXPECT_EQ(deep.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(deep.status().message().find("q8"), std::string::npos);
  }
}

TEST(BackendTest, CpuRefusesByNameWhatItLacks) {
  EXPECT_EQ(CreateCpuBackend(0).status().code(), StatusCode::kInvalidArgument);
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
  EXPECT_EQ(CreateCpuBackend(2).status().code(), StatusCode::kUnsupported);
#endif
}

}  // namespace
}  // namespace peruse::testing
