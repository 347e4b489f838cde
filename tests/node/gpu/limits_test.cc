// The backend with small limits on bindings: weights in several buffers, heads in several dispatches, and typed
// errors for models that do not fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "tests/native/ops/case_program.h"
#include "tests/native/ops/op_case.h"
#include "tests/native/ops/run_program.h"
#include "tests/node/gpu/hosted_backend.h"

namespace peruse::testing {
namespace {

// A case of the list, changed.
OpCase Like(std::string_view operation, OpCase sizes) {
  for (const OpCase& c : AllCases()) {
    if (c.operation != operation) continue;
    sizes.operation = c.operation;
    sizes.write = c.write;
    return sizes;
  }
  PERUSE_CHECK(false);
  return sizes;
}

void ExpectAgreement(const OpCase& c, uint64_t binding_bytes) {
  const std::vector<HostMatrix> operands = MakeOperands(c);
  const Expected want = RunReference(c, operands);
  const Outcome got = RunCase(*CreateHostedWebGpuBackendWithin({.binding_bytes = binding_bytes}), c, operands);
  ASSERT_TRUE(got.status.ok()) << got.status.message();
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    for (size_t j = 0; j < want.outputs[i].values.size(); ++j) {
      ASSERT_NEAR(got.outputs[i].values[j], want.outputs[i].values[j], 1e-4) << c.name() << ", value " << j;
    }
  }
}

TEST(GpuLimits, WeightsInSeveralBuffers) {
  // 100 rows of 1200 bytes in 16384: parts of 13 rows, and for the groups whole groups of 25.
  ExpectAgreement(Like("Linear", {.lengths = {4}, .cols = 300, .out = 100}), 16384);
  ExpectAgreement(Like("Linear", {.lengths = {4}, .cols = 600, .out = 100, .groups = 4}), 16384);
  ExpectAgreement(Like("LinearAddNorm", {.lengths = {3}, .cols = 300, .out = 100}), 16384);
  // 100 rows of 300 bytes, 320 with their padding: parts of 51 rows; and of two groups of 25.
  ExpectAgreement(Like("Linear", {.lengths = {4}, .cols = 300, .out = 100, .q8 = true}), 16384);
  ExpectAgreement(Like("Linear", {.lengths = {4}, .cols = 1000, .out = 100, .groups = 4, .q8 = true}), 16384);
}

// Compares WGSL's own products of four int8 with those by hand, which the conformance list runs, in all q8 cases
// that `fits` accepts. Returns the number of cases.
int ComparePackedDotProducts(const std::function<bool(const OpCase&)>& fits) {
  const auto packed = CreateHostedWebGpuBackendWithin({.packed_dot = true});
  const auto by_hand = CreateHostedWebGpuBackendWithin({});
  int compared = 0;
  for (const OpCase& c : AllCases()) {
    if (!c.q8 || !fits(c) || std::string_view(c.operation).starts_with("Experts")) continue;
    const std::vector<HostMatrix> operands = MakeOperands(c);
    const Outcome want = RunCase(*by_hand, c, operands);
    const Outcome got = RunCase(*packed, c, operands);
    EXPECT_TRUE(got.status.ok()) << got.status.message();
    if (!got.status.ok()) return compared;
    for (size_t i = 0; i < want.outputs.size(); ++i)
      EXPECT_EQ(got.outputs[i].values, want.outputs[i].values) << c.name();
    ++compared;
  }
  return compared;
}

TEST(GpuLimits, PackedDotProductsOfOneRowGiveTheSameBits) {
  EXPECT_GT(ComparePackedDotProducts(
                [](const OpCase& c) { return c.operation == std::string_view("Linear") && c.rows() == 1; }),
            0);
}

TEST(GpuLimits, PackedDotProductsGiveTheSameBits) {
  EXPECT_GT(ComparePackedDotProducts([](const OpCase&) { return true; }), 30);
}

// Threads that exchange values in a subgroup, and in workgroup memory.
TEST(GpuLimits, SubgroupsGiveTheSameBits) {
  if (!HostHasSubgroups()) GTEST_SKIP() << "the adapter has no subgroups";
  const auto with = CreateHostedWebGpuBackendWithin({.subgroups = true});
  const auto without = CreateHostedWebGpuBackendWithin({});
  int compared = 0;
  for (const OpCase& c : AllCases()) {
    const std::string_view operation = c.operation;
    const bool depends = operation.starts_with("LayerNorm") || operation.starts_with("AddNorm") ||
                         operation.starts_with("RmsNorm") || operation.starts_with("Normalize");
    if (!depends) continue;
    const std::vector<HostMatrix> operands = MakeOperands(c);
    const Outcome want = RunCase(*without, c, operands);
    const Outcome got = RunCase(*with, c, operands);
    ASSERT_TRUE(got.status.ok()) << got.status.message();
    for (size_t i = 0; i < want.outputs.size(); ++i)
      ASSERT_EQ(got.outputs[i].values, want.outputs[i].values) << c.name();
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

// The tiles of Intel's GPUs, the largest tiles of AMD's, and the usual ones. Only the order of a sum that is split into slices may differ.
TEST(GpuLimits, OtherTilesGiveTheSameBits) {
  static constexpr webgpu::TileShape kWide[] = {{64, 128, 8, 8}};
  ASSERT_EQ(webgpu::TuningFor("amd").tiles.front(), kWide[0]);
  const auto few = CreateHostedWebGpuBackendWithin({.tuning = webgpu::TuningFor("intel")});
  const auto wide = CreateHostedWebGpuBackendWithin({.tuning = {kWide, 128, false, 128}});
  const auto usual = CreateHostedWebGpuBackendWithin({});
  int compared = 0;
  for (const OpCase& c : AllCases()) {
    const std::string_view operation = c.operation;
    const bool depends = operation.find("Linear") != std::string_view::npos || operation == "MatMul" ||
                         operation == "Conv1d" ||
                         // Attention with sinks is refused on a GPU.
                         (operation.find("Attention") != std::string_view::npos && !operation.starts_with("Sink"));
    if (!depends) continue;
    const std::vector<HostMatrix> operands = MakeOperands(c);
    const Outcome want = RunCase(*usual, c, operands);
    for (WebGpuBackend* other : {few.get(), wide.get()}) {
      // Shaders with the largest tile compile slowly on a GPU in software.
      if (other == wide.get() && operation != "Linear" && operation != "LinearSpanConv") continue;
      const Outcome got = RunCase(*other, c, operands);
      ASSERT_TRUE(got.status.ok()) << got.status.message();
      ASSERT_EQ(got.stray_write, "") << c.name();
      for (size_t i = 0; i < want.outputs.size(); ++i)
        ASSERT_EQ(got.outputs[i].values, want.outputs[i].values) << c.name();
    }
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(GpuLimits, HeadsInSeveralDispatches) {
  // One head's position products take 70 * 139 * 4 bytes, so each head is a dispatch of its own.
  ExpectAgreement(Like("DisentangledAttention", {.lengths = {70},
                                                 .cols = 48,
                                                 .heads = 3,
                                                 .position_key = true,
                                                 .position_query = true,
                                                 .extra_output = true}),
                  65536);
}

TEST(GpuLimits, WhatDoesNotFitIsATypedError) {
  const auto backend = CreateHostedWebGpuBackendWithin({.binding_bytes = 16384});
  EXPECT_EQ(backend->CreateLinear({5000, 1, 1, Precision::kF32}).status().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(backend->CreateLinear({200000, 1, 1, Precision::kQ8}).status().code(), StatusCode::kUnsupported);
  const std::vector<float> values(10000);
  SmallProgram large;
  large.Input(100, 100);
  EXPECT_EQ(large.Run(*backend, {values}).status.code(), StatusCode::kOutOfMemory);
  SmallProgram small;
  small.Input(10, 10);
  EXPECT_TRUE(small.Run(*backend, {std::span(values).first(100)}).status.ok());
}

// Records a run of the program, and no more.
Status Record(Backend& backend, const SmallProgram& program, const Plan& plan, std::span<const float> input,
              std::span<FloatBuffer> results) {
  const RaggedBatch none;
  const std::span<const float> matrices[] = {input};
  return backend.Run(plan, program.weights(), {.batch = none, .matrices = matrices}, results);
}

TEST(GpuLimits, AnAbandonedRunLeavesNothingBehind) {
  const auto backend = CreateHostedWebGpuBackendWithin({});
  SmallProgram program;
  program.Output(program.Activated(program.Input(1, 2), Activation::kRelu));
  const Plan plan = PlanMemory(program.program());
  std::vector<FloatBuffer> results(1);
  for (float value : {1.0f, 2.0f, 3.0f}) {
    ASSERT_TRUE(Record(*backend, program, plan, std::vector<float>{value, -value}, results).ok());
    if (value == 2.0f) continue;  // never submitted
    ASSERT_TRUE(backend->Submit().ok());
    EXPECT_EQ(ToVector(results[0]), (std::vector<float>{value, 0}));
  }
}

TEST(GpuLimits, AWarmRunNeedsNoNewBuffers) {
  // A recorder without a host: what a second run of the same shapes records is counted.
  const auto backend = CreateWebGpuBackend();
  SmallProgram program;
  const Value x = program.Input(3, 2);
  const Value y = program.New(3, 2);
  program.Add(ops::Add{x, x, y});
  program.Output(y);
  const Plan plan = PlanMemory(program.program());
  std::vector<FloatBuffer> results(1);
  const auto run = [&] {
    backend->ClearCommands();
    EXPECT_TRUE(Record(*backend, program, plan, std::vector<float>{1, 2, 3, 4, 5, 6}, results).ok());
    backend->EndRecording();
    int made = 0;
    const auto words = backend->commands();
    for (size_t at = 0; at < words.size(); at += words[at + 1]) made += words[at] <= 3;  // shader, pipeline, buffer
    return made;
  };
  EXPECT_GT(run(), 0);
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(backend->Submit().code(), StatusCode::kInternal);  // the run was never replayed
}

// A product in slices needs a buffer for all slices, of the same size for every length of a bucket.
TEST(GpuLimits, SlicesOfAProductTakeTheBuffersOfTheirLengthBucket) {
  const auto backend = CreateWebGpuBackend();
  struct Recorded {
    int buffers = 0;
    uint32_t slices = 0;  // the deepest grid
  };
  const auto record = [&](int32_t rows) {
    SmallProgram program;
    const Value x = program.Input(rows, 768);
    const Value residual = program.Input(rows, 64);
    const LinearId weight = program.Linear(*backend, {.in = 768, .out = 64});
    const NormArgs norm = {program.Constant(*backend, 1, 64), program.Constant(*backend, 1, 64), 1e-6f};
    const Value out = program.New(rows, 64);
    program.Add(ops::Linear{.x = x, .weight = weight, .residual = residual, .norm = norm, .out = out});
    program.Output(out);
    const Plan plan = PlanMemory(program.program());
    const std::vector<float> values(static_cast<size_t>(rows) * 768);
    const std::span<const float> matrices[] = {values, std::span(values).first(static_cast<size_t>(rows) * 64)};
    std::vector<FloatBuffer> results(1);
    const RaggedBatch none;
    backend->ClearCommands();
    EXPECT_TRUE(backend->Run(plan, program.weights(), {.batch = none, .matrices = matrices}, results).ok());
    backend->EndRecording();
    Recorded recorded;
    const auto words = backend->commands();
    for (size_t at = 0; at < words.size(); at += words[at + 1]) {
      recorded.buffers += words[at] == static_cast<uint32_t>(webgpu::Opcode::kBuffer);
      if (words[at] == static_cast<uint32_t>(webgpu::Opcode::kDispatch)) {
        recorded.slices = std::max(recorded.slices, words[at + 5]);
      }
    }
    return recorded;
  };
  for (const int32_t longest : {16, 64, 96}) {
    EXPECT_GT(record(longest).buffers, 0);
    for (const int32_t rows : {longest - 15, longest - 7, longest}) {
      const Recorded recorded = record(rows);
      EXPECT_EQ(recorded.buffers, 0) << rows;
      EXPECT_EQ(recorded.slices, 4u) << rows;
    }
  }
}

}  // namespace
}  // namespace peruse::testing
