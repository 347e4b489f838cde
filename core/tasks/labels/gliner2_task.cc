#include "core/tasks/labels/gliner2_task.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/memory.h"
#include "core/base/sort.h"
#include "core/cpu/dot.h"
#include "core/heads/extraction.h"
#include "core/tasks/scores.h"
#include "core/tasks/text_span.h"

namespace peruse {
namespace {

// Maximum number of spans of a window: each needs a vector of 4 * width.
constexpr size_t kMostSpans = 16384;
// Maximum number of tokens of a window, because the time of attention grows with their square.
constexpr int32_t kMostTokens = 4096;

bool IsClassification(const SchemaPart& part) { return part.kind == SchemaPart::Kind::kClassification; }

std::vector<float> Copy(const Matrix& matrix) { return {matrix.values.begin(), matrix.values.end()}; }

}  // namespace

Status SchemaTask::StartTexts(const std::vector<WordText>& texts, Schema schema, float threshold) {
  if (!(threshold >= 0 && threshold <= 1)) return InvalidArgument("option threshold must be a number from 0 to 1");
  PERUSE_RETURN_IF_ERROR(CheckSchema(schema));
  PERUSE_RETURN_IF_ERROR(ReadMarkers());
  schema_ = std::move(schema);
  threshold_ = threshold;
  words_ = WordsOf(schema_);
  finds_spans_ = !std::all_of(schema_.begin(), schema_.end(), IsClassification);
  texts_.resize(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<Reading> windows, Read(i, texts[i]));
    for (Reading& window : windows) Enqueue(std::move(window));
  }
  return OkStatus();
}

std::vector<SchemaTask::WordRows> SchemaTask::RowsOfWords(std::span<const int32_t> word_ids, size_t words) {
  std::vector<WordRows> rows(words);
  for (size_t t = 0; t < word_ids.size(); ++t) {
    if (word_ids[t] < 0) continue;
    WordRows& word = rows[static_cast<size_t>(word_ids[t])];
    if (word.count++ == 0) word.first = static_cast<int32_t>(t);
  }
  return rows;
}

Status SchemaTask::ReadMarkers() const {
  for (const std::string_view marker : kSchemaMarkers) {
    if (!tokenizer_.TokenToId(marker)) {
      return MalformedFile("the model's tokenizer lacks the token \"" + std::string(marker) + "\" of a GLiNER2");
    }
  }
  return OkStatus();
}

Result<std::vector<Reading>> SchemaTask::Read(size_t input, const WordText& text) {
  PERUSE_ASSIGN_OR_RETURN(const Tokens tokens, Tokenize(input, text));
  const size_t words = tokens.text_rows.size();
  if (words == 0) {
    return Status(StatusCode::kEmptyText, "input " + std::to_string(input) + " has no word that the model knows");
  }
  if (finds_spans_ && choices_.empty()) NumberChoices(tokens.rows);
  std::vector<Reading> readings;
  for (size_t first = 0, end = 0; end < words;) {
    end = WindowEnd(tokens, first);
    // As in EntityReader, adjacent windows share words, so that every span is whole in one of them.
    const size_t shared = std::max((end - first) / 8, finds_spans_ ? static_cast<size_t>(WidestSpan()) : 0);
    if (end < words && end < first + shared + 1) {
      return Status(StatusCode::kTextTooLong, "the schema and the words of input " + std::to_string(input) +
                                                  " leave no room: " + std::to_string(MostTokens()) +
                                                  " tokens are read at once");
    }
    readings.push_back(WindowOf(input, tokens, first, end));
    readings.back().last = end == words;
    first = end - shared;
  }
  return readings;
}

Result<SchemaTask::Tokens> SchemaTask::Tokenize(size_t input, const WordText& whole) {
  const std::string_view text = whole.text;
  const bool ends = !text.empty() && text.find_last_of(".!?") + 1 == text.size();
  // gliner2 reads an empty text as ".", and splits the text together with the "." that it adds, so an address at the end contains the ".".
  const std::string sentence = std::string(text) + (ends ? "" : ".");
  std::vector<text::Offset> found = whole.words ? *whole.words : SplitSchemaText(sentence);
  if (whole.words && !ends) found.push_back({static_cast<int32_t>(text.size()), static_cast<int32_t>(sentence.size())});
  std::vector<std::string> lowered;
  for (text::Offset& bytes : found) {
    lowered.push_back(Lowered(Slice(sentence, bytes)));
    bytes.end = std::min(bytes.end, static_cast<int32_t>(text.size()));
  }
  std::vector<std::string_view> all(words_.words.begin(), words_.words.end());
  all.insert(all.end(), lowered.begin(), lowered.end());
  text::EncodeOptions options;
  options.add_special_tokens = false;
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> encodings, tokenizer_.EncodeWords(all, options));
  Tokens tokens = {.all = std::move(encodings[0])};
  tokens.rows = RowsOfWords(tokens.all.word_ids, all.size());
  const size_t before = words_.words.size();
  for (auto word = static_cast<size_t>(words_.first_choice_word); word < before; ++word) {
    texts_[input].first += tokens.rows[word].count > 0 ? 1 : 0;
  }
  tokens.schema = tokens.all.size();
  for (size_t word = before; word < tokens.rows.size(); ++word) {
    if (tokens.rows[word].count == 0) continue;
    if (tokens.text_rows.empty()) tokens.schema = static_cast<size_t>(tokens.rows[word].first);
    tokens.text_rows.push_back(word);
    texts_[input].words.push_back(found[word - before]);
  }
  return tokens;
}

int32_t SchemaTask::WidestSpan() const { return std::get_if<SchemaInput>(&model_.config().label_input)->max_width; }

int32_t SchemaTask::MostTokens() const { return std::min(MaxTokens(), kMostTokens); }

size_t SchemaTask::WindowEnd(const Tokens& tokens, size_t first) const {
  const size_t words = tokens.text_rows.size();
  const size_t most_words = finds_spans_ ? kMostSpans / static_cast<size_t>(WidestSpan()) : words;
  auto room = static_cast<int64_t>(MostTokens()) - static_cast<int64_t>(tokens.schema);
  size_t end = first;
  for (; end < words && end - first < most_words; ++end) {
    room -= tokens.rows[tokens.text_rows[end]].count;
    if (room < 0) break;
  }
  return end;
}

// Adds the words of choices and of the window, except words without tokens.
Reading SchemaTask::WindowOf(size_t input, const Tokens& tokens, size_t first, size_t end) const {
  Reading reading = {.input = input, .first_word = static_cast<int32_t>(first)};
  const WordRows& last = tokens.rows[tokens.text_rows[end - 1]];
  const auto begin = static_cast<size_t>(tokens.rows[tokens.text_rows[first]].first);
  const auto behind = static_cast<size_t>(last.first + last.count);
  reading.tokens.ids.assign(tokens.all.ids.begin(), tokens.all.ids.begin() + static_cast<ptrdiff_t>(tokens.schema));
  reading.tokens.ids.insert(reading.tokens.ids.end(), tokens.all.ids.begin() + static_cast<ptrdiff_t>(begin),
                            tokens.all.ids.begin() + static_cast<ptrdiff_t>(behind));
  HeadLists& head = reading.head;
  for (const std::vector<int32_t>& markers : words_.markers) {
    for (const int32_t marker : markers) head.labels.push_back(tokens.rows[static_cast<size_t>(marker)].first);
  }
  const auto add = [&head](const WordRows& word, int32_t moved) {
    head.words.push_back(word.first - moved);
    head.word_tokens.push_back(word.count);
  };
  for (auto word = static_cast<size_t>(words_.first_choice_word); word < words_.words.size(); ++word) {
    if (tokens.rows[word].count > 0) add(tokens.rows[word], 0);
  }
  const size_t choices = head.words.size();
  for (size_t word = first; word < end; ++word) {
    add(tokens.rows[tokens.text_rows[word]], static_cast<int32_t>(begin - tokens.schema));
  }
  if (finds_spans_) AddPairs(choices, &head);
  return reading;
}

// Adds one pair for each of the `choices` first words, and the spans of the others, which are the text's.
void SchemaTask::AddPairs(size_t choices, HeadLists* head) const {
  const auto first = static_cast<int32_t>(choices), end = static_cast<int32_t>(head->words.size());
  for (int32_t word = 0; word < end; ++word) {
    const int32_t last = word < first ? word + 1 : std::min(word + WidestSpan(), end);
    for (int32_t second = word; second < last; ++second) {
      head->pair_first.push_back(word);
      head->pair_second.push_back(second);
    }
  }
}

// gliner2 takes the first word that equals a choice, also if it is the name of a field.
void SchemaTask::NumberChoices(std::span<const WordRows> rows) {
  std::map<std::string, int32_t> numbers;
  int32_t next = 0;
  for (auto word = static_cast<size_t>(words_.first_choice_word); word < words_.words.size(); ++word) {
    numbers.emplace(Lowered(words_.words[word]), rows[word].count > 0 ? next++ : -1);
  }
  for (const SchemaPart& part : schema_) {
    std::vector<std::vector<int32_t>>& fields = choices_.emplace_back();
    for (const SchemaField& field : part.fields) {
      std::vector<int32_t>& of_field = fields.emplace_back();
      for (const std::string& choice : field.choices) of_field.push_back(numbers.at(Lowered(choice)));
    }
  }
}

std::vector<OutputId> SchemaTask::WantedBy(const Reading& reading) const {
  if (reading.part < 0) {
    if (!finds_spans_) return {kLogits};
    return {kLogits, kCounts, kFieldVectors, kSpanVectors};
  }
  const auto part = static_cast<size_t>(reading.part);
  // Entities use the first occurrence only.
  const bool once = schema_[part].kind == SchemaPart::Kind::kEntities;
  std::vector<OutputId> queries;
  for (int32_t t = 0; t < (once ? 1 : outputs_of_text_.counts[part]); ++t) queries.push_back(QueriesOf(t));
  return queries;
}

Status SchemaTask::Collect(const Reading& reading, size_t text) {
  if (reading.part < 0) return CollectText(reading, text);
  const auto part = static_cast<size_t>(reading.part);
  CollectPart(schema_[part], text, texts_[reading.input], outputs_of_text_.found[part]);
  return Proceed(reading.input, part + 1);
}

size_t SchemaTask::RowOf(size_t part) const {
  size_t row = 0;
  for (size_t i = 0; i < part; ++i) row += schema_[i].fields.size() + 1;
  return row;
}

Status SchemaTask::CollectText(const Reading& reading, size_t text) {
  Outputs& outputs = outputs_of_text_;
  outputs = {.first_word = reading.first_word, .last = reading.last};
  outputs.found.resize(schema_.size());
  const std::span<const float> logits = outputs_.Get(kLogits, text).values;
  if (finds_spans_) {
    const Matrix spans = outputs_.Get(kSpanVectors, text);
    PERUSE_RETURN_IF_ERROR(EnsureMemory(spans.values.size() * sizeof(float), "the vectors of spans"));
    outputs.spans = Copy(spans);
    outputs.fields = Copy(outputs_.Get(kFieldVectors, text));
    outputs.pair_first = reading.head.pair_first;
    outputs.pair_second = reading.head.pair_second;
  }
  for (size_t i = 0; i < schema_.size(); ++i) {
    const SchemaPart& part = schema_[i];
    const size_t row = RowOf(i);
    outputs.counts.push_back(0);
    if (IsClassification(part)) {
      const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row + 1);
      std::vector<float>& labels = outputs.found[i].labels;
      labels.assign(begin, begin + static_cast<std::ptrdiff_t>(part.fields.size()));
      continue;
    }
    const std::span<const float> counts = outputs_.Get(kCounts, text).row(row);
    outputs.counts[i] = static_cast<int32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  }
  return Proceed(reading.input, 0);
}

Status SchemaTask::Proceed(size_t input, size_t part) {
  Outputs& outputs = outputs_of_text_;
  while (part < schema_.size() && outputs.counts[part] == 0) ++part;
  if (part == schema_.size()) return EndWindow(input);
  const auto width = static_cast<size_t>(model_.config().hidden_size);
  const size_t count = schema_[part].fields.size();
  const std::span<const float> fields(outputs.fields);
  query_inputs_ = QueryInputs(fields.subspan((RowOf(part) + 1) * width, count * width), width);
  Reading reading = {.input = input};
  reading.tokens.ids = {0};  // a batch needs a token
  reading.head.labels.resize(count);
  reading.head.label_vectors = query_inputs_;
  reading.part = static_cast<int32_t>(part);
  Continue(std::move(reading));
  return OkStatus();
}

void SchemaTask::CollectPart(const SchemaPart& part, size_t text, const Text& words, FoundPart& found) const {
  const Outputs& outputs = outputs_of_text_;
  const auto width = static_cast<size_t>(model_.config().hidden_size);
  const auto number = static_cast<size_t>(&part - schema_.data());
  const size_t occurrences = part.kind == SchemaPart::Kind::kEntities ? 1 : static_cast<size_t>(outputs.counts[number]);
  for (size_t t = 0; t < occurrences; ++t) {
    const Matrix queries = outputs_.Get(QueriesOf(static_cast<int32_t>(t)), text);
    std::vector<FoundField>& fields = found.occurrences.emplace_back(part.fields.size());
    for (size_t f = 0; f < part.fields.size(); ++f) {
      const float threshold = part.fields[f].threshold.value_or(threshold_);
      const auto score = [&](size_t pair) {
        float value[] = {
            cpu::Dot(outputs.spans.data() + pair * width, queries.row(f).data(), static_cast<int64_t>(width))};
        Sigmoid(value);
        return value[0];
      };
      if (!part.fields[f].choices.empty()) {
        // The pair of a choice's word has the word's number.
        for (const int32_t word : choices_[number][f]) {
          fields[f].choices.push_back(word < 0 ? 0 : score(static_cast<size_t>(word)));
        }
        continue;
      }
      for (size_t pair = words.first; pair < outputs.pair_first.size(); ++pair) {
        const float probability = score(pair);
        if (probability < threshold) continue;
        const auto first = static_cast<int32_t>(words.first);
        fields[f].spans.push_back({outputs.pair_first[pair] - first + outputs.first_word,
                                   outputs.pair_second[pair] - first + outputs.first_word, probability});
      }
    }
  }
}

Status SchemaTask::EndWindow(size_t input) {
  Merge(std::exchange(outputs_of_text_.found, {}));
  return outputs_of_text_.last ? Found(input, TakeMerged()) : OkStatus();
}

void SchemaTask::Merge(std::vector<FoundPart> window) {
  if (merged_.windows++ == 0) {
    merged_.parts = std::move(window);
    return;
  }
  for (size_t i = 0; i < window.size(); ++i) {
    FoundPart& into = merged_.parts[i];
    for (size_t label = 0; label < window[i].labels.size(); ++label) into.labels[label] += window[i].labels[label];
    for (std::vector<FoundField>& occurrence : window[i].occurrences) {
      if (schema_[i].kind != SchemaPart::Kind::kEntities || into.occurrences.empty()) {
        into.occurrences.push_back(std::move(occurrence));
        continue;
      }
      for (size_t f = 0; f < occurrence.size(); ++f) {
        std::vector<Span>& spans = into.occurrences[0][f].spans;
        spans.insert(spans.end(), occurrence[f].spans.begin(), occurrence[f].spans.end());
      }
    }
  }
}

std::vector<SchemaTask::FoundPart> SchemaTask::TakeMerged() {
  const Merged merged = std::exchange(merged_, {});
  std::vector<FoundPart> parts = merged.parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    const SchemaPart& part = schema_[i];
    if (IsClassification(part)) {
      for (float& label : parts[i].labels) label /= static_cast<float>(merged.windows);
      const bool sigmoid = part.function == SchemaPart::Function::kAuto
                               ? part.multi_label
                               : part.function == SchemaPart::Function::kSigmoid;
      Apply(sigmoid ? ScoreFunction::kSigmoid : ScoreFunction::kSoftmax, parts[i].labels);
    }
    if (merged.windows == 1) continue;
    std::vector<std::vector<FoundField>>& occurrences = parts[i].occurrences;
    for (std::vector<FoundField>& occurrence : occurrences) {
      for (FoundField& field : occurrence) KeepBestOfEqualSpans(&field.spans);
    }
    const auto is_repeated = [&](const std::vector<FoundField>& one) {
      return std::any_of(std::as_const(occurrences).data(), &one,
                         [&](const auto& earlier) { return HaveSameBest(earlier, one); });
    };
    std::vector<std::vector<FoundField>> kept;
    for (const std::vector<FoundField>& one : occurrences) {
      if (!is_repeated(one)) kept.push_back(one);
    }
    occurrences = std::move(kept);
  }
  return parts;
}

// Sorts by first, then by last words.
void SchemaTask::KeepBestOfEqualSpans(std::vector<Span>* spans) {
  HeapSort(spans->begin(), spans->end(), [](const Span& a, const Span& b) {
    return std::tie(a.first, a.last, b.score) < std::tie(b.first, b.last, a.score);
  });
  const auto is_same = [](const Span& a, const Span& b) { return a.first == b.first && a.last == b.last; };
  spans->erase(std::unique(spans->begin(), spans->end(), is_same), spans->end());
}

bool SchemaTask::HaveSameBest(const std::vector<FoundField>& a, const std::vector<FoundField>& b) {
  const auto best = [](const FoundField& field) {
    const auto found = std::max_element(field.spans.begin(), field.spans.end(),
                                        [](const Span& x, const Span& y) { return x.score < y.score; });
    return found == field.spans.end() ? std::pair(-1, -1) : std::pair(found->first, found->last);
  };
  const bool has_spans = std::any_of(a.begin(), a.end(), [](const FoundField& field) { return !field.spans.empty(); });
  return has_spans && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                 [&](const FoundField& x, const FoundField& y) { return best(x) == best(y); });
}

text::Offset SchemaTask::BytesOf(size_t input, const Span& span) const {
  const std::vector<text::Offset>& words = texts_[input].words;
  auto last = static_cast<size_t>(span.last);
  const auto is_added = [&](size_t word) { return words[word].start == words[word].end; };
  if (is_added(last) && span.last > span.first) --last;
  return {words[static_cast<size_t>(span.first)].start, words[last].end};
}

}  // namespace peruse
