#include "core/tokenizer/encoding.h"

namespace peruse {
namespace {

template <typename T>
void AppendSlice(const std::vector<T>& from, size_t begin, size_t end, std::vector<T>* to) {
  to->insert(to->end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
             from.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace

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

void Encoding::Append(const Encoding& other, size_t begin, size_t end) {
  AppendSlice(other.ids, begin, end, &ids);
  AppendSlice(other.type_ids, begin, end, &type_ids);
  AppendSlice(other.word_ids, begin, end, &word_ids);
  AppendSlice(other.sequence_ids, begin, end, &sequence_ids);
  AppendSlice(other.special_tokens_mask, begin, end, &special_tokens_mask);
  AppendSlice(other.offsets, begin, end, &offsets);
}

}  // namespace peruse
