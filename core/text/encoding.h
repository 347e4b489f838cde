// Encoding: the token ids of one window of text, and the origin of each token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peruse::text {

// A half-open UTF-8 byte range [start, end) in the original text of the token's own sequence; (0, 0) for special tokens. For input words it
// is relative to the word.
struct Offset {
  int32_t start = 0;
  int32_t end = 0;

  friend bool operator==(const Offset& a, const Offset& b) { return a.start == b.start && a.end == b.end; }
};

// All vectors have the same length.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;
  std::vector<int32_t> word_ids;             // index of the word within its sequence, -1 if none
  std::vector<int8_t> sequence_ids;          // 0 for the text, 1 for the pair, -1 for special tokens
  std::vector<uint8_t> special_tokens_mask;  // 1 for tokens that the post-processor added
  std::vector<Offset> offsets;
  bool is_blank[2] = {true, true};  // by sequence: empty or only white space (other texts may have no tokens, too)

  size_t size() const { return ids.size(); }
  // Reserves memory for `count` tokens; returns false when memory runs out.
  [[nodiscard]] bool Reserve(size_t count);
  // The following functions never exceed the reserved size.
  void Append(int32_t id, int32_t type_id, int32_t word_id, int8_t sequence_id, uint8_t special, Offset offset);
  // New tokens are zero.
  void Resize(size_t count);
};

}  // namespace peruse::text
