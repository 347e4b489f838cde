#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/pre_tokenizers/pre_tokenizer.h"

namespace peruse::text {

// Returns the printable character that represents a byte in byte-level BPE (GPT-2): itself if printable, otherwise one from U+0100 on.
char32_t StandIn(unsigned char byte);

// Appends the bytes that the characters of `token` represent. Appends nothing and returns false if a character does not represent a byte.
bool AppendStandInBytes(std::string_view token, std::string* bytes);

// Splits words as GPT-2 does, then replaces bytes by the characters that represent them.
class ByteLevelPreTokenizer final : public PreTokenizer {
 public:
  // `split`: use GPT-2's pattern to split (use_regex).
  ByteLevelPreTokenizer(bool add_prefix_space, bool split) : add_prefix_space_(add_prefix_space), split_(split) {}
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;

 private:
  bool add_prefix_space_;
  bool split_;
};

}  // namespace peruse::text
