#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/text/tokenizer.h"
#include "tests/native/fixtures_dir.h"

namespace peruse::text {

struct FixtureName {
  const char* name;
  const char* files[2];  // file names, or null
};

inline constexpr FixtureName kFixtures[] = {{"bert", {"vocab.txt", "tokenizer_config.json"}},
                                            {"added", {"tokenizer.json", nullptr}},
                                            {"bpe", {"vocab.json", "merges.txt"}},
                                            {"unigram", {"spm.model", nullptr}},
                                            {"gemma", {"tokenizer.json", nullptr}},
                                            {"japanese", {"tokenizer.json", nullptr}},
                                            {"qwen", {"tokenizer.json", nullptr}},
                                            {"llama3", {"tokenizer.json", nullptr}},
                                            {"o200k", {"tokenizer.json", nullptr}}};
inline constexpr const FixtureName& kBertFixture = kFixtures[0];
inline constexpr const FixtureName& kBpeFixture = kFixtures[2];
inline constexpr const FixtureName& kUnigramFixture = kFixtures[3];

inline std::string ReadFixtureFile(const std::string& name) {
  std::string content;
  FILE* file = std::fopen((FixturesDir() + "/tokenizer/" + name).c_str(), "rb");
  if (file == nullptr) return content;
  char buffer[1 << 14];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) content.append(buffer, n);
  std::fclose(file);
  return content;
}

class FixtureFiles {
 public:
  explicit FixtureFiles(const FixtureName& fixture) {
    for (int i = 0; i < 2; ++i) {
      if (fixture.files[i] == nullptr) continue;
      contents_[i] = ReadFixtureFile(std::string(fixture.name) + "." + fixture.files[i]);
      files_[fixture.files[i]] = contents_[i];
    }
  }
  const TokenizerFiles& files() const { return files_; }

 private:
  std::string contents_[2];
  TokenizerFiles files_;
};

inline Result<std::unique_ptr<Tokenizer>> LoadFixture(const FixtureName& fixture) {
  return Tokenizer::Create(FixtureFiles(fixture).files());
}

}  // namespace peruse::text
