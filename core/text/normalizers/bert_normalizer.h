// Cleans text, puts spaces around Han characters, strips accents and lower-cases, in this order.
#pragma once

#include <optional>

#include "core/text/normalizers/normalizer.h"

namespace peruse::text {

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents;  // nullopt means the value of lowercase
  bool lowercase = true;
};

BertNormalizerOptions ParseBertOptions(JsonValue json);

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(BertNormalizerOptions options);
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  bool StripsAccents() const { return options_.strip_accents.value_or(options_.lowercase); }
  void NormalizeAscii(AlignedText* text) const;
  void AppendAscii(const AlignedText& text, size_t begin, size_t end, AlignedText* out) const;
  // Appends the normalised non-ASCII bytes [begin, end). Returns false if combining marks must be reordered.
  bool AppendRun(const AlignedText& text, size_t begin, size_t end, AlignedText* out) const;
  [[nodiscard]] bool NormalizeStepwise(AlignedText* text, AlignedText* scratch) const;

  static constexpr unsigned char kRemoved = 0xFF;

  BertNormalizerOptions options_;
  unsigned char ascii_[0x80];  // result for each ASCII character, or kRemoved
};

}  // namespace peruse::text
