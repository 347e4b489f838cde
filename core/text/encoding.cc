#include "core/text/encoding.h"

#include "core/base/memory.h"

namespace peruse::text {

bool Encoding::Reserve(size_t count) {
  return TryReserve(&ids, count) && TryReserve(&type_ids, count) && TryReserve(&word_ids, count) &&
         TryReserve(&sequence_ids, count) && TryReserve(&special_tokens_mask, count) && TryReserve(&offsets, count);
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

}  // namespace peruse::text
