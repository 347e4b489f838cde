#include "core/tasks/zero_shot_token_classification.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace peruse {
namespace {

// Maximum number of labels in the input of a model that reads labels with the text; models were trained with fewer.
constexpr size_t kMostLabels = 128;
// Maximum number of labels of a bi-encoder: the scores of every span of a window with all of them are in memory together.
constexpr size_t kMostLabelVectors = 2048;
// Maximum number of pairs of words and labels per run, because each pair needs a vector of 4 * width floats.
constexpr size_t kMostPairs = 8192;

float Sigmoid(float x) { return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x)))); }

std::vector<std::vector<int32_t>> ByWord(const text::Encoding& tokens, size_t words) {
  std::vector<std::vector<int32_t>> ids(words);
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (tokens.word_ids[t] >= 0) ids[static_cast<size_t>(tokens.word_ids[t])].push_back(tokens.ids[t]);
  }
  return ids;
}

}  // namespace

Status ZeroShotTokenClassification::Start() {
  PERUSE_RETURN_IF_ERROR(ReadLabels());
  std::vector<Prompt> prompts;
  if (reader_.needed()) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<Reading> readings, reader_.Start(labels_));
    for (Reading& reading : readings) Enqueue(std::move(reading));
    prompts = EmptyPrompts();
  } else {
    PERUSE_ASSIGN_OR_RETURN(prompts, MakePrompts());
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(Words words, ReadWords(request.inputs[i]));
    if (words.bytes.empty()) {
      Give(i, {});
    } else {
      PERUSE_RETURN_IF_ERROR(EnqueueText(i, words, prompts));
    }
    words_.push_back(std::move(words.bytes));
  }
  return OkStatus();
}

Status ZeroShotTokenClassification::ReadLabels() {
  const LabelPrompt& prompt = model_.config().prompt;
  std::set<std::string_view> known;
  for (const std::string& label : request.labels) {
    const bool marked =
        label.find(prompt.marker) != std::string::npos || label.find(prompt.separator) != std::string::npos;
    if (marked && prompt.in_text) {
      return InvalidArgument("the label \"" + label.substr(0, 100) + "\" contains a marker of the model");
    }
    if (known.insert(label).second) labels_.push_back(label);
  }
  if (labels_.empty()) return InvalidArgument("option labels must name at least one label");
  if (request.threshold >= 0 && request.threshold <= 1) return OkStatus();
  return InvalidArgument("option threshold must be a number from 0 to 1");
}

Result<std::vector<ZeroShotTokenClassification::Prompt>> ZeroShotTokenClassification::MakePrompts() const {
  const LabelPrompt& config = model_.config().prompt;
  text::EncodeOptions options;
  options.add_special_tokens = false;
  const std::optional<int32_t> known = tokenizer_.TokenToId(config.marker);
  // gliner adds special tokens that the tokenizer lacks after its vocabulary: [FLERT], which is unused, and the two markers.
  const int32_t next = tokenizer_.vocab_size() + (tokenizer_.TokenToId("[FLERT]") ? 0 : 1);
  const int32_t marker = config.marker_id >= 0 ? config.marker_id : known.value_or(next);
  std::vector<int32_t> separator = {known && config.marker_id < 0 ? next : marker + 1};
  if (const std::optional<int32_t> id = tokenizer_.TokenToId(config.separator)) {
    separator = {*id};
  } else if (known && config.marker_id >= 0) {  // gliner then treats the separator as a word
    const std::string_view word = config.separator;
    PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> pieces, tokenizer_.EncodeWords({&word, 1}, options));
    separator = pieces[0].ids;
  }
  const std::vector<std::string_view> words(labels_.begin(), labels_.end());
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> tokens, tokenizer_.EncodeWords(words, options));
  const std::vector<std::vector<int32_t>> ids = ByWord(tokens[0], words.size());

  const size_t most_tokens = static_cast<size_t>(MaxTokens()) / 2;  // the other half is for the text
  std::vector<Prompt> prompts;
  for (size_t label = 0; label < ids.size(); ++label) {
    const bool full = prompts.empty() || prompts.back().rows.size() == kMostLabels ||
                      (prompts.back().ids.size() + ids[label].size() + 2 > most_tokens && !prompts.back().rows.empty());
    if (full) prompts.push_back({.ids = {tokenizer_.cls_id()}, .first_label = static_cast<int32_t>(label)});
    Prompt& prompt = prompts.back();
    prompt.rows.push_back(static_cast<int32_t>(prompt.ids.size()) + (config.embed_marker ? 0 : 1));
    prompt.ids.push_back(marker);
    prompt.ids.insert(prompt.ids.end(), ids[label].begin(), ids[label].end());
  }
  for (Prompt& prompt : prompts) prompt.ids.insert(prompt.ids.end(), separator.begin(), separator.end());
  return prompts;
}

std::vector<ZeroShotTokenClassification::Prompt> ZeroShotTokenClassification::EmptyPrompts() const {
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
Result<ZeroShotTokenClassification::Words> ZeroShotTokenClassification::ReadWords(std::string_view text) const {
  const std::vector<text::Offset> found = SplitWords(text);
  std::vector<std::string_view> slices;
  for (const text::Offset& bytes : found) slices.push_back(Slice(text, bytes));
  text::EncodeOptions options;
  options.add_special_tokens = false;
  Words words;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> tokens, tokenizer_.EncodeWords(slices, options));
  const text::Encoding& all = tokens[0];
  int32_t last = -1;
  for (size_t t = 0; t < all.size(); ++t) {
    if (all.word_ids[t] < 0) continue;
    words.ids.push_back(all.ids[t]);
    if (all.word_ids[t] != last) {
      last = all.word_ids[t];
      words.bytes.push_back(found[static_cast<size_t>(last)]);
      words.ends.push_back(0);
    }
    words.ends.back() = static_cast<int32_t>(words.ids.size());
  }
  return words;
}

size_t ZeroShotTokenClassification::WindowEnd(const Words& words, size_t first, size_t prompt_tokens) const {
  const auto most_words = static_cast<size_t>(model_.config().prompt.max_words);
  const int64_t room = MaxTokens() - static_cast<int64_t>(prompt_tokens) - 1;
  size_t end = first;
  while (end < words.bytes.size() && end - first < most_words && words.tokens(first, end + 1) <= room) ++end;
  return end;
}

Status ZeroShotTokenClassification::EnqueueText(size_t input, const Words& words, std::span<const Prompt> prompts) {
  for (const Prompt& prompt : prompts) {
    const bool last_prompt = &prompt == &prompts.back();
    for (size_t first = 0, end = 0; end < words.bytes.size();) {
      end = WindowEnd(words, first, prompt.ids.size());
      // Adjacent windows share words, so that every span is whole in one of them, unless spans may be longer than a window.
      const LabelPrompt& limits = model_.config().prompt;
      const auto longest = static_cast<size_t>(std::min(limits.max_width, limits.max_words / 2));
      const size_t shared = std::max((end - first) / 8, longest);
      if (end < first + shared + 1 && end < words.bytes.size()) {
        return Status(StatusCode::kTextTooLong, "the labels and words of input " + std::to_string(input) +
                                                    " leave no room: the model takes " + std::to_string(MaxTokens()) +
                                                    " tokens");
      }
      EnqueueWindow(input, words, prompt, first, end, last_prompt && end == words.bytes.size());
      first = end - shared;
    }
  }
  return OkStatus();
}

void ZeroShotTokenClassification::EnqueueWindow(size_t input, const Words& words, const Prompt& prompt, size_t first,
                                                size_t end, bool last_window) {
  const LabelPrompt& config = model_.config().prompt;
  Reading reading = {.input = input, .last = last_window};
  reading.first_word = static_cast<int32_t>(first);
  reading.first_label = prompt.first_label;
  text::Encoding& tokens = reading.tokens;
  tokens.ids = prompt.ids;
  const auto behind_prompt = static_cast<int32_t>(prompt.ids.size()) - words.begin(first);
  tokens.ids.insert(tokens.ids.end(), words.ids.begin() + words.begin(first), words.ids.begin() + words.begin(end));
  tokens.ids.push_back(tokenizer_.sep_id());
  reading.head.labels = prompt.rows;
  if (reader_.needed()) {
    reading.head.label_vectors = reader_.vectors(static_cast<size_t>(prompt.first_label), prompt.rows.size());
  }
  for (size_t word = first; word < end; ++word) {
    reading.head.words.push_back(behind_prompt + (config.last_token ? words.ends[word] - 1 : words.begin(word)));
    if (config.all_tokens) reading.head.word_tokens.push_back(words.tokens(word, word + 1));
  }
  const auto count = static_cast<int32_t>(end - first);
  const auto labels = static_cast<int32_t>(prompt.rows.size());
  for (int32_t word = 0; word < count; ++word) {
    const int32_t last = config.max_width > 0 ? std::min(word + config.max_width, count) : labels;
    for (int32_t second = config.max_width > 0 ? word : 0; second < last; ++second) {
      if (reading.head.pair_first.size() == kMostPairs) {
        Reading part = reading;
        part.last = false;
        Enqueue(std::move(part));
        reading.head.pair_first.clear();
        reading.head.pair_second.clear();
      }
      reading.head.pair_first.push_back(word);
      reading.head.pair_second.push_back(second);
    }
  }
  Enqueue(std::move(reading));
}

Status ZeroShotTokenClassification::Collect(const Reading& reading, size_t text) {
  if (reading.label >= 0) {
    reader_.Collect(reading, outputs_.Get(kLabelVectors, text).values);
    return OkStatus();
  }
  const Matrix logits = outputs_.Get(kLogits, text);
  if (model_.config().prompt.max_width > 0) {
    CollectSpans(reading, logits);
  } else {
    CollectTokens(reading, logits);
  }
  if (!reading.last) return OkStatus();

  const std::string_view all = request.inputs[reading.input];
  const std::vector<text::Offset>& words = words_[reading.input];
  Utf8IndexConverter index(all);
  std::vector<LabelledSpan> entities;
  for (const EntityCandidate& it :
       ChooseEntities(std::exchange(candidates_, {}), {request.flat_ner, request.multi_label})) {
    const text::Offset bytes = {words[static_cast<size_t>(it.first)].start, words[static_cast<size_t>(it.last)].end};
    entities.push_back(
        {labels_[static_cast<size_t>(it.label)], std::string(Slice(all, bytes)), it.score, ToTextSpan(index, bytes)});
  }
  Give(reading.input, std::move(entities));
  return OkStatus();
}

void ZeroShotTokenClassification::CollectSpans(const Reading& reading, const Matrix& logits) {
  for (size_t pair = 0; pair < reading.head.pair_first.size(); ++pair) {
    const std::span<const float> row = logits.row(pair);
    for (size_t label = 0; label < row.size(); ++label) {
      const float score = Sigmoid(row[label]);
      if (score <= request.threshold) continue;
      candidates_.push_back({reading.first_word + reading.head.pair_first[pair],
                             reading.first_word + reading.head.pair_second[pair],
                             reading.first_label + static_cast<int32_t>(label), score});
    }
  }
}

// Finds spans of any width: from a likely start to a likely end, with only words in between that are likely to be inside.
void ZeroShotTokenClassification::CollectTokens(const Reading& reading, const Matrix& logits) {
  for (const float logit : logits.values) probabilities_.push_back(Sigmoid(logit));
  const size_t labels = reading.head.labels.size();
  const size_t words = reading.head.words.size();
  if (probabilities_.size() < 3 * words * labels) return;
  const std::vector<float> p = std::exchange(probabilities_, {});
  for (size_t first = 0; first < words; ++first) {
    for (size_t label = 0; label < labels; ++label) {
      const auto at = [&](size_t word) { return p.data() + 3 * (word * labels + label); };
      if (at(first)[0] <= request.threshold) continue;
      float inside = 1;
      for (size_t last = first; last < words; ++last) {
        inside = std::min(inside, at(last)[2]);
        if (inside < request.threshold) break;
        if (at(last)[1] <= request.threshold) continue;
        const float score = std::min(inside, std::min(at(first)[0], at(last)[1]));
        candidates_.push_back({reading.first_word + static_cast<int32_t>(first),
                               reading.first_word + static_cast<int32_t>(last),
                               reading.first_label + static_cast<int32_t>(label), score});
      }
    }
  }
}

}  // namespace peruse
