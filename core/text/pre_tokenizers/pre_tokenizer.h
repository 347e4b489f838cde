// Splits normalised text into the words that the model tokenizes separately.
#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/pre_tokenizers/pieces.h"

namespace peruse::text {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Splits, and may rewrite, every piece that is not an added token. `scratch` is a buffer. The caller has reserved memory for the pieces.
  // Returns false if memory for rewritten text runs out; `list` is then invalid.
  [[nodiscard]] virtual bool PreTokenize(PieceList* list, PieceList* scratch) const = 0;
};

// Parses "pre_tokenizer" in tokenizer.json; null gives nullptr. `add_prefix_space` overrides that of a ByteLevel outside a Sequence.
Result<std::unique_ptr<PreTokenizer>> ParsePreTokenizer(JsonValue json, std::optional<bool> add_prefix_space);

}  // namespace peruse::text
