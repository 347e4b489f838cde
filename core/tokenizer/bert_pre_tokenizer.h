// BertPreTokenizer: drops white space, isolates punctuation.
#pragma once

#include "core/tokenizer/pre_tokenizer.h"

namespace peruse {

class BertPreTokenizer final : public PreTokenizer {
 public:
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;
};

}  // namespace peruse
