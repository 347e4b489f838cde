#include "core/text/truncation.h"

#include <algorithm>

#include "core/base/memory.h"

namespace peruse::text {
namespace {

// Returns windows of `size` tokens over `length` tokens. Neighbours share `stride` tokens; the last window may be shorter.
Result<std::vector<TokenWindow>> MakeWindows(size_t length, size_t size, size_t stride, TruncationSide side) {
  std::vector<TokenWindow> windows;
  if (size >= length) {
    windows.push_back({0, length});
    return windows;
  }
  if (size == 0) {
    windows.push_back({0, 0});
    windows.push_back({0, length});
    return windows;
  }
  if (stride >= size) {
    return InvalidArgument("stride " + std::to_string(stride) + " must be less than the " + std::to_string(size) +
                           " tokens that max_length leaves for the text in each window");
  }
  const size_t step = size - stride;
  for (size_t start = 0;; start += step) {
    const size_t end = std::min(start + size, length);
    const TokenWindow window =
        side == TruncationSide::kRight ? TokenWindow{start, end} : TokenWindow{length - end, length - start};
    if (!TryPushBack(&windows, window)) return OutOfMemory("no memory for the windows of a text");
    if (end == length) return windows;
  }
}

struct Lengths {
  size_t text, pair;
};

Lengths LongestFirst(size_t text, size_t pair, size_t limit) {
  size_t shorter = std::min(text, pair);
  size_t longer = shorter > limit ? shorter : std::max(shorter, limit - shorter);
  if (shorter + longer > limit) {
    shorter = limit / 2;
    longer = shorter + limit % 2;
  }
  return text > pair ? Lengths{longer, shorter} : Lengths{shorter, longer};
}

}  // namespace

Result<SequenceWindows> Truncate(size_t text_length, bool has_pair, size_t pair_length, size_t limit,
                                 Truncation strategy, size_t stride, TruncationSide side) {
  Lengths keep = {text_length, pair_length};
  const size_t total = text_length + pair_length;
  if (strategy != Truncation::kNone && (total > limit || limit == 0)) {
    const size_t excess = total - limit;
    if (limit == 0) {
      keep = {0, 0};
    } else if (strategy == Truncation::kLongestFirst) {
      keep = has_pair ? LongestFirst(text_length, pair_length, limit) : Lengths{limit, 0};
    } else {
      if (strategy == Truncation::kOnlySecond && !has_pair) {
        return InvalidArgument("truncation only_second needs a pair of texts");
      }
      size_t& target = strategy == Truncation::kOnlyFirst ? keep.text : keep.pair;
      if (target <= excess) {
        return InvalidArgument("the sequence to truncate has " + std::to_string(target) + " tokens, but " +
                               std::to_string(excess) + " must go; use a larger max_length or longest_first");
      }
      target -= excess;
    }
  }
  SequenceWindows windows;
  PERUSE_ASSIGN_OR_RETURN(windows.text, MakeWindows(text_length, keep.text, stride, side));
  if (has_pair) {
    PERUSE_ASSIGN_OR_RETURN(windows.pair, MakeWindows(pair_length, keep.pair, stride, side));
  }
  return windows;
}

}  // namespace peruse::text
