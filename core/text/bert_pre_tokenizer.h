// BertPreTokenizer: drops white space, isolates punctuation.
#pragma once

#include "core/text/pre_tokenizer.h"

namespace peruse::text {

class BertPreTokenizer final : public PreTokenizer {
 public:
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;
};

}  // namespace peruse::text
