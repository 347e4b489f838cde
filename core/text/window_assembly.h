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

struct SequenceEncoding {
  std::vector<SequenceToken> tokens;
  int8_t sequence_id = 0;
  bool is_blank = true;
  // For each token, its trimmed range if it is the first of its window; empty if offsets are not trimmed.
  std::vector<Offset> first_offsets;
};

// Returns the main encoding, then every other combination of windows, in tokenizers' order. `sequences` are the text and the pair. Type ids
// follow the template in every window; tokenizers 0.22 only does that in the main encoding, which differs if the pair has type 0 (T5).
// Errors: kTextTooLong above 2^25 tokens in total, kOutOfMemory.
Result<std::vector<Encoding>> AssembleWindows(const SequenceEncoding sequences[2], const SequenceWindows& windows,
                                              const PostProcessor& processor, bool add_special_tokens);

}  // namespace peruse::text
