// BertNormalizer: text cleaning, spaces around Han characters, accent stripping and lower-casing, in this order.
#pragma once

#include <optional>

#include "core/tokenizer/normalizer.h"

namespace peruse {

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents;  // unset: as lowercase
  bool lowercase = true;
};

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(BertNormalizerOptions options) : options_(options) {}
  void Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  void NormalizeAscii(AlignedText* text) const;

  BertNormalizerOptions options_;
};

}  // namespace peruse
