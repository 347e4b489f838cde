// How models that read labels with a text receive both. A family builds one of these from its configuration; the task of the model reads it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/heads/label_scores.h"

namespace peruse {

// GLiNER: labels, each after a marker, then the words of a text.
struct EntityInput {
  // The tokens whose vectors represent a word.
  enum class Word : uint8_t { kFirstToken, kLastToken, kAllTokens };

  std::string marker;        // before each label
  std::string separator;     // after the last label
  int32_t marker_id = -1;    // -1 means that the markers follow the vocabulary
  bool embed_marker = true;  // whether the label's vector is the marker's; otherwise that of the next token
  bool in_text = true;       // whether the input contains labels; otherwise labels are only vectors
  Word word = Word::kFirstToken;
  int32_t max_words = 0;  // maximum words per window
  int32_t max_width = 0;  // maximum words of a span; 0 means any number, found token by token
};

// GLiClass: a text joined with labels.
struct LabelledInput {
  // The tokens of the text that count as words. kPadded: like kAll, but zero-padded to the full input length, as transformers does.
  enum class Words : uint8_t { kFirst, kAll, kPadded };

  std::string marker;     // before each label
  std::string separator;  // after the last label
  int32_t marker_id = -1;
  int32_t separator_id = -1;
  LabelHead::Labels labels = LabelHead::Labels::kRows;
  bool embed_marker = true;     // whether the label's vector is the marker's; otherwise that of the next token
  bool label_tokens = false;    // whether all tokens of a label represent it
  bool labels_first = false;    // whether labels precede the text
  bool from_separator = false;  // whether the text starts at the separator; otherwise it is the whole input
  Words words = Words::kFirst;

  // Whether the input contains labels, or positions for them.
  bool in_text() const { return labels != LabelHead::Labels::kVectors; }
};

// GLiNER2: a schema, then the words of a text.
struct SchemaInput {
  int32_t max_width = 0;  // maximum words of a span
};

using LabelInput = std::variant<std::monostate, EntityInput, LabelledInput, SchemaInput>;

}  // namespace peruse
