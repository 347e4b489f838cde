// What every backend promises beside the operations: failure is sticky and typed, scopes free, weights are counted.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/backend/reference/reference_backend.h"
#include "core/backend/xnnpack/xnnpack_backend.h"
#if defined(PERUSE_GPU_TESTS)
#include "tests/node/gpu/hosted_backend.h"
#endif

namespace peruse::testing {
namespace {

std::vector<std::unique_ptr<Backend>> AllBackends() {
  std::vector<std::unique_ptr<Backend>> backends;
#if defined(PERUSE_GPU_TESTS)
  backends.push_back(CreateHostedWebGpuBackend());
  return backends;
#endif
  backends.push_back(CreateReferenceBackend());
  backends.push_back(CreateXnnpackBackend(1).value());
  return backends;
}

constexpr int32_t kAbsurd = 1 << 25;  // [kAbsurd, kAbsurd] floats are 4 PiB

TEST(BackendTest, OutOfMemoryFailsTheRunAndLeavesTheBackendUsable) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    backend->BeginRun();
    const std::vector<float> values = {1, -2, 3};
    {
      const Scope scope(*backend);
      const Tensor huge = backend->New(kAbsurd, kAbsurd);
      ASSERT_TRUE(huge.valid());
      EXPECT_EQ(huge.rows, kAbsurd);
      backend->Activate(huge, Activation::kRelu, backend->New(kAbsurd, kAbsurd));
    }
    const Tensor small = backend->New(1, 3);
    const Tensor out = backend->New(1, 3);
    backend->Upload(values, small);
    backend->Activate(small, Activation::kRelu, out);
    std::vector<float> result(3, 7);
    backend->Download(out, result);
    const Status status = backend->Submit();
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_NE(status.message(), "");

    backend->BeginRun();
    const Tensor x = backend->New(1, 3);
    const Tensor y = backend->New(1, 3);
    backend->Upload(values, x);
    backend->Activate(x, Activation::kRelu, y);
    backend->Download(y, result);
    ASSERT_TRUE(backend->Submit().ok());
    EXPECT_EQ(result, (std::vector<float>{1, 0, 3}));
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
    const Weight weight = backend->CreateLinear({1, 2, 1, Precision::kF32}).value();
    ASSERT_TRUE(backend->WriteLinear(weight, 0, std::vector<float>{2, 3}).ok());
    EXPECT_GT(backend->WeightBytes(), 0);
    backend->BeginRun();
    const Tensor x = backend->New(1, 1);
    const Tensor y = backend->New(1, 2);
    backend->Upload(std::vector<float>{10}, x);
    backend->Linear(x, weight, Activation::kNone, y);
    std::vector<float> result(2);
    backend->Download(y, result);
    ASSERT_TRUE(backend->Submit().ok());
    EXPECT_EQ(result, (std::vector<float>{20, 30}));
  }
}

TEST(BackendTest, XnnpackHoldsHalfWeightsInHalfTheMemory) {
  const auto full = CreateXnnpackBackend(1).value();
  const auto half = CreateXnnpackBackend(1).value();
  ASSERT_TRUE(full->CreateLinear({256, 64, 2, Precision::kF32}).ok());
  ASSERT_TRUE(half->CreateLinear({256, 64, 2, Precision::kF16}).ok());
  EXPECT_EQ(full->WeightBytes(), 128 * 64 * 4 + 64 * 4);
  EXPECT_EQ(half->WeightBytes(), 128 * 64 * 2 + 64 * 4);
}

TEST(BackendTest, AFreedLinearLeavesTheOthersAlone) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    const Weight kept = backend->CreateLinear({.in = 1, .out = 2}).value();
    const int64_t before = backend->WeightBytes();
    const Weight freed = backend->CreateLinear({.in = 3, .out = 5}).value();
    EXPECT_GT(backend->WeightBytes(), before);
    ASSERT_TRUE(backend->WriteLinear(kept, 0, std::vector<float>{2, 3}).ok());
    backend->FreeLinear(freed);
    EXPECT_EQ(backend->WeightBytes(), before);
    const Weight next = backend->CreateLinear({.in = 1, .out = 2}).value();
    ASSERT_TRUE(backend->WriteLinear(next, 0, std::vector<float>{5, 7}).ok());
    backend->BeginRun();
    std::vector<float> results(4);
    {
      const Scope scope(*backend);
      const Tensor one = backend->New(1, 1);
      backend->Upload(std::vector<float>{1}, one);
      const Tensor out = backend->New(1, 4);
      backend->Linear(one, kept, Activation::kNone, out.Columns(0, 2));
      backend->Linear(one, next, Activation::kNone, out.Columns(2, 2));
      backend->Download(out, results);
    }
    ASSERT_TRUE(backend->Submit().ok());
    EXPECT_EQ(results, (std::vector<float>{2, 3, 5, 7}));
  }
}

TEST(BackendTest, ScopesFreeWhatWasAllocatedInThem) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    backend->BeginRun();
    const Tensor kept = backend->New(1, 2);
    backend->Upload(std::vector<float>{4, 5}, kept);
    const int64_t mark = backend->WorkspaceMark();
    for (int i = 0; i < 100; ++i) {
      const Scope outer(*backend);
      const Tensor a = backend->New(50, 50);
      const Scope inner(*backend);
      backend->Activate(a, Activation::kRelu, backend->New(50, 50));
    }
    EXPECT_EQ(backend->WorkspaceMark(), mark);
    std::vector<float> result(2);
    backend->Download(kept, result);
    ASSERT_TRUE(backend->Submit().ok());
    EXPECT_EQ(result, (std::vector<float>{4, 5}));
  }
}

TEST(BackendTest, AnOperationMayFoldIntoAConstant) {
  for (const auto& backend : AllBackends()) {
    SCOPED_TRACE(backend->name());
    const Tensor table = backend->CreateConstant(2, 2).value();
    const Tensor folded = backend->CreateConstant(2, 2).value();
    ASSERT_TRUE(backend->WriteConstant(table, 0, std::vector<float>{1, -1, 2, -2}).ok());
    backend->BeginRun();
    backend->Activate(table, Activation::kRelu, folded);
    ASSERT_TRUE(backend->Submit().ok());
    backend->BeginRun();
    std::vector<float> result(4);
    backend->Download(folded, result);
    ASSERT_TRUE(backend->Submit().ok());
    EXPECT_EQ(result, (std::vector<float>{1, 0, 2, 0}));
  }
}

TEST(BackendTest, XnnpackHoldsInt8WeightsInAQuarterOfTheMemory) {
  const auto backend = CreateXnnpackBackend(1).value();
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

TEST(BackendTest, XnnpackRefusesByNameWhatItLacks) {
  EXPECT_EQ(CreateXnnpackBackend(0).status().code(), StatusCode::kInvalidArgument);
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
  EXPECT_EQ(CreateXnnpackBackend(2).status().code(), StatusCode::kUnsupported);
#endif
}

}  // namespace
}  // namespace peruse::testing
