#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peruse::text {

// A UTF-8 byte range [start, end) in the original text of the token's sequence, or in the word if the input was split into words; (0, 0)
// for special tokens.
struct Offset {
  int32_t start = 0;
  int32_t end = 0;

  friend bool operator==(const Offset& a, const Offset& b) { return a.start == b.start && a.end == b.end; }
};

// The tokens of one window of text. All vectors have the same length.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;
  std::vector<int32_t> word_ids;             // index of the word within its sequence, or -1
  std::vector<int8_t> sequence_ids;          // 0 for the text, 1 for the pair, -1 for special tokens
  std::vector<uint8_t> special_tokens_mask;  // 1 for tokens that the post-processor added
  std::vector<Offset> offsets;
  // For each sequence: whether it consists of white space only. (Other texts may lack tokens, too.)
  bool is_blank[2] = {true, true};

  size_t size() const { return ids.size(); }
  [[nodiscard]] bool Reserve(size_t count);
  // Append and Resize never exceed the reserved size.
  void Append(int32_t id, int32_t type_id, int32_t word_id, int8_t sequence_id, uint8_t special, Offset offset);
  void Resize(size_t count);
};

}  // namespace peruse::text
