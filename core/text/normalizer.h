// Normalizer: rewrites a piece of text before it is split, keeping every byte's origin.
#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/aligned_text.h"

namespace peruse::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  // Rewrites `text` as a whole; `scratch` is a buffer to use, its contents mean nothing before and after. False when there
  // is no memory for it, and then `text` means nothing.
  [[nodiscard]] virtual bool Normalize(AlignedText* text, AlignedText* scratch) const = 0;
};

// Builds the normalizer that the "normalizer" member of tokenizer.json describes; null for null.
Result<std::unique_ptr<Normalizer>> ParseNormalizer(JsonValue json);

}  // namespace peruse::text
