// Splits one word (a piece from the pre-tokenizer) into tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/text/models/vocabulary.h"

namespace peruse::text {

struct ModelToken {
  int32_t id;
  uint32_t begin, end;  // bytes within the word
};

class Model {
 public:
  virtual ~Model() = default;

  // Appends the tokens of `word`, which is not empty. Errors: kOutOfMemory, kMalformedFile if an unknown token is needed but missing.
  virtual Status Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const = 0;

  virtual const Vocabulary& vocabulary() const = 0;
  // Returns the id of the unknown token, if its string is then the matched text (Unigram); otherwise -1.
  virtual int32_t text_token_id() const { return -1; }
  virtual std::string_view continuing_subword_prefix() const { return {}; }
};

}  // namespace peruse::text
