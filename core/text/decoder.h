// Decoder: converts token strings to text.
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
  // The largest factor by which a token can grow.
  virtual size_t growth() const { return 1; }
};

// Parses the "decoder" member of tokenizer.json; null gives nullptr, which means joining tokens by spaces.
Result<std::unique_ptr<Decoder>> ParseDecoder(JsonValue json);

std::unique_ptr<Decoder> MakeWordPieceDecoder(std::string prefix, bool cleanup);
std::unique_ptr<Decoder> MakeByteLevelDecoder();
std::unique_ptr<Decoder> MakeMetaspaceDecoder(std::string replacement, bool drop_first);

// Removes the spaces that joining tokens puts around punctuation and contractions. `with_do_not` also turns " do not" into " don't".
void CleanUpTokenization(bool with_do_not, std::string* text);

}  // namespace peruse::text
