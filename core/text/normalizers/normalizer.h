// Rewrites a piece of text before it is split, and tracks the origin of every byte.
#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/normalizers/aligned_text.h"

namespace peruse::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  // Rewrites the whole `text`. `scratch` is a buffer. Returns false if memory runs out; `text` is then invalid.
  [[nodiscard]] virtual bool Normalize(AlignedText* text, AlignedText* scratch) const = 0;
};

Result<std::unique_ptr<Normalizer>> ParseNormalizer(JsonValue json);

}  // namespace peruse::text
