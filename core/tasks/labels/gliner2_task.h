// A task with a GLiNER2 model: reads each text with a schema, and finds what the schema names (core/heads/extraction.h). A text that is too
// long to be read at once is read in overlapping windows: spans and occurrences of all of them count, and the mean of a label's logits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/labels/gliner2_schema.h"
#include "core/tasks/task.h"
#include "core/tasks/word_text.h"

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

  // Reads `texts`. `threshold` is that of fields without their own. Blank texts give no parts.
  Status StartTexts(const std::vector<WordText>& texts, Schema schema, float threshold);
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
  // A text with the schema, tokenized: rows of all words, of which `words` without the schema's belong to the text.
  struct Tokens {
    text::Encoding all;
    std::vector<WordRows> rows;
    std::vector<size_t> text_rows;  // indices in `rows` of the text's words that have tokens
    size_t schema = 0;              // number of the schema's tokens, which precede those of the text
  };
  struct Outputs {
    int32_t first_word = 0;     // index of the window's first word in the text
    bool last = true;           // whether it is the last window
    std::vector<float> fields;  // [labels, width]
    std::vector<float> spans;   // [pairs, width]
    std::vector<int32_t> pair_first, pair_second;
    std::vector<int32_t> counts;  // of occurrences, for each part
    std::vector<FoundPart> found;
  };
  // The results of an input's windows so far.
  struct Merged {
    std::vector<FoundPart> parts;
    int32_t windows = 0;
  };

  Status ReadMarkers() const;
  Result<std::vector<Reading>> Read(size_t input, const WordText& text);
  Result<Tokens> Tokenize(size_t input, const WordText& text);
  // Returns the end of the window that begins with word `first` of the text.
  size_t WindowEnd(const Tokens& tokens, size_t first) const;
  Reading WindowOf(size_t input, const Tokens& tokens, size_t first, size_t end) const;
  static std::vector<WordRows> RowsOfWords(std::span<const int32_t> word_ids, size_t words);
  void AddPairs(size_t input, HeadLists* head) const;
  int32_t WidestSpan() const;
  int32_t MostTokens() const;
  void NumberChoices(std::span<const WordRows> rows);
  // Runs the next part from number `part` on, or gives the results.
  Status Proceed(size_t input, size_t part);
  Status CollectText(const Reading& reading, size_t text);
  Status EndWindow(size_t input);
  void Merge(std::vector<FoundPart> window);
  // Computes probabilities of labels, and removes spans and occurrences that two windows found.
  std::vector<FoundPart> TakeMerged();
  static void KeepBestOfEqualSpans(std::vector<Span>* spans);
  // Whether there are spans, and the best ones of all fields are equal.
  static bool HaveSameBest(const std::vector<FoundField>& a, const std::vector<FoundField>& b);
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
  Merged merged_;
  std::vector<float> query_inputs_;
};

}  // namespace peruse
