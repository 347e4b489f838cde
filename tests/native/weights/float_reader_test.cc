#include "core/weights/float_reader.h"

#include <gtest/gtest.h>

#include "core/formats/embedding_table.h"
#include "tests/native/weights/safetensors_writer.h"

namespace peruse::testing {
namespace {

std::span<const uint8_t> AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(FloatReaderTest, RowsArriveWholeWhateverTheChunks) {
  for (const auto& [rows, row_size] : {std::pair{3, 20000}, std::pair{7000, 5}, std::pair{1, 1}}) {
    for (const char* dtype : {"F64", "F32", "F16", "BF16"}) {
      std::vector<float> values(static_cast<size_t>(rows * row_size));
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i % 251) - 125);
      const std::string bytes = FloatBytes(values, dtype);
      for (const size_t chunk : {size_t{1}, size_t{7}, size_t{4096}, bytes.size()}) {
        if (chunk == 1 && bytes.size() > 100000) continue;
        std::vector<float> read;
        FloatReader reader(*ParseDType(dtype), rows, row_size, [&](int32_t first_row, std::span<const float> part) {
          EXPECT_EQ(static_cast<size_t>(first_row) * static_cast<size_t>(row_size), read.size());
          EXPECT_EQ(part.size() % static_cast<size_t>(row_size), 0u);
          read.insert(read.end(), part.begin(), part.end());
          return OkStatus();
        });
        for (size_t at = 0; at < bytes.size(); at += chunk) {
          ASSERT_TRUE(reader.Feed(AsBytes(bytes).subspan(at, std::min(chunk, bytes.size() - at))).ok());
        }
        EXPECT_EQ(read, values) << dtype << " " << rows << " x " << row_size << " by " << chunk;
      }
    }
  }
}

TEST(FloatReaderTest, AlignedFloatsArriveWithoutACopyInTheSamePieces) {
  const int64_t rows = 100, row_size = 1000;
  std::vector<float> values(static_cast<size_t>(rows * row_size));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto bytes = std::span(reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float));
  std::vector<size_t> pieces;
  FloatReader reader(DType::kF32, rows, row_size, [&](int32_t first_row, std::span<const float> part) {
    EXPECT_EQ(part.data(), values.data() + static_cast<size_t>(first_row * row_size));
    pieces.push_back(part.size() / static_cast<size_t>(row_size));
    return OkStatus();
  });
  ASSERT_TRUE(reader.Feed(bytes).ok());
  EXPECT_EQ(pieces, (std::vector<size_t>{32, 32, 32, 4}));
}

TEST(FloatReaderTest, AWritersErrorComesBack) {
  FloatReader reader(DType::kF32, 1, 1, [](int32_t, std::span<const float>) { return OutOfMemory("full"); });
  EXPECT_EQ(reader.Feed(AsBytes(FloatBytes(std::vector<float>{1}))).message(), "full");
}

TEST(EmbeddingTableTest, EveryStorageReadsBackWhatItCanHold) {
  const std::vector<float> values = {1, -2, 0.5f, 127, 0, 0, 0, 0};  // [2, 4], exact in every type
  for (const DType storage : {DType::kF32, DType::kF16, DType::kBF16, DType::kI8, DType::kU8}) {
    EmbeddingTable table;
    ASSERT_TRUE(table.Allocate(2, 4, storage).ok());
    ASSERT_TRUE(table.WriteRows(0, values).ok());
    for (int32_t row = 0; row < 2; ++row) {
      std::vector<float> sum(4, 10.0f);
      table.AddRow(row, sum);
      for (size_t c = 0; c < 4; ++c) {
        // Integers are exact to half a step, and to one at the end of 4 bits that has one step less.
        const float step = storage == DType::kI8 ? 0.5f : storage == DType::kU8 ? 16.0f : 0.0f;
        const float tolerance = row == 0 ? step : 0.0f;
        EXPECT_NEAR(sum[c] - 10.0f, values[static_cast<size_t>(row) * 4 + c], tolerance);
      }
    }
  }
}

TEST(EmbeddingTableTest, BytesOfTheFileAreKeptAsTheyAre) {
  EmbeddingTable table;
  ASSERT_TRUE(table.Allocate(2, 2, DType::kF16).ok());
  const std::string bytes = FloatBytes(std::vector<float>{1, 2, 3, 4}, "F16");
  table.AppendBytes(AsBytes(bytes).first(3));
  table.AppendBytes(AsBytes(bytes).subspan(3));
  std::vector<float> row(2);
  table.AddRow(1, row);
  EXPECT_EQ(row, (std::vector<float>{3, 4}));
  EXPECT_EQ(table.bytes(), 8);
}

TEST(EmbeddingTableTest, TooLargeIsAnErrorNotACrash) {
  EmbeddingTable table;
  EXPECT_EQ(table.Allocate(1 << 24, 1 << 14, DType::kF32).code(), StatusCode::kOutOfMemory);
}

}  // namespace
}  // namespace peruse::testing
