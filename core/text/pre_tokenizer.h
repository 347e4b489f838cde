// PreTokenizer: splits normalised text into the words that the model sees one by one.
#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/pieces.h"

namespace peruse::text {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Splits, and perhaps rewrites, every piece that is no added token; `scratch` is a buffer to use. False when there is no
  // memory for a rewritten text, and then `list` means nothing. For the pieces the caller has made sure of memory.
  [[nodiscard]] virtual bool PreTokenize(PieceList* list, PieceList* scratch) const = 0;
};

// Builds what the "pre_tokenizer" member of tokenizer.json describes; null for null. `add_prefix_space` overrides that
// of a ByteLevel that stands alone.
Result<std::unique_ptr<PreTokenizer>> ParsePreTokenizer(JsonValue json, std::optional<bool> add_prefix_space);

}  // namespace peruse::text
