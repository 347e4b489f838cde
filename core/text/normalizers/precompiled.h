// Applies SentencePiece's compiled character map, as tokenizers does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/normalizers/normalizer.h"

namespace peruse::text {

Result<std::string> DecodeBase64(std::string_view text);

class PrecompiledNormalizer final : public Normalizer {
 public:
  static Result<std::unique_ptr<PrecompiledNormalizer>> Create(std::string_view charsmap);
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  PrecompiledNormalizer() = default;
  bool Transform(std::string_view chunk, std::string_view* replacement) const;

  std::vector<uint32_t> units_;   // a double array: trie over bytes
  std::string strings_;           // NUL-terminated replacements; values are byte indices into it
  bool ascii_changes_[128] = {};  // whether an ASCII character alone is replaced
};

}  // namespace peruse::text
