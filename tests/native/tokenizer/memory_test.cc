// Tokenizers without memory: one typed error, and everything works again once there is some. In WebAssembly only, where
// the memory of a module ends; natively the system promises more than it has.
#if defined(__EMSCRIPTEN__)

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/tokenizer/tokenizer.h"
#include "tests/native/tokenizer/fixture_files.h"

namespace peruse {
namespace {

// Takes all memory but what is in blocks smaller than `left` bytes.
class Hog {
 public:
  explicit Hog(size_t left) {
    blocks_.reserve(4096);
    for (size_t size = size_t{1} << 30; size >= left && size > 0; size /= 2) {
      while (void* block = std::malloc(size)) blocks_.push_back(block);
    }
  }
  ~Hog() {
    for (void* block : blocks_) std::free(block);
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;

 private:
  std::vector<void*> blocks_;
};

// Plain, growing under normalisation, all one word, and all tokens.
std::vector<std::string> LargeTexts() {
  std::vector<std::string> texts;
  for (const char* part : {"some words ", "\xEF\xB7\xBA", "x", ". ", "\xED\x95\x9C", "[MASK] "}) {
    std::string text;
    while (text.size() < (size_t{1} << 18)) text += part;
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(TokenizerMemory, TextsWithoutMemoryAreRefused) {
  const std::vector<std::string> texts = LargeTexts();
  for (const FixtureName& fixture : kFixtures) {
    const auto tokenizer = LoadFixture(fixture);
    ASSERT_TRUE(tokenizer.ok());
    const auto before = (*tokenizer)->Encode("some words");
    // From next to nothing to nearly enough, so that each stage is the one that fails.
    for (size_t left = size_t{64} << 10; left <= (size_t{64} << 20); left *= 8) {
      for (const std::string& text : texts) {
        const Hog hog(left);
        const auto windows = (*tokenizer)->Encode(text);
        if (!windows.ok()) {
          ASSERT_EQ(windows.status().code(), StatusCode::kOutOfMemory) << windows.status().message();
        }
        if (left == size_t{64} << 10) {
          ASSERT_FALSE(windows.ok());
        }
      }
    }
    const auto after = (*tokenizer)->Encode("some words");
    ASSERT_TRUE(after.ok());
    EXPECT_EQ((*after)[0].ids, (*before)[0].ids);
  }
}

TEST(TokenizerMemory, FilesWithoutMemoryAreRefused) {
  for (const FixtureName& fixture : kFixtures) {
    const FixtureFiles files(fixture);
    bool refused = false;
    for (size_t left = size_t{32} << 10; left <= (size_t{64} << 20); left *= 2) {
      const Hog hog(left);
      const auto tokenizer = Tokenizer::Create(files.files());
      if (tokenizer.ok()) continue;
      refused = true;
      ASSERT_EQ(tokenizer.status().code(), StatusCode::kOutOfMemory) << tokenizer.status().message();
    }
    EXPECT_TRUE(refused);
    EXPECT_TRUE(Tokenizer::Create(files.files()).ok());
  }
}

}  // namespace
}  // namespace peruse

#endif
