// Adds special tokens and type ids around one text or a pair.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/encoding.h"

namespace peruse::text {

struct TemplatePart {
  int8_t sequence_id;  // 0 for the text, 1 for the pair, -1 for special tokens
  int32_t type_id;
  std::vector<int32_t> ids;  // special tokens
};

// How ByteLevel and RobertaProcessing trim white space from token ranges.
struct OffsetTrimming {
  bool enabled = false;
  bool add_prefix_space = true;  // the first token may start with a space that the tokenizer added; it is not trimmed
};

struct PostProcessor {
  std::vector<TemplatePart> single = {{0, 0, {}}};
  std::vector<TemplatePart> pair = {{0, 0, {}}, {1, 1, {}}};
  OffsetTrimming trimming;

  int32_t SpecialTokenCount(bool is_pair) const;
};

Result<PostProcessor> ParsePostProcessor(JsonValue json);

// Builds "<s> A </s>" and "<s> A </s> </s> B </s>", all of type 0.
PostProcessor RobertaPostProcessor(int32_t cls_id, int32_t sep_id);

// Builds "[CLS] A [SEP]" and "[CLS] A [SEP] B [SEP]"; B and its [SEP] have type 1.
PostProcessor BertPostProcessor(int32_t cls_id, int32_t sep_id);

// "<s> A </s>" and "<s> A </s> <s> B </s>", B and its tokens of type 1. An id of -1 means that the token is left out.
PostProcessor EndsPostProcessor(int32_t bos_id, int32_t eos_id);

}  // namespace peruse::text
