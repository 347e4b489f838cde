// Builds a Tokenizer from tokenizer.json, or from older vocabulary files.
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
