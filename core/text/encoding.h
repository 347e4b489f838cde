// Encoding: the token ids of one window of text, and where each token came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peruse::text {

// A half-open UTF-8 byte range [start, end) in the original text of the token's own sequence; (0, 0) for special
// tokens. With words as input it is relative to the word.
struct Offset {
  int32_t start = 0;
  int32_t end = 0;

  friend bool operator==(const Offset& a, const Offset& b) { return a.start == b.start && a.end == b.end; }
};

// All vectors have the same length.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;
  std::vector<int32_t> word_ids;             // index of the word within its sequence; -1: none
  std::vector<int8_t> sequence_ids;          // 0: text, 1: pair, -1: special
  std::vector<uint8_t> special_tokens_mask;  // 1: added by the post-processor
  std::vector<Offset> offsets;
  bool is_blank[2] = {true,
                      true};  // by sequence: it is empty or only white space (another text may have no tokens, too)

  size_t size() const { return ids.size(); }
  // Room for so many tokens; false when there is no memory.
  [[nodiscard]] bool Reserve(size_t count);
  // The following never exceed what was reserved.
  void Append(int32_t id, int32_t type_id, int32_t word_id, int8_t sequence_id, uint8_t special, Offset offset);
  // New tokens are zeros.
  void Resize(size_t count);
};

}  // namespace peruse::text
