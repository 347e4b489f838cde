#pragma once

#include <cstddef>
#include <vector>

#include "core/base/status.h"
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

}  // namespace peruse::text
