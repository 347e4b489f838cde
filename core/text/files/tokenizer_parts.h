#pragma once

#include <memory>
#include <optional>

#include "core/text/added_tokens.h"
#include "core/text/decoder.h"
#include "core/text/models/model.h"
#include "core/text/normalizers/normalizer.h"
#include "core/text/post_processor.h"
#include "core/text/pre_tokenizers/pre_tokenizer.h"
#include "core/text/tokenizer.h"
#include "core/text/windows.h"

namespace peruse::text {

struct Tokenizer::Parts {
  std::unique_ptr<Normalizer> normalizer;       // optional
  std::unique_ptr<PreTokenizer> pre_tokenizer;  // optional
  std::unique_ptr<Model> model;
  AddedTokens added_tokens;
  PostProcessor post_processor;
  std::unique_ptr<Decoder> decoder;  // if null, tokens are joined by spaces

  int32_t cls_id = -1, sep_id = -1, mask_id = -1, pad_id = -1, unk_id = -1, eos_id = -1;
  std::optional<int64_t> model_max_length;
  TruncationSide truncation_side = TruncationSide::kRight;
  bool pads_left = false;
  bool clean_up_spaces = false;  // transformers' clean_up_tokenization_spaces: applied after decoding
};

}  // namespace peruse::text
