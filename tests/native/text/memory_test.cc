// Without memory, tokenizers return one typed error, and work again later. Only in WebAssembly: elsewhere the system promises more memory
// than it has.
#if defined(__EMSCRIPTEN__)

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/text/tokenizer.h"
#include "tests/native/memory/memory_end.h"
#include "tests/native/text/fixture_files.h"

namespace peruse::text {
namespace {

// Allocates all memory, except blocks smaller than `left` bytes.
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
    for (size_t left = size_t{32} << 10; left <= (size_t{64} << 20); left *= 4) {
      for (const std::string& text : texts) {
        const Hog hog(left);
        const auto windows = (*tokenizer)->Encode(text);
        if (!windows.ok()) {
          ASSERT_EQ(windows.status().code(), StatusCode::kOutOfMemory) << windows.status().message();
        }
        if (left == size_t{32} << 10) {
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
    for (size_t left = 64; left <= (size_t{64} << 20); left += left / 4) {
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

#if !defined(__EMSCRIPTEN_PTHREADS__)

// Texts that make different stages allocate.
std::vector<std::string> SmallTexts() {
  std::vector<std::string> texts = LargeTexts();
  for (std::string& text : texts) text.resize(600);
  texts.push_back("plain");
  return texts;
}

TEST(TokenizerMemory, EveryAllocationOfATextMayFail) {
  for (const FixtureName& fixture : kFixtures) {
    const auto tokenizer = LoadFixture(fixture);
    ASSERT_TRUE(tokenizer.ok());
    for (const std::string& text : SmallTexts()) {
      const auto expected = (*tokenizer)->EncodePair(text, "some words");
      ASSERT_TRUE(expected.ok());
      const size_t failed = peruse::testing::LetEveryAllocationFail([&](bool is_last) {
        const auto windows = (*tokenizer)->EncodePair(text, "some words");
        if (!windows.ok()) {
          ASSERT_EQ(windows.status().code(), StatusCode::kOutOfMemory) << windows.status().message();
          ASSERT_FALSE(is_last);
        } else {
          ASSERT_EQ((*windows)[0].ids, (*expected)[0].ids);  // from the reserve, or because memory was sufficient
          ASSERT_EQ((*windows)[0].offsets, (*expected)[0].offsets);
        }
      });
      EXPECT_GT(failed, 10u);
    }
  }
}

TEST(TokenizerMemory, EveryAllocationOfAFileMayFail) {
  for (const FixtureName& fixture : kFixtures) {
    const FixtureFiles files(fixture);
    const size_t failed = peruse::testing::LetEveryAllocationFail([&](bool is_last) {
      const auto tokenizer = Tokenizer::Create(files.files());
      ASSERT_TRUE(tokenizer.ok() || tokenizer.status().code() == StatusCode::kOutOfMemory)
          << tokenizer.status().message();
      ASSERT_TRUE(tokenizer.ok() || !is_last);
      if (tokenizer.ok()) {
        ASSERT_GT((*tokenizer)->vocab_size(), 10);
      }
    });
    EXPECT_GT(failed, 10u);
  }
}

#endif

}  // namespace
}  // namespace peruse::text

#endif
