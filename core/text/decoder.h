// Decoder: token strings back to text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"

namespace peruse::text {

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Rewrites the tokens so that their concatenation is the text.
  virtual void Decode(std::vector<std::string>* tokens) const = 0;
  // How many times as long it can make a token.
  virtual size_t growth() const { return 1; }
};

// The "decoder" member of tokenizer.json; null for null: tokens are then joined by single spaces.
Result<std::unique_ptr<Decoder>> ParseDecoder(JsonValue json);

std::unique_ptr<Decoder> MakeWordPieceDecoder(std::string prefix, bool cleanup);
std::unique_ptr<Decoder> MakeByteLevelDecoder();
std::unique_ptr<Decoder> MakeMetaspaceDecoder(std::string replacement, bool drop_first);

// Undoes the spaces that joining tokens put around punctuation and contractions. `with_do_not`: also
// " do not" -> " don't".
void CleanUpTokenization(bool with_do_not, std::string* text);

}  // namespace peruse::text
