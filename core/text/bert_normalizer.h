// BertNormalizer: text cleaning, spaces around Han characters, accent stripping and lower-casing, in this order.
#pragma once

#include <optional>

#include "core/text/normalizer.h"

namespace peruse::text {

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents;  // unset: as lowercase
  bool lowercase = true;
};

// Of a BertNormalizer in tokenizer.json.
BertNormalizerOptions ParseBertOptions(JsonValue json);

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(BertNormalizerOptions options);
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  bool StripsAccents() const { return options_.strip_accents.value_or(options_.lowercase); }
  void NormalizeAscii(AlignedText* text) const;
  // Appends the normalised bytes [begin, end), which are ASCII.
  void AppendAscii(const AlignedText& text, size_t begin, size_t end, AlignedText* out) const;
  // Appends the normalised bytes [begin, end), which are not ASCII; false, when marks have to change places.
  bool AppendRun(const AlignedText& text, size_t begin, size_t end, AlignedText* out) const;
  // The definition, one step after the other.
  [[nodiscard]] bool NormalizeStepwise(AlignedText* text, AlignedText* scratch) const;

  static constexpr unsigned char kRemoved = 0xFF;

  BertNormalizerOptions options_;
  unsigned char ascii_[0x80];  // what an ASCII character becomes, or kRemoved
};

}  // namespace peruse::text
