// The head of GLiNER2 (Zaratiana et al., 2025; gliner2's SpanExtractorModel): finds the fields of a schema in a text. The text's tokens
// begin with the schema, in which a marker precedes the name of each part and each field; the rows of the markers are the labels of
// HeadInputs.
//
// Two runs give the scores. The run over the text gives the outputs below. A part of the schema may occur several times, and its count is the
// largest of the logits kCounts at its marker. The run over queries takes the vectors of a part's fields (QueryInputs), and gives one output
// per occurrence. The score of a span is the sigmoid of its vector times the query of a field.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/heads/entities.h"
#include "core/program/build.h"

namespace peruse {

// The outputs of these runs (BuildHead).
inline constexpr OutputId kCounts = {OutputKind::kLogits, 1};
inline constexpr OutputId kFieldVectors = {OutputKind::kLabelVectors, 1};
inline constexpr OutputId kSpanVectors = {OutputKind::kLabelVectors, 2};
// The vectors that the fields of occurrence `number` look for.
inline constexpr OutputId QueriesOf(int32_t number) { return {OutputKind::kLabelVectors, 3 + number}; }
inline constexpr bool IsQueries(OutputId id) { return id.kind == OutputKind::kLabelVectors && id.layer >= 3; }

// Number of logits of kCounts: a part occurs at most kMostOccurrences - 1 times.
inline constexpr int32_t kMostOccurrences = 20;

struct ExtractionHead {
  enum class Counting : uint8_t {
    kLstm,    // gliner2's CountLSTM
    kLstmV2,  // gliner2's CountLSTMv2: fields attend to each other
  };

  EntityHead spans;  // kMarkerV0
  Counting counting = Counting::kLstm;
};

// Adds the outputs
//   kLogits        [labels, 1], of a classification's labels
//   kCounts        [labels, kMostOccurrences], of the markers of parts
//   kFieldVectors  [labels, width]
//   kSpanVectors   [pairs, width], for pairs of first and last word
//   QueriesOf(t)   [labels, width], of occurrence t; the labels of this run are the fields of one part
void BuildHead(Build& b, Value hidden, const ExtractionHead& head);

// Returns the input of the run over queries, [fields, 2 * width]: a field's vector, then -1 in each column, because operations cannot
// subtract.
std::vector<float> QueryInputs(std::span<const float> fields, size_t width);

}  // namespace peruse
