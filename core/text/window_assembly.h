// Window assembly: puts together what truncation left of both sequences and the special tokens.
#pragma once

#include <vector>

#include "core/base/status.h"
#include "core/text/encoding.h"
#include "core/text/post_processor.h"
#include "core/text/truncation.h"

namespace peruse::text {

struct SequenceToken {
  int32_t id;
  int32_t word_id;
  Offset offset;
};

// The tokens of one whole sequence, before truncation.
struct SequenceEncoding {
  std::vector<SequenceToken> tokens;
  int8_t sequence_id = 0;
  bool is_blank = true;  // empty, or only white space
  // With offset trimming: the ranges that apply when the token is the first of its window. Otherwise empty.
  std::vector<Offset> first_offsets;
};

// The main encoding, then every other combination of windows, in the reference's order. `sequences` are the text and
// the pair. Type ids are those of the template in every window; the reference (0.22) applies them to the main encoding
// only, which shows with templates that give the pair type 0 (T5). Errors: kTextTooLong when the windows would hold more
// than 2^25 tokens, kOutOfMemory.
Result<std::vector<Encoding>> AssembleWindows(const SequenceEncoding sequences[2], const SequenceWindows& windows,
                                              const PostProcessor& processor, bool add_special_tokens);

}  // namespace peruse::text
