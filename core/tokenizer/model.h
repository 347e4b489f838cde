// Model: turns one word (a piece left by the pre-tokenizer) into tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/tokenizer/vocabulary.h"

namespace peruse {

struct ModelToken {
  int32_t id;
  uint32_t begin, end;  // bytes within the word
};

class Model {
 public:
  virtual ~Model() = default;

  // Appends the tokens of `word`, which is not empty. Fails only when the word needs the unknown token and there is
  // none.
  virtual Status Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const = 0;

  virtual const Vocabulary& vocabulary() const = 0;
  // -1: none.
  virtual int32_t unk_id() const = 0;
  virtual std::string_view continuing_subword_prefix() const { return {}; }
};

}  // namespace peruse
