// A task with a GLiNER2 model: reads each text with a schema, and finds what the schema names (core/heads/extraction.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/schema.h"
#include "core/tasks/task.h"

namespace peruse {

class SchemaTask : public Task {
 protected:
  // A span of the text's words, the last one included.
  struct Span {
    int32_t first;
    int32_t last;
    float score;
  };
  struct FoundField {
    std::vector<Span> spans;     // with at least the field's threshold, in the order of first words, then of last words
    std::vector<float> choices;  // the probability of each choice
  };
  struct FoundPart {
    std::vector<std::vector<FoundField>> occurrences;  // [occurrence][field]; none of a classification
    std::vector<float> labels;                         // the probability of each label of a classification
  };

  explicit SchemaTask(const TaskContext& context) : Task(context) {}

  // Reads `texts`, which must outlive the task. `threshold` is that of fields without their own. Blank texts give no parts.
  Status StartTexts(const std::vector<std::string>& texts, Schema schema, float threshold);
  virtual Status Found(size_t input, std::vector<FoundPart> parts) = 0;

  const Schema& schema() const { return schema_; }
  // Returns the bytes of a span; an empty range if it is only the "." that gliner2 puts after texts.
  text::Offset BytesOf(size_t input, const Span& span) const;

  std::vector<OutputId> WantedBy(const Reading& reading) const override;
  Status Collect(const Reading& reading, size_t text) override;

 private:
  struct Text {
    std::vector<text::Offset> words;  // those with tokens; the added "." is empty
    size_t first = 0;  // number of the first word among HeadInputs' words, of which choices are the first
  };
  struct WordRows {
    int32_t first = -1;  // row of the first token
    int32_t count = 0;   // number of tokens
  };
  struct Outputs {
    std::vector<float> fields;  // [labels, width]
    std::vector<float> spans;   // [pairs, width]
    std::vector<int32_t> pair_first, pair_second;
    std::vector<int32_t> counts;  // of occurrences, for each part
    std::vector<FoundPart> found;
  };

  Status ReadMarkers() const;
  Result<Reading> Read(size_t input, std::string_view text);
  static std::vector<WordRows> RowsOfWords(std::span<const int32_t> word_ids, size_t words);
  void AddWords(std::span<const WordRows> rows, std::span<const text::Offset> found, Text* text, HeadLists* head) const;
  Status AddPairs(size_t input, HeadLists* head) const;
  void NumberChoices(std::span<const WordRows> rows);
  // Runs the next part from number `part` on, or gives the results.
  Status Proceed(size_t input, size_t part);
  Status CollectText(const Reading& reading, size_t text);
  void CollectPart(const SchemaPart& part, size_t text, const Text& words, FoundPart& found) const;
  // Row of the part's marker among the labels.
  size_t RowOf(size_t part) const;

  Schema schema_;
  SchemaWords words_;
  std::vector<std::vector<std::vector<int32_t>>>
      choices_;  // [part][field][choice]: the choice's number among HeadInputs' words, or -1
  float threshold_ = 0.5f;
  bool finds_spans_ = false;
  std::vector<Text> texts_;
  Outputs outputs_of_text_;
  std::vector<float> query_inputs_;
};

}  // namespace peruse
