// What a GLiNER2 looks for in a text (gliner2's Schema), and the words before the text that say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/text/encoding.h"

namespace peruse {

// An entity type, a field of a structure, an end of a relation, or a label of a classification.
struct SchemaField {
  std::string name;
  std::optional<std::string> description = {};
  std::optional<float> threshold = {};    // minimum probability, inclusive
  bool list = true;                       // whether all values count; otherwise only the best one
  std::vector<std::string> choices = {};  // the only possible values, also if the text does not contain them
};

struct SchemaPart {
  enum class Kind : uint8_t { kStructure, kEntities, kRelation, kClassification };
  enum class Function : uint8_t { kAuto, kSigmoid, kSoftmax };

  Kind kind = Kind::kEntities;
  std::string name;
  std::vector<SchemaField> fields;
  std::string prompt = {};  // an instruction, or a relation's description
  // The following members belong to classifications.
  std::vector<std::pair<std::string, std::string>> examples = {};  // texts and their labels
  bool multi_label = false;
  float label_threshold = 0.5f;
  std::optional<int32_t> top_k = {};
  Function function = Function::kAuto;
};

// In gliner2's order of kinds: structures, entities, relations, classifications.
using Schema = std::vector<SchemaPart>;

// Words of the input in front of the text, each of which is tokenized alone, and the numbers of those whose vectors count.
struct SchemaWords {
  std::vector<std::string> words;
  std::vector<std::vector<int32_t>> markers;  // for each part: the marker of the part, then those of its fields
  int32_t first_choice_word = 0;  // words from here on belong to the text: the choices of structures' fields
};
SchemaWords WordsOf(const Schema& schema);

// Errors: kInvalidArgument if a name is empty or used twice, or a string contains one of the model's markers.
Status CheckSchema(const Schema& schema);

inline constexpr std::string_view kSchemaMarkers[] = {
    "[SEP_STRUCT]", "[SEP_TEXT]", "[P]", "[C]", "[E]", "[R]", "[L]", "[EXAMPLE]", "[OUTPUT]", "[DESCRIPTION]"};

// Returns the byte ranges of words as in gliner2's WhitespaceTokenSplitter: addresses of pages, of mail and of people (@name) are words,
// letters are joined by "-" and "_", and any other character except white space is a word of its own.
std::vector<text::Offset> SplitSchemaText(std::string_view text);

// Python's str.lower().
std::string Lowered(std::string_view text);

}  // namespace peruse
