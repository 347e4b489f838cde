// TokenizerLoader: builds a Tokenizer from tokenizer.json, or from the vocabulary files that came before it.
#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/text/tokenizer.h"

namespace peruse::text {

class TokenizerLoader {
 public:
  static Result<std::unique_ptr<Tokenizer>> Load(const TokenizerFiles& files);
};

}  // namespace peruse::text
