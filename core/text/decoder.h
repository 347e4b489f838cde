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
  virtual size_t growth() const { return 1; }
};

// Parses "decoder" in tokenizer.json; null gives nullptr, and tokens are then joined by spaces.
Result<std::unique_ptr<Decoder>> ParseDecoder(JsonValue json);

std::unique_ptr<Decoder> MakeWordPieceDecoder(std::string prefix, bool cleanup);
std::unique_ptr<Decoder> MakeByteLevelDecoder();
std::unique_ptr<Decoder> MakeMetaspaceDecoder(std::string replacement, bool drop_first);

// Removes spaces before punctuation and contractions, like transformers' clean_up_tokenization. `with_do_not` also turns " do not" into "
// don't".
void CleanUpTokenization(bool with_do_not, std::string* text);

}  // namespace peruse::text
