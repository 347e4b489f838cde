// Linear layers of 4 bits: panels for every int8 path, and the same bits as an int8 layer of the integers of the definition.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/backend/reference/reference_backend.h"
#include "core/cpu/int4_panel.h"
#include "core/formats/int4.h"
#include "tests/native/cpu/int8_bits.h"

namespace peruse::cpu {
namespace {

using testing::Numbers;

// Rows of random codes, all 16 of them, and random scales of both signs.
struct Rows {
  Rows(int64_t count, int64_t width, uint32_t seed) : groups(Int4Groups(width)) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < count * groups * kInt4GroupBytes; ++i) payload.push_back(static_cast<uint8_t>(random()));
    scales = Numbers(static_cast<size_t>(count * groups), seed);
  }
  int32_t code(int64_t row, int64_t k) const {
    const uint8_t pair = payload[static_cast<size_t>((row * groups * kInt4Group + k) / 2)];
    return (k % 2 == 0 ? pair & 15 : pair >> 4) - 8;
  }
  // Writes the integers of a row by their definition in double precision, and returns the scale.
  float Integers(int64_t row, std::span<int8_t> out) const {
    const std::span<const float> own =
        std::span(scales).subspan(static_cast<size_t>(row * groups), static_cast<size_t>(groups));
    float largest = 0;
    for (const float scale : own) largest = std::max(largest, std::fabs(scale));
    for (size_t k = 0; k < out.size(); ++k) {
      const double multiplier = std::nearbyint(own[k / kInt4Group] * (32512 / largest));
      out[k] = static_cast<int8_t>(std::floor(code(row, static_cast<int64_t>(k)) * multiplier / 2048 + 0.5));
    }
    return largest * 8 / 127;
  }

  int64_t groups;
  std::vector<uint8_t> payload;
  std::vector<float> scales;
};

// The unpacked panel as [k][column].
std::vector<int32_t> Unpacked(Int8Path path, const Rows& rows, int64_t k) {
  const int64_t cols = Int8TileCols();
  std::vector<uint8_t> panel(static_cast<size_t>(Int4PanelBytes(path, k)));
  for (int64_t c = 0; c < cols; ++c) {
    const float* const scales = rows.scales.data() + c * rows.groups;
    Int4Multipliers(
        rows.groups, [scales](int64_t g) { return scales[g]; }, Int4PanelMultipliers(path, k, c, panel.data()), cols);
    // Twice: writing a column replaces it.
    PackInt4Column(path, rows.payload.data(), k, c, panel.data());
    PackInt4Column(path, rows.payload.data() + c * rows.groups * kInt4GroupBytes, k, c, panel.data());
  }
  std::vector<std::byte> scratch(static_cast<size_t>(Int4PanelScratch(path, k)));
  UnpackInt4Panel(path, panel.data(), k, scratch.data());
  const int64_t step = path == Int8Path::kI16 ? 2 : 4;
  std::vector<int32_t> integers;
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t c = 0; c < cols; ++c) {
      const auto at = static_cast<size_t>((i / step * cols + c) * step + i % step);
      integers.push_back(step == 2 ? reinterpret_cast<const int16_t*>(scratch.data())[at]
                                   : reinterpret_cast<const int8_t*>(scratch.data())[at]);
    }
  }
  return integers;
}

TEST(Int4PanelTest, UnpacksTheIntegersOfTheDefinition) {
  const int64_t cols = Int8TileCols();
  for (const int64_t k : {1, 2, 3, 31, 32, 33, 62, 64, 100, 383, 1024}) {
    const Rows rows(cols, k, static_cast<uint32_t>(k));
    std::vector<int32_t> expected(static_cast<size_t>(k * cols));
    std::vector<int8_t> row(static_cast<size_t>(k));
    for (int64_t c = 0; c < cols; ++c) {
      rows.Integers(c, row);
      for (int64_t i = 0; i < k; ++i) expected[static_cast<size_t>(i * cols + c)] = row[static_cast<size_t>(i)];
    }
    for (const Int8Path path : {Int8Path::kI16, Int8Path::kSdot, Int8Path::kUsdot}) {
      EXPECT_EQ(Unpacked(path, rows, k), expected) << "k " << k << " path " << static_cast<int>(path);
    }
  }
}

std::vector<float> Outputs(Backend& backend, const LinearSpec& spec, const EncodedRows& rows, bool at_once) {
  constexpr int32_t kRows = 7;
  testing::SmallProgram program;
  const Value x = program.Input(kRows, spec.in);
  const Value y = program.New(kRows, spec.out);
  program.Add(ops::Linear{.x = x, .weight = program.Linear(backend, spec), .out = y});
  program.Output(y);
  const Weight weight = program.weights().linears[0];
  if (at_once) {
    EXPECT_TRUE(backend.WriteRows(weight, 0, rows).ok());
  } else {
    EXPECT_TRUE(backend.WriteRows(weight, 0, {{}, rows.scales}).ok());
    EXPECT_TRUE(backend.WriteRows(weight, 0, {rows.payload, {}}).ok());
  }
  EXPECT_TRUE(backend.WriteBias(weight, 0, Numbers(static_cast<size_t>(spec.out), 3)).ok());
  const std::vector<float> input = Numbers(static_cast<size_t>(kRows * spec.in), 4);
  const testing::ProgramResult result = program.Run(backend, {input});
  EXPECT_TRUE(result.status.ok());
  return testing::ToVector(result.outputs[0]);
}

TEST(Q4LinearTest, HasTheBitsOfAnInt8LayerOfItsIntegers) {
  for (const bool wide : {false, true}) {
    for (const LinearSpec& shape : {LinearSpec{768, 100, 1}, LinearSpec{3072, 40, 1}, LinearSpec{62, 36, 2},
                                    LinearSpec{1, 1, 1}, LinearSpec{33, 8, 1}, LinearSpec{1056, 9, 1}}) {
      LinearSpec spec{shape.in, shape.out, shape.groups, Precision::kQ4, wide};
      const int64_t width = spec.in / spec.groups;
      const Rows rows(spec.out, width, 5);
      const auto backend = CreateCpuBackend(1).value();
      const std::vector<float> four = Outputs(*backend, spec, {rows.payload, rows.scales}, true);
      EXPECT_EQ(four, Outputs(*backend, spec, {rows.payload, rows.scales}, false));
      EXPECT_EQ(Outputs(*CreateReferenceBackend(), spec, {rows.payload, rows.scales}, true).size(), four.size());

      std::vector<int8_t> integers(static_cast<size_t>(spec.out * width));
      std::vector<float> scales;
      for (int64_t row = 0; row < spec.out; ++row) {
        scales.push_back(rows.Integers(
            row, std::span(integers).subspan(static_cast<size_t>(row * width), static_cast<size_t>(width))));
      }
      spec.precision = Precision::kQ8;
      const EncodedRows bytes = {{reinterpret_cast<const uint8_t*>(integers.data()), integers.size()}, scales};
      EXPECT_EQ(four, Outputs(*backend, spec, bytes, true)) << spec.in << " to " << spec.out;
    }
  }
}

TEST(Q4LinearTest, AgreesWithTheDefinition) {
  for (const LinearSpec& spec :
       {LinearSpec{1056, 40, 1, Precision::kQ4}, LinearSpec{62, 36, 2, Precision::kQ4, true}}) {
    const Rows rows(spec.out, spec.in / spec.groups, 6);
    const std::vector<float> expected = Outputs(*CreateReferenceBackend(), spec, {rows.payload, rows.scales}, false);
    const std::vector<float> computed = Outputs(*CreateCpuBackend(1).value(), spec, {rows.payload, rows.scales}, true);
    ASSERT_EQ(expected.size(), computed.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(expected[i], computed[i], 1e-4f * (1 + std::fabs(expected[i])));
  }
}

// An integer differs from the weight over the row's scale by half, and by what 16 bits for the multiplier change.
TEST(Q4LinearTest, IntegersAreTheNearestOnes) {
  const Rows rows(64, 256, 8);
  std::vector<int8_t> integers(256);
  for (int64_t row = 0; row < 64; ++row) {
    const double scale = rows.Integers(row, integers);
    for (int64_t k = 0; k < 256; ++k) {
      const double exact = rows.code(row, k) * double{rows.scales[static_cast<size_t>(row * 8 + k / 32)]} / scale;
      EXPECT_LE(std::fabs(integers[static_cast<size_t>(k)] - exact), 0.502);
    }
  }
}

TEST(Q4LinearTest, ScalesTooSmallToDivideByGiveZeros) {
  for (const float scale : {0.0f, 1e-40f}) {
    std::vector<int16_t> multipliers(3, 1);
    EXPECT_EQ(Int4Multipliers(3, [=](int64_t) { return scale; }, multipliers.data(), 1), 0);
    EXPECT_EQ(multipliers, std::vector<int16_t>(3, 0));
  }
}

}  // namespace
}  // namespace peruse::cpu
