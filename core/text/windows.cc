#include "core/text/windows.h"

#include <algorithm>
#include <string>

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

namespace {

constexpr size_t kMaxTokens = size_t{1} << 25;

Status NoMemory() { return OutOfMemory("no memory for the windows of a text"); }

struct Combination {
  size_t text, pair;
};

// tokenizers merges parts from left to right: first each overflow of the left part with every window of the right part, then the main
// window of the left part with the overflow of the right part.
Result<std::vector<Combination>> Combine(size_t left_count, size_t right_count, bool text_is_left) {
  std::vector<Combination> result;
  if (!TryReserve(&result, left_count * right_count)) return NoMemory();
  const auto add = [&](size_t left, size_t right) {
    result.push_back(text_is_left ? Combination{left, right} : Combination{right, left});
  };
  add(0, 0);
  for (size_t left = 1; left < left_count; ++left) {
    for (size_t right = 0; right < right_count; ++right) add(left, right);
  }
  for (size_t right = 1; right < right_count; ++right) add(0, right);
  return result;
}

size_t WindowSize(const TokenWindow& window) { return window.end - window.begin; }

void AppendWindow(const SequenceEncoding& sequence, const TokenWindow& window, int32_t type_id, Encoding* out) {
  const size_t before = out->size(), after = before + WindowSize(window);
  out->Resize(after);
  const SequenceToken* token = sequence.tokens.data() + window.begin;
  for (size_t i = before; i < after; ++i, ++token) {
    out->ids[i] = token->id;
    out->type_ids[i] = type_id;
    out->word_ids[i] = token->word_id;
    out->sequence_ids[i] = sequence.sequence_id;
    out->offsets[i] = token->offset;
  }
  if (!sequence.first_offsets.empty() && before < after) out->offsets[before] = sequence.first_offsets[window.begin];
}

}  // namespace

Result<std::vector<Encoding>> AssembleWindows(const SequenceEncoding sequences[2], const SequenceWindows& windows,
                                              const PostProcessor& processor, bool add_special_tokens) {
  const bool has_pair = !windows.pair.empty();
  const std::vector<TemplatePart>& parts = has_pair ? processor.pair : processor.single;
  const auto special = static_cast<size_t>(processor.SpecialTokenCount(has_pair));
  const bool text_is_left = std::find_if(parts.begin(), parts.end(), [](const TemplatePart& part) {
                              return part.sequence_id >= 0;
                            })->sequence_id == 0;

  const size_t text_count = windows.text.size(), pair_count = std::max<size_t>(windows.pair.size(), 1);
  size_t widest = special + WindowSize(windows.text[0]) + (has_pair ? WindowSize(windows.pair[0]) : 0);
  widest = std::max<size_t>(widest, 1);
  if (text_count > kMaxTokens / widest || pair_count > kMaxTokens / widest / text_count) {
    return Status(StatusCode::kTextTooLong, "the text makes more windows than memory allows; use a smaller stride");
  }

  std::vector<Encoding> result;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<Combination> combinations, text_is_left
                                                                           ? Combine(text_count, pair_count, true)
                                                                           : Combine(pair_count, text_count, false));
  if (!TryReserve(&result, combinations.size())) return NoMemory();
  for (const Combination& combination : combinations) {
    Encoding encoding;
    if (!encoding.Reserve(widest)) return NoMemory();  // the first window is the widest
    for (const TemplatePart& part : parts) {
      if (part.sequence_id == 0) {
        AppendWindow(sequences[0], windows.text[combination.text], part.type_id, &encoding);
      } else if (part.sequence_id == 1) {
        AppendWindow(sequences[1], windows.pair[combination.pair], part.type_id, &encoding);
      } else if (add_special_tokens) {
        for (const int32_t id : part.ids) encoding.Append(id, part.type_id, -1, -1, 1, {0, 0});
      }
    }
    for (int i = 0; i < 2; ++i) encoding.is_blank[i] = sequences[i].is_blank;
    result.push_back(std::move(encoding));
  }
  return result;
}

}  // namespace peruse::text
