// Parses requests, {"inputs": [...], "options": {...}}. The request structs list their options, with names and defaults.
#pragma once

#include "core/api/option_reader.h"
#include "core/api/schema_reader.h"
#include "core/tasks/feature_extraction.h"
#include "core/tasks/fill_mask.h"
#include "core/tasks/inspector.h"
#include "core/tasks/labels/gliclass_classification.h"
#include "core/tasks/labels/gliner2_zero_shot.h"
#include "core/tasks/multiple_choice.h"
#include "core/tasks/question_answering.h"
#include "core/tasks/replaced_token_detection.h"
#include "core/tasks/structured_extraction.h"
#include "core/tasks/text_classification.h"
#include "core/tasks/text_ranking.h"
#include "core/tasks/token_classification.h"
#include "core/tasks/zero_shot_classification.h"
#include "core/tasks/zero_shot_token_classification.h"

namespace peruse {

// Reads an input: {"text"}; {"text", "words"?}, with the UTF-16 start and end of each word; {"text", "text_pair"?}; {"ids", "type_ids"?};
// {"prompt", "choices": [...]}; {"question", "context"}; {"query", "documents": [...]}.
inline void ReadInput(OptionReader& reader, std::string* text) { reader.ReadText("text", text); }

inline void ReadInput(OptionReader& reader, WordText* input) {
  reader.ReadText("text", &input->text);
  std::optional<std::vector<int32_t>> words;
  reader.ReadOptional("words", &words);
  if (words) reader.Fail(SetWords(*words, input));
}

inline void ReadInput(OptionReader& reader, TextInput* input) {
  reader.ReadText("text", &input->text);
  reader.ReadOptional("text_pair", &input->pair);
}

inline void ReadInput(OptionReader& reader, InspectedInput* input) {
  reader.ReadOptional("ids", &input->ids);
  reader.ReadOptional("type_ids", &input->type_ids);
  if (!input->ids) ReadInput(reader, static_cast<TextInput*>(input));
}

inline void ReadInput(OptionReader& reader, ChoiceInput* input) {
  reader.ReadText("prompt", &input->prompt);
  reader.Read("choices", &input->choices);
}

inline void ReadInput(OptionReader& reader, QuestionInput* input) {
  reader.ReadText("question", &input->question);
  reader.ReadText("context", &input->context);
}

inline void ReadInput(OptionReader& reader, RankingInput* input) {
  reader.ReadText("query", &input->query);
  reader.Read("documents", &input->documents);
}

// Reads the options that a request lists.
template <typename Request>
void ReadOptions(OptionReader& reader, Request* request) {
  if constexpr (requires { request->ReadOptions(reader); }) request->ReadOptions(reader);
}

inline void ReadOptions(OptionReader& reader, ExtractionRequest* request) {
  reader.Read("threshold", &request->threshold);
  Result<Schema> schema = ReadSchema(reader.Member("schema"));
  if (schema.ok()) {
    request->schema = *std::move(schema);
  } else {
    reader.Fail(schema.status());
  }
}

// Calls each task's reader through a pointer instead of being a template, to keep the module small.
inline Status ReadRequest(JsonValue json, void* request, void (*read_input)(OptionReader&, void*),
                          void (*read_options)(OptionReader&, void*)) {
  const JsonValue inputs = json.FindMember("inputs");
  if (!inputs.IsArray()) return InvalidArgument("the request has no array \"inputs\"");
  for (const JsonValue input : inputs) {
    OptionReader reader(input);
    read_input(reader, request);
    PERUSE_RETURN_IF_ERROR(reader.status());
  }
  OptionReader reader(json.FindMember("options"));
  read_options(reader, request);
  return reader.status();
}

template <typename Request>
Status ReadRequest(JsonValue json, Request* request) {
  return ReadRequest(
      json, request,
      [](OptionReader& reader, void* of) { ReadInput(reader, &static_cast<Request*>(of)->inputs.emplace_back()); },
      [](OptionReader& reader, void* of) { ReadOptions(reader, static_cast<Request*>(of)); });
}

}  // namespace peruse
