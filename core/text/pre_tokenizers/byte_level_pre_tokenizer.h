// Splits words as GPT-2 does, then replaces bytes by the characters that represent them (byte_level.h).
#pragma once

#include "core/text/pre_tokenizers/pre_tokenizer.h"

namespace peruse::text {

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
