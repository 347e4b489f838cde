// Folders that sentence-transformers saved, and its vectors.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/api/sentence_modules_reader.h"
#include "core/tasks/sentence_embedder.h"
#include "tests/native/fixtures_dir.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

constexpr double kTolerance = 1e-5;  // sentence-transformers sums in float32, Peruse in double

struct Case {
  const char* name;
  std::vector<PoolingMode> pooling;
};

class SentenceGoldenTest : public ::testing::TestWithParam<Case> {};

std::optional<std::string> ReadIfThere(const std::string& path) {
  std::ifstream file(FixturesDir() + ("/" + path), std::ios::binary);
  if (!file.is_open()) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST_P(SentenceGoldenTest, GivesTheVectorOfTheLibrary) {
  const std::string folder = "sentence/" + std::string(GetParam().name) + "/";
  std::map<std::string, std::string> files;
  const auto read = [&](const std::string& path) -> std::optional<std::string_view> {
    if (!files.contains(path)) {
      const std::optional<std::string> text = ReadIfThere(folder + path);
      if (!text) return std::nullopt;
      files[path] = *text;
    }
    return files[path];
  };
  auto modules = ReadSentenceModules(read);
  ASSERT_TRUE(modules.ok()) << modules.status().message();
  const auto embedder = SentenceEmbedder::Create((*modules).value_or(SentenceModules()), read, 8);
  ASSERT_TRUE(embedder.ok()) << embedder.status().message();
  EXPECT_EQ((*embedder)->modules().pooling, GetParam().pooling);

  const TensorFile expected = TensorFile::Read(folder + "expected.safetensors");
  for (const char* length : {"1", "3", "7"}) {
    for (const size_t skip : {0, 2}) {
      const std::string name = length + std::string(skip == 0 ? ".sentence" : ".without_prompt");
      if (!expected.Has(name)) continue;
      const std::vector<float> vector = (*embedder)->Embed(expected.Floats(std::string(length) + ".tokens"), skip);
      const std::vector<float> wanted = expected.Floats(name);
      ASSERT_EQ(vector.size(), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(vector[i], wanted[i], kTolerance) << name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SentenceGoldenTest,
    ::testing::Values(Case{"mean", {PoolingMode::kMean}}, Case{"cls", {PoolingMode::kCls}},
                      Case{"max", {PoolingMode::kMax}}, Case{"sqrt", {PoolingMode::kMeanSqrtLength}},
                      Case{"weighted", {PoolingMode::kWeightedMean}}, Case{"last", {PoolingMode::kLastToken}},
                      Case{"several", {PoolingMode::kMax, PoolingMode::kCls, PoolingMode::kMean}},
                      Case{"dense-tanh", {PoolingMode::kMean}}, Case{"dense-identity", {PoolingMode::kCls}},
                      Case{"residual", {PoolingMode::kMean}}, Case{"residual-narrow", {PoolingMode::kCls}},
                      Case{"unnamed", {PoolingMode::kMean}}),
    [](const ::testing::TestParamInfo<Case>& info) {
      std::string name = info.param.name;
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace peruse::testing
