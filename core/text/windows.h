#pragma once

#include <cstddef>
#include <vector>

#include "core/base/status.h"
#include "core/text/encoding.h"
#include "core/text/post_processor.h"
#include "core/text/tokenizer.h"

namespace peruse::text {

enum class TruncationSide : uint8_t { kLeft, kRight };  // the end that is cut off

struct TokenWindow {
  size_t begin, end;
};

// The tokens of both sequences, assigned to windows. The first window of each is part of the main encoding; the others are overflow.
struct SequenceWindows {
  std::vector<TokenWindow> text;
  std::vector<TokenWindow> pair;  // empty without a pair
};

// `limit` is max_length minus special tokens. Errors: kInvalidArgument if lengths, stride and limit are inconsistent.
Result<SequenceWindows> Truncate(size_t text_length, bool has_pair, size_t pair_length, size_t limit,
                                 Truncation strategy, size_t stride, TruncationSide side);

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
