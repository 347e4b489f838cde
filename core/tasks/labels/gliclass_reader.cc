#include "core/tasks/labels/gliclass_reader.h"

#include <algorithm>
#include <utility>

namespace peruse {
namespace {

// Changes offsets in a joined text to those in its part [first, first + size). Tokens of labels become special.
void ToOffsetsOfText(size_t first, size_t size, text::Encoding* tokens) {
  const auto begin = static_cast<int32_t>(first);
  const auto end = static_cast<int32_t>(first + size);
  for (size_t t = 0; t < tokens->size(); ++t) {
    text::Offset& it = tokens->offsets[t];
    it = {std::max(it.start, begin) - begin, std::min(it.end, end) - begin};
    if (tokens->special_tokens_mask[t] == 0 && it.start < it.end) continue;
    it = {};
    tokens->sequence_ids[t] = -1;
    tokens->special_tokens_mask[t] = 1;
  }
}

}  // namespace

Result<Reading> LabelledTextReader::Read(size_t input, const std::string& text, bool truncate) const {
  constexpr int32_t kMostTokens = 1024;  // gliclass's max_length, which overrides the tokenizer's model_max_length
  const LabelledInput& format = *std::get_if<LabelledInput>(&model_.config().label_input);
  text::EncodeOptions options;
  options.truncation = text::Truncation::kOnlyFirst;
  options.max_length = std::min(model_.config().max_tokens, kMostTokens);
  const std::string joined = WithLabels(format, labels_, text);
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, tokenizer_.Encode(joined, options));
  Reading reading = {.input = input, .tokens = std::move(windows[0])};
  ToOffsetsOfText(format.labels_first ? joined.size() - text.size() : 0, text.size(), &reading.tokens);
  const size_t labels = labels_.size();
  if (format.in_text()) {
    reading.head = LabelRows(format, reading.tokens.ids);
  } else {
    reading.head.labels.resize(labels);
    reading.head.words = {0};
  }
  if (windows.size() > 1 && (!truncate || reading.head.labels.size() < labels || reading.head.words.empty())) {
    return Status(StatusCode::kTextTooLong, "input " + std::to_string(input) + " and its labels have more than the " +
                                                std::to_string(options.max_length) + " tokens that are read at once");
  }
  if (reading.head.labels.size() != labels || reading.head.words.empty()) {
    return InvalidArgument("a label or input " + std::to_string(input) + " contains a marker of the model");
  }
  if (reader_.needed()) reading.head.label_vectors = reader_.vectors(0, labels);
  PairTextWithLabels(labels, &reading.head);
  return reading;
}

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
