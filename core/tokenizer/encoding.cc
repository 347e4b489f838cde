#include "core/tokenizer/encoding.h"

namespace peruse {
void Encoding::Reserve(size_t count) {
  ids.reserve(count);
  type_ids.reserve(count);
  word_ids.reserve(count);
  sequence_ids.reserve(count);
  special_tokens_mask.reserve(count);
  offsets.reserve(count);
}

void Encoding::Append(int32_t id, int32_t type_id, int32_t word_id, int8_t sequence_id, uint8_t special,
                      Offset offset) {
  ids.push_back(id);
  type_ids.push_back(type_id);
  word_ids.push_back(word_id);
  sequence_ids.push_back(sequence_id);
  special_tokens_mask.push_back(special);
  offsets.push_back(offset);
}

void Encoding::Resize(size_t count) {
  ids.resize(count);
  type_ids.resize(count);
  word_ids.resize(count);
  sequence_ids.resize(count);
  special_tokens_mask.resize(count);
  offsets.resize(count);
}

}  // namespace peruse
