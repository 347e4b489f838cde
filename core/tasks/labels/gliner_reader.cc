#include "core/tasks/labels/gliner_reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/tasks/labels/entity_decoding.h"

namespace peruse {
namespace {

// Maximum number of labels in the input of a model that reads labels with the text; models were trained with fewer.
constexpr size_t kMostLabels = 128;
// Maximum number of labels of a bi-encoder: the scores of every span of a window with all of them are in memory together.
constexpr size_t kMostLabelVectors = 2048;
// Maximum number of pairs of words and labels per run, because each pair needs a vector of 4 * width floats.
constexpr size_t kMostPairs = 8192;
// Maximum number of tokens of a window, because the time of attention grows with their square. Models were trained with at most a quarter.
constexpr int32_t kMostTokens = 4096;

std::vector<std::vector<int32_t>> ByWord(const text::Encoding& tokens, size_t words) {
  std::vector<std::vector<int32_t>> ids(words);
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (tokens.word_ids[t] >= 0) ids[static_cast<size_t>(tokens.word_ids[t])].push_back(tokens.ids[t]);
  }
  return ids;
}

}  // namespace

Result<std::vector<Reading>> EntityReader::Start(std::span<const std::string> labels, int32_t max_tokens) {
  max_tokens_ = std::min(max_tokens, kMostTokens);
  PERUSE_RETURN_IF_ERROR(ReadLabels(labels));
  if (reader_.needed()) {
    prompts_ = EmptyPrompts();
    return reader_.Start(labels_);
  }
  PERUSE_ASSIGN_OR_RETURN(prompts_, MakePrompts());
  return std::vector<Reading>();
}

Status EntityReader::ReadLabels(std::span<const std::string> labels) {
  std::set<std::string_view> known;
  for (const std::string& label : labels) {
    const bool marked =
        label.find(format().marker) != std::string::npos || label.find(format().separator) != std::string::npos;
    if (marked && format().in_text) {
      return InvalidArgument("the label \"" + label.substr(0, 100) + "\" contains a marker of the model");
    }
    if (known.insert(label).second) labels_.push_back(label);
  }
  if (labels_.empty()) return InvalidArgument("option labels must name at least one label");
  return OkStatus();
}

Result<std::vector<EntityReader::Prompt>> EntityReader::MakePrompts() const {
  const EntityInput& form = format();
  text::EncodeOptions options;
  options.add_special_tokens = false;
  const std::optional<int32_t> known = tokenizer_.TokenToId(form.marker);
  // gliner adds special tokens that the tokenizer lacks after its vocabulary: [FLERT], which is unused, and the two markers.
  const int32_t next = tokenizer_.vocab_size() + (tokenizer_.TokenToId("[FLERT]") ? 0 : 1);
  const int32_t marker = form.marker_id >= 0 ? form.marker_id : known.value_or(next);
  std::vector<int32_t> separator = {known && form.marker_id < 0 ? next : marker + 1};
  if (const std::optional<int32_t> id = tokenizer_.TokenToId(form.separator)) {
    separator = {*id};
  } else if (known && form.marker_id >= 0) {  // gliner then treats the separator as a word
    const std::string_view word = form.separator;
    PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> pieces, tokenizer_.EncodeWords({&word, 1}, options));
    separator = pieces[0].ids;
  }
  const std::vector<std::string_view> words(labels_.begin(), labels_.end());
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> tokens, tokenizer_.EncodeWords(words, options));
  const std::vector<std::vector<int32_t>> ids = ByWord(tokens[0], words.size());

  const size_t most_tokens = static_cast<size_t>(max_tokens_) / 2;  // the other half is for the text
  std::vector<Prompt> prompts;
  for (size_t label = 0; label < ids.size(); ++label) {
    const bool full = prompts.empty() || prompts.back().rows.size() == kMostLabels ||
                      (prompts.back().ids.size() + ids[label].size() + 2 > most_tokens && !prompts.back().rows.empty());
    if (full) prompts.push_back({.ids = {tokenizer_.cls_id()}, .first_label = static_cast<int32_t>(label)});
    Prompt& prompt = prompts.back();
    prompt.rows.push_back(static_cast<int32_t>(prompt.ids.size()) + (form.embed_marker ? 0 : 1));
    prompt.ids.push_back(marker);
    prompt.ids.insert(prompt.ids.end(), ids[label].begin(), ids[label].end());
  }
  for (Prompt& prompt : prompts) prompt.ids.insert(prompt.ids.end(), separator.begin(), separator.end());
  return prompts;
}

std::vector<EntityReader::Prompt> EntityReader::EmptyPrompts() const {
  std::vector<Prompt> prompts;
  for (size_t first = 0; first < labels_.size(); first += kMostLabelVectors) {
    const size_t count = std::min(labels_.size() - first, kMostLabelVectors);
    prompts.push_back({.ids = {tokenizer_.cls_id()},
                       .rows = std::vector<int32_t>(count),
                       .first_label = static_cast<int32_t>(first)});
  }
  return prompts;
}

// Skips words without tokens. (In gliner they shift the results of following words.)
Result<EntityReader::Words> EntityReader::ReadWords(const WordText& text) const {
  const WordText split = text.words ? text : WordText(text.text, SplitWords(text.text));
  const std::vector<text::Offset>& found = *split.words;
  text::EncodeOptions options;
  options.add_special_tokens = false;
  Words words;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> tokens, EncodeText(tokenizer_, split, options));
  const text::Encoding& all = tokens[0];
  int32_t last = -1;
  for (size_t t = 0; t < all.size(); ++t) {
    if (all.word_ids[t] < 0) continue;
    words.ids.push_back(all.ids[t]);
    words.offsets.push_back(all.offsets[t]);
    if (all.word_ids[t] != last) {
      last = all.word_ids[t];
      words.bytes.push_back(found[static_cast<size_t>(last)]);
      words.ends.push_back(0);
    }
    words.ends.back() = static_cast<int32_t>(words.ids.size());
  }
  return words;
}

size_t EntityReader::WindowEnd(const Words& words, size_t first, size_t prompt_tokens) const {
  const auto most_words = static_cast<size_t>(format().max_words);
  const int64_t room = max_tokens_ - static_cast<int64_t>(prompt_tokens) - 1;
  size_t end = first;
  while (end < words.bytes.size() && end - first < most_words && words.tokens(first, end + 1) <= room) ++end;
  return end;
}

Result<std::vector<Reading>> EntityReader::Read(size_t input, const WordText& text,
                                                std::vector<text::Offset>* found) const {
  PERUSE_ASSIGN_OR_RETURN(Words words, ReadWords(text));
  // Windows in which no span of the greatest width fits would not find all spans: such a model reads one window, as in gliner.
  if (format().max_words < format().max_width) words.CutTo(static_cast<size_t>(format().max_words));
  std::vector<Reading> readings;
  for (const Prompt& prompt : prompts_) {
    const bool last_prompt = &prompt == &prompts_.back();
    for (size_t first = 0, end = 0; end < words.bytes.size();) {
      end = WindowEnd(words, first, prompt.ids.size());
      // Adjacent windows share words, so that every span is whole in one of them, unless spans may be longer than a window.
      const auto longest = static_cast<size_t>(std::min(format().max_width, format().max_words / 2));
      const size_t shared = std::max((end - first) / 8, longest);
      if (end < first + shared + 1 && end < words.bytes.size()) {
        return Status(StatusCode::kTextTooLong, "the labels and words of input " + std::to_string(input) +
                                                    " leave no room: " + std::to_string(max_tokens_) +
                                                    " tokens are read at once");
      }
      AddWindow({.input = input, .last = last_prompt && end == words.bytes.size()}, words, prompt, first, end,
                &readings);
      first = end - shared;
    }
  }
  *found = std::move(words.bytes);
  return readings;
}

void EntityReader::AddWindow(Reading reading, const Words& words, const Prompt& prompt, size_t first, size_t end,
                             std::vector<Reading>* readings) const {
  const EntityInput& form = format();
  reading.first_word = static_cast<int32_t>(first);
  reading.first_label = prompt.first_label;
  text::Encoding& tokens = reading.tokens;
  tokens.ids = prompt.ids;
  const auto behind_prompt = static_cast<int32_t>(prompt.ids.size()) - words.begin(first);
  tokens.ids.insert(tokens.ids.end(), words.ids.begin() + words.begin(first), words.ids.begin() + words.begin(end));
  tokens.ids.push_back(tokenizer_.sep_id());
  tokens.offsets.resize(tokens.ids.size());
  tokens.sequence_ids.resize(tokens.ids.size(), -1);
  tokens.special_tokens_mask.resize(tokens.ids.size(), 1);
  for (int32_t token = words.begin(first); token < words.begin(end); ++token) {
    const auto row = static_cast<size_t>(token + behind_prompt);
    tokens.offsets[row] = words.offsets[static_cast<size_t>(token)];
    tokens.sequence_ids[row] = 0;
    tokens.special_tokens_mask[row] = 0;
  }
  reading.head.labels = prompt.rows;
  if (reader_.needed()) {
    reading.head.label_vectors = reader_.vectors(static_cast<size_t>(prompt.first_label), prompt.rows.size());
  }
  for (size_t word = first; word < end; ++word) {
    const bool last_token = form.word == EntityInput::Word::kLastToken;
    reading.head.words.push_back(behind_prompt + (last_token ? words.ends[word] - 1 : words.begin(word)));
    if (form.word == EntityInput::Word::kAllTokens) reading.head.word_tokens.push_back(words.tokens(word, word + 1));
  }
  const auto count = static_cast<int32_t>(end - first);
  const auto labels = static_cast<int32_t>(prompt.rows.size());
  for (int32_t word = 0; word < count; ++word) {
    const int32_t last = form.max_width > 0 ? std::min(word + form.max_width, count) : labels;
    for (int32_t second = form.max_width > 0 ? word : 0; second < last; ++second) {
      if (reading.head.pair_first.size() == kMostPairs) {
        Reading part = reading;
        part.last = false;
        readings->push_back(std::move(part));
        reading.head.pair_first.clear();
        reading.head.pair_second.clear();
      }
      reading.head.pair_first.push_back(word);
      reading.head.pair_second.push_back(second);
    }
  }
  readings->push_back(std::move(reading));
}

}  // namespace peruse
