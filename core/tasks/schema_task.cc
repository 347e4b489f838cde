#include "core/tasks/schema_task.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/base/memory.h"
#include "core/heads/extraction.h"
#include "core/tasks/dot_product.h"
#include "core/tasks/scores.h"
#include "core/text/text_span.h"

namespace peruse {
namespace {

// Maximum number of spans of a text: each needs a vector of 4 * width.
constexpr size_t kMostSpans = 16384;

bool IsClassification(const SchemaPart& part) { return part.kind == SchemaPart::Kind::kClassification; }

std::vector<float> Copy(const Matrix& matrix) { return {matrix.values.begin(), matrix.values.end()}; }

}  // namespace

Status SchemaTask::StartTexts(const std::vector<std::string>& texts, Schema schema, float threshold) {
  if (!(threshold >= 0 && threshold <= 1)) return InvalidArgument("option threshold must be a number from 0 to 1");
  PERUSE_RETURN_IF_ERROR(CheckSchema(schema));
  PERUSE_RETURN_IF_ERROR(ReadMarkers());
  schema_ = std::move(schema);
  threshold_ = threshold;
  words_ = WordsOf(schema_);
  finds_spans_ = !std::all_of(schema_.begin(), schema_.end(), IsClassification);
  texts_.resize(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (SplitSchemaText(texts[i]).empty()) {
      PERUSE_RETURN_IF_ERROR(Found(i, {}));
      continue;
    }
    PERUSE_ASSIGN_OR_RETURN(Reading reading, Read(i, texts[i]));
    Enqueue(std::move(reading));
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

Result<Reading> SchemaTask::Read(size_t input, std::string_view text) {
  // gliner2 splits the text together with the "." that it adds, so an address at the end contains the ".".
  const std::string sentence = std::string(text) + (text.find_last_of(".!?") + 1 == text.size() ? "" : ".");
  std::vector<text::Offset> found = SplitSchemaText(sentence);
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
  Reading reading = {.input = input, .tokens = std::move(encodings[0])};
  if (reading.tokens.size() > static_cast<size_t>(MaxTokens())) {
    return Status(StatusCode::kTextTooLong, "input " + std::to_string(input) + " and the schema have " +
                                                std::to_string(reading.tokens.size()) + " tokens and the model takes " +
                                                std::to_string(MaxTokens()));
  }
  const std::vector<WordRows> rows = RowsOfWords(reading.tokens.word_ids, all.size());
  for (const std::vector<int32_t>& markers : words_.markers) {
    for (const int32_t marker : markers) reading.head.labels.push_back(rows[static_cast<size_t>(marker)].first);
  }
  AddWords(rows, found, &texts_[input], &reading.head);
  if (texts_[input].words.empty()) {
    return Status(StatusCode::kEmptyText, "input " + std::to_string(input) + " has no word that the model knows");
  }
  if (!finds_spans_) return reading;
  if (choices_.empty()) NumberChoices(rows);
  PERUSE_RETURN_IF_ERROR(AddPairs(input, &reading.head));
  return reading;
}

// Adds the words of choices and of the text, except words without tokens.
void SchemaTask::AddWords(std::span<const WordRows> rows, std::span<const text::Offset> found, Text* text,
                          HeadLists* head) const {
  const size_t before = words_.words.size();
  for (auto word = static_cast<size_t>(words_.first_choice_word); word < rows.size(); ++word) {
    if (word == before) text->first = head->words.size();
    if (rows[word].count == 0) continue;
    head->words.push_back(rows[word].first);
    head->word_tokens.push_back(rows[word].count);
    if (word >= before) text->words.push_back(found[word - before]);
  }
}

// Adds one pair for each choice's word, and the spans of the text's words.
Status SchemaTask::AddPairs(size_t input, HeadLists* head) const {
  const auto first = static_cast<int32_t>(texts_[input].first), end = static_cast<int32_t>(head->words.size());
  const int32_t widest = std::get_if<SchemaInput>(&model_.config().label_input)->max_width;
  if (static_cast<size_t>(end - first) * static_cast<size_t>(std::min(widest, end - first)) > kMostSpans) {
    return Status(StatusCode::kTextTooLong,
                  "input " + std::to_string(input) + " has " + std::to_string(end - first) +
                      " words, and with spans of up to " + std::to_string(widest) + " words at most " +
                      std::to_string(kMostSpans / static_cast<size_t>(widest)) + " are read at once: split it");
  }
  for (int32_t word = 0; word < end; ++word) {
    const int32_t last = word < first ? word + 1 : std::min(word + widest, end);
    for (int32_t second = word; second < last; ++second) {
      head->pair_first.push_back(word);
      head->pair_second.push_back(second);
    }
  }
  return OkStatus();
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
  outputs = {};
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
      const bool sigmoid = part.function == SchemaPart::Function::kAuto
                               ? part.multi_label
                               : part.function == SchemaPart::Function::kSigmoid;
      Apply(sigmoid ? ScoreFunction::kSigmoid : ScoreFunction::kSoftmax, labels);
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
  if (part == schema_.size()) return Found(input, std::exchange(outputs.found, {}));
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
        float value[] = {Product(outputs.spans.data() + pair * width, queries.row(f).data(), width)};
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
        fields[f].spans.push_back({outputs.pair_first[pair] - first, outputs.pair_second[pair] - first, probability});
      }
    }
  }
}

text::Offset SchemaTask::BytesOf(size_t input, const Span& span) const {
  const std::vector<text::Offset>& words = texts_[input].words;
  auto last = static_cast<size_t>(span.last);
  const auto is_added = [&](size_t word) { return words[word].start == words[word].end; };
  if (is_added(last) && span.last > span.first) --last;
  return {words[static_cast<size_t>(span.first)].start, words[last].end};
}

}  // namespace peruse
