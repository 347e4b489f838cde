#include "core/formats/int4.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/half.h"
#include "core/formats/embedding_table.h"
#include "core/formats/weight_format.h"
#include "tests/native/random.h"

namespace peruse::testing {
namespace {

std::vector<float> Decoded(const EncodedRows& rows, int64_t row, int64_t width) {
  std::vector<float> values(static_cast<size_t>(width));
  const auto groups = static_cast<size_t>(Int4Groups(width)), first = static_cast<size_t>(row) * groups;
  AddInt4Row(
      rows.payload.data() + first * kInt4GroupBytes, [&](size_t group) { return rows.scales[first + group]; }, values);
  return values;
}

// The definition in int4.h, in double precision, one value at a time.
double NaiveValue(const std::vector<uint8_t>& payload, const std::vector<float>& scales, int64_t width, int64_t row,
                  int64_t k) {
  const int64_t groups = (width + 31) / 32, group = row * groups + k / 32, place = k % 32;
  const int byte = payload[static_cast<size_t>(group * 16 + place / 2)];
  const int q = place % 2 == 0 ? byte % 16 : byte / 16;
  return (q - 8) * static_cast<double>(scales[static_cast<size_t>(group)]);
}

TEST(Int4Test, AgreesWithANaiveDoubleReference) {
  Random random(7);
  for (const int32_t width : {1, 2, 31, 32, 33, 64, 100, 384}) {
    const int32_t rows = random.Int(1, 5);
    std::vector<float> values(static_cast<size_t>(rows * width));
    for (float& value : values) value = random.Float() * (random.Chance(5) ? 30.0f : 0.05f);
    EncodedBuffer buffer;
    const auto encoded = Int4Format().Encode(values, width, &buffer);
    ASSERT_TRUE(encoded.ok());
    const std::vector<uint8_t> payload(encoded->payload.begin(), encoded->payload.end());
    const std::vector<float> scales(encoded->scales.begin(), encoded->scales.end());

    EmbeddingTable written, read;
    ASSERT_TRUE(written.Allocate(rows, width, DType::kU8).ok());
    ASSERT_TRUE(written.WriteRows(0, values).ok());
    ASSERT_TRUE(read.Allocate(rows, width, DType::kU8).ok());
    for (size_t at = 0; at < payload.size(); at += 7) {
      ASSERT_TRUE(
          read.AppendBytes(std::span<const uint8_t>(payload).subspan(at, std::min<size_t>(7, payload.size() - at))));
    }
    read.WriteScales(0, scales);
    EXPECT_EQ(read.bytes(), rows * ((width + 31) / 32) * 18);

    for (int32_t row = 0; row < rows; ++row) {
      std::vector<float> from_floats(static_cast<size_t>(width), 0.25f), from_file = from_floats;
      written.AddRow(row, from_floats);
      read.AddRow(row, from_file);
      for (int32_t k = 0; k < width; ++k) {
        const double naive = NaiveValue(payload, scales, width, row, k);
        const auto i = static_cast<size_t>(k);
        EXPECT_EQ(from_floats[i], static_cast<float>(0.25 + naive)) << width << " " << row << " " << k;
        EXPECT_EQ(from_file[i], from_floats[i]);
        // No other of the 16 values is nearer to the weight.
        const double weight = values[static_cast<size_t>(row * width + k)];
        const double scale = scales[static_cast<size_t>(row * ((width + 31) / 32) + k / 32)];
        double best = std::numeric_limits<double>::infinity();
        for (int q = 0; q < 16; ++q) best = std::min(best, std::fabs((q - 8) * scale - weight));
        EXPECT_LE(std::fabs(naive - weight), best + 1e-6 * std::fabs(scale));
      }
    }
  }
}

// The rule of docs/precision.md, one value at a time. Byte k / 2 has value k.
void EncodeNaively(std::span<const float> group, std::vector<uint8_t>* payload, std::vector<float>* scales) {
  float extreme = 0;
  for (const float value : group) {
    if (std::fabs(value) > std::fabs(extreme)) extreme = value;
  }
  const float scale = HalfToFloat(FloatToHalf(extreme * -0.125f)), inverse = scale == 0 ? 0 : 1 / scale;
  scales->push_back(scale);
  for (size_t k = 0; k < 32; ++k) {
    const float q = std::clamp(std::nearbyint((k < group.size() ? group[k] : 0) * inverse) + 8, 0.0f, 15.0f);
    if (k % 2 == 0) payload->push_back(0);
    payload->back() = static_cast<uint8_t>(payload->back() | static_cast<int>(q) << (k % 2 * 4));
  }
}

TEST(Int4Test, EncodesTheBytesOfTheNaiveRule) {
  Random random(11);
  for (const size_t width : {1, 2, 31, 32, 33, 100, 1024}) {
    for (const float size : {1.0f, 1e-7f, 1e4f, 0.0f}) {
      std::vector<float> rows(3 * width);
      for (float& value : rows) value = size * (random.Chance(3) ? std::round(4 * random.Float()) : random.Float());
      rows[width - 1] = -rows[0];  // two of the same magnitude
      std::vector<uint8_t> payload;
      std::vector<float> scales;
      for (size_t i = 0; i < rows.size(); i += width) {
        for (size_t k = 0; k < width; k += 32) {
          EncodeNaively(std::span(rows).subspan(i + k, std::min<size_t>(32, width - k)), &payload, &scales);
        }
      }
      EncodedBuffer buffer;
      const auto encoded = Int4Format().Encode(rows, static_cast<int64_t>(width), &buffer);
      ASSERT_TRUE(encoded.ok());
      EXPECT_EQ(std::vector<uint8_t>(encoded->payload.begin(), encoded->payload.end()), payload)
          << width << " " << size;
      ASSERT_EQ(encoded->scales.size(), scales.size());
      for (size_t i = 0; i < scales.size(); ++i) {
        EXPECT_EQ(std::signbit(encoded->scales[i]), std::signbit(scales[i]));
        EXPECT_EQ(encoded->scales[i], scales[i]);
      }
    }
  }
}

TEST(Int4Test, DecodesAsOnnxDoes) {
  // Written by onnxruntime.quantization: w[k] = (k - 16) / 4, block_size 32, no zero point.
  const std::vector<uint8_t> payload = {0x10, 0x21, 0x32, 0x43, 0x54, 0x65, 0x76, 0x87,
                                        0x98, 0xa9, 0xba, 0xcb, 0xdc, 0xed, 0xfe, 0xff};
  const std::vector<float> scales = {0.5f};
  const std::vector<float> values = Decoded({payload, scales}, 0, 32);
  EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 6),
            (std::vector<float>{-4, -3.5f, -3.5f, -3, -3, -2.5f}));
  EXPECT_EQ(values[30], 3.5f);
  EXPECT_EQ(values[31], 3.5f);
  std::vector<double> steps(32);
  Int4Format().Decode(payload, steps);
  for (size_t k = 0; k < 32; ++k) EXPECT_EQ(static_cast<float>(steps[k] * 0.5), values[k]);
}

TEST(Int4Test, EveryValueIsWithinHalfAStepUnlessItIsTheOtherEnd) {
  Random random(1);
  for (const int64_t width : {1, 31, 32, 33, 100}) {
    std::vector<float> rows(static_cast<size_t>(3 * width));
    for (float& value : rows) value = random.Float();
    EncodedBuffer buffer;
    const auto encoded = Int4Format().Encode(rows, width, &buffer);
    ASSERT_TRUE(encoded.ok());
    EXPECT_EQ(std::ssize(encoded->payload), 3 * Int4Format().RowBytes(width));
    EXPECT_EQ(std::ssize(encoded->scales), 3 * Int4Format().RowScales(width));
    for (int64_t row = 0; row < 3; ++row) {
      const std::vector<float> values = Decoded(*encoded, row, width);
      for (int64_t k = 0; k < width; ++k) {
        const float scale = std::fabs(encoded->scales[static_cast<size_t>(row * Int4Groups(width) + k / kInt4Group)]);
        const float value = rows[static_cast<size_t>(row * width + k)];
        // q is at most 7, so values near minus the extreme lose up to a step. The scale is rounded by 2^-11.
        EXPECT_NEAR(values[static_cast<size_t>(k)], value, scale * (std::fabs(value) > 7.5f * scale ? 1.01f : 0.505f));
      }
    }
  }
}

TEST(Int4Test, ScalesAreHalvesAndZerosStayZero) {
  EncodedBuffer buffer;
  const std::vector<float> row = {0.3f, -0.1f, 0, 0};
  const auto encoded = Int4Format().Encode(row, 4, &buffer);
  ASSERT_TRUE(encoded.ok());
  EXPECT_EQ(encoded->scales[0], HalfToFloat(FloatToHalf(-0.3f / 8)));
  EXPECT_EQ(encoded->payload[1], 0x88);
  const std::vector<float> zeros(32);
  const auto empty = Int4Format().Encode(zeros, 32, &buffer);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(Decoded(*empty, 0, 32), zeros);
}

TEST(Int4Test, RefusesValuesThatNoScaleReaches) {
  EncodedBuffer buffer;
  const std::vector<float> row = {6e5f};
  EXPECT_EQ(Int4Format().Encode(row, 1, &buffer).status().code(), StatusCode::kUnsupported);
  const std::vector<float> infinite = {std::numeric_limits<float>::infinity()};
  EXPECT_EQ(Int4Format().Encode(infinite, 1, &buffer).status().code(), StatusCode::kUnsupported);
}

// As messages about a wrong dtype say them.
TEST(WeightFormats, HaveNamesThatASentenceLists) { EXPECT_EQ(PrecisionNames(), R"("f32", "f16", "q8" or "q4")"); }

}  // namespace
}  // namespace peruse::testing
