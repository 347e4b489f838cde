#include "core/tasks/labels/gliclass_rows.h"

#include <algorithm>

namespace peruse {

std::string WithLabels(const LabelledInput& input, std::span<const std::string> labels, const std::string& text) {
  std::string before;
  if (input.in_text()) {
    const bool named = input.labels == LabelHead::Labels::kRows;
    for (const std::string& label : labels) before += input.marker + (named ? label : "");
    before += input.separator;
  }
  return input.labels_first ? before + text : text + before;
}

HeadLists LabelRows(const LabelledInput& input, std::span<const int32_t> ids) {
  HeadLists head;
  const auto tokens = static_cast<int32_t>(ids.size());
  const int32_t behind = input.embed_marker ? 0 : 1;
  const auto found = std::find(ids.begin(), ids.end(), input.separator_id);
  const auto separator = static_cast<int32_t>(found - ids.begin());
  if (separator == tokens) return head;
  head.second_segment = separator;
  for (int32_t row = 0; row < tokens; ++row) {
    if (ids[static_cast<size_t>(row)] != input.marker_id) continue;
    if (input.label_tokens && !head.labels.empty()) head.label_tokens.push_back(row - head.labels.back());
    head.labels.push_back(row + behind);
  }
  // If all tokens of a label represent it, the last label ends where the text begins.
  if (input.label_tokens && !head.labels.empty()) {
    head.label_tokens.push_back((input.from_separator ? separator : tokens) - head.labels.back());
  }
  for (int32_t& count : head.label_tokens) count = std::max(count, 0);
  const int32_t first = input.from_separator ? separator : 0;
  head.words = {first};
  head.word_tokens = {1};
  if (input.words == LabelledInput::Words::kFirst) return head;
  for (int32_t row = first + 1; row < tokens; ++row) head.words.push_back(row);
  head.word_tokens.assign(head.words.size(), 1);
  if (input.words == LabelledInput::Words::kAll) return head;
  head.words.resize(ids.size(), first);
  head.word_tokens.resize(ids.size(), 0);
  return head;
}

void PairTextWithLabels(size_t labels, HeadLists* head) {
  for (size_t label = 0; label < labels; ++label) {
    head->pair_first.push_back(0);
    head->pair_second.push_back(static_cast<int32_t>(label));
  }
}

}  // namespace peruse
