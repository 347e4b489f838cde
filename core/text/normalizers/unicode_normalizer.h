#pragma once

#include <cstdint>

#include "core/text/normalizers/normalizer.h"

namespace peruse::text {

enum class UnicodeForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };

class UnicodeNormalizer final : public Normalizer {
 public:
  explicit UnicodeNormalizer(UnicodeForm form) : form_(form) {}
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  UnicodeForm form_;
};

// Maps each character without context: capital sigma always becomes σ.
class LowercaseNormalizer final : public Normalizer {
 public:
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;
};

}  // namespace peruse::text
