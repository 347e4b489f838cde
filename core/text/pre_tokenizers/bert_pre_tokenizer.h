// Splits at white space, which it drops, and at punctuation, which becomes separate words.
#pragma once

#include "core/text/pre_tokenizers/pre_tokenizer.h"

namespace peruse::text {

class BertPreTokenizer final : public PreTokenizer {
 public:
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;
};

}  // namespace peruse::text
