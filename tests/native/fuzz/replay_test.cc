// Runs the fuzzers' functions (tests/fuzz) on their corpora, in every build: natively, with sanitizers, and in WebAssembly, where sizes have
// 32 bits.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/memory.h"
#include "tests/native/fixtures_dir.h"

#if !defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)

// clang-format off
#define PERUSE_FUZZERS(X) \
  X(config) X(json) X(pytorch) X(safetensors) X(sentencepiece) X(tokenizer_json) X(tokenizer_text) X(vocab_files)
// clang-format on
#define PERUSE_DECLARE(name) extern "C" int name##_fuzz(const uint8_t* data, size_t size);
PERUSE_FUZZERS(PERUSE_DECLARE)

namespace peruse {
namespace {

struct Fuzzer {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
};

#define PERUSE_LIST(name) {#name, name##_fuzz},
constexpr Fuzzer kFuzzers[] = {PERUSE_FUZZERS(PERUSE_LIST)};

TEST(FuzzReplay, EveryInputOfTheCorpora) {
  const std::filesystem::path corpora = std::filesystem::path(FixturesDir()).parent_path() / "fuzz" / "corpus";
  size_t folders = 0;
  for (const auto& folder : std::filesystem::directory_iterator(corpora)) folders += folder.is_directory() ? 1 : 0;
  EXPECT_EQ(folders, std::size(kFuzzers)) << "a corpus without a fuzzer, or the reverse";
  for (const Fuzzer& fuzzer : kFuzzers) {
    size_t inputs = 0;
    for (const auto& file : std::filesystem::directory_iterator(corpora / fuzzer.name)) {
      std::ifstream stream(file.path(), std::ios::binary);
      const std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
      SCOPED_TRACE(file.path().string());
      ASSERT_TRUE(HoldReserve().ok());
      EXPECT_EQ(fuzzer.run(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), 0);
      ++inputs;
    }
    EXPECT_GT(inputs, 0u) << fuzzer.name;
  }
}

}  // namespace
}  // namespace peruse

#endif
