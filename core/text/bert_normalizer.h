// BertNormalizer: text cleaning, spaces around Han characters, accent stripping and lower-casing, in this order.
#pragma once

#include <optional>

#include "core/text/normalizer.h"

namespace peruse::text {

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents;  // unset means the value of lowercase
  bool lowercase = true;
};

// Parses a BertNormalizer of tokenizer.json.
BertNormalizerOptions ParseBertOptions(JsonValue json);

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(BertNormalizerOptions options);
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  bool StripsAccents() const { return options_.strip_accents.value_or(options_.lowercase); }
  void NormalizeAscii(AlignedText* text) const;
  // Appends the normalised ASCII bytes [begin, end).
  void AppendAscii(const AlignedText& text, size_t begin, size_t end, AlignedText* out) const;
  // Appends the normalised non-ASCII bytes [begin, end); returns false when marks must be reordered.
  bool AppendRun(const AlignedText& text, size_t begin, size_t end, AlignedText* out) const;
  // The definition, step by step.
  [[nodiscard]] bool NormalizeStepwise(AlignedText* text, AlignedText* scratch) const;

  static constexpr unsigned char kRemoved = 0xFF;

  BertNormalizerOptions options_;
  unsigned char ascii_[0x80];  // result for each ASCII character, or kRemoved
};

}  // namespace peruse::text
