// PrecompiledNormalizer: SentencePiece's compiled character map (spec section 5.2), as the reference applies it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/normalizer.h"

namespace peruse::text {

Result<std::string> DecodeBase64(std::string_view text);

class PrecompiledNormalizer final : public Normalizer {
 public:
  // Error: kMalformedFile.
  static Result<std::unique_ptr<PrecompiledNormalizer>> Create(std::string_view charsmap);
  [[nodiscard]] bool Normalize(AlignedText* text, AlignedText* scratch) const override;

 private:
  PrecompiledNormalizer() = default;
  // What `chunk` becomes: the replacement for its shortest prefix that has one. False: it stays.
  bool Transform(std::string_view chunk, std::string_view* replacement) const;

  std::vector<uint32_t> units_;   // a double array over bytes
  std::string strings_;           // the replacements, each ended by NUL; values are byte indices into it
  bool ascii_changes_[128] = {};  // whether the character alone is replaced
};

}  // namespace peruse::text
