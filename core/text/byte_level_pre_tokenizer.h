// ByteLevel: GPT-2's word splitting, then the byte-to-character table.
#pragma once

#include "core/text/pre_tokenizer.h"

namespace peruse::text {

class ByteLevelPreTokenizer final : public PreTokenizer {
 public:
  // `split` means splitting by GPT-2's pattern (use_regex).
  ByteLevelPreTokenizer(bool add_prefix_space, bool split) : add_prefix_space_(add_prefix_space), split_(split) {}
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;

 private:
  bool add_prefix_space_;
  bool split_;
};

}  // namespace peruse::text
