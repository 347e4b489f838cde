// Normalizer: rewrites a piece of text before it is split, and tracks every byte's origin.
#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/aligned_text.h"

namespace peruse::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  // Rewrites the whole `text`; `scratch` is a buffer with arbitrary contents. Returns false when memory runs out, which leaves `text`
  // invalid.
  [[nodiscard]] virtual bool Normalize(AlignedText* text, AlignedText* scratch) const = 0;
};

// Parses the "normalizer" member of tokenizer.json; null gives nullptr.
Result<std::unique_ptr<Normalizer>> ParseNormalizer(JsonValue json);

}  // namespace peruse::text
