// Parses requests, {"inputs": [...], "options": {...}}. Options have the names and defaults of the request structs, which document them.
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

// Names in the order of the enumerations' values.
inline constexpr std::string_view kPoolings[] = {"none",     "cls",        "mean",   "max",
                                                 "sentence", "last_token", "splade", "multi_vector"};
inline constexpr std::string_view kTextRoles[] = {"query", "document"};
inline constexpr std::string_view kAggregations[] = {"none", "simple", "first", "max", "average"};
inline constexpr std::string_view kWindowChoices[] = {"max", "mean"};
inline constexpr std::string_view kScoreFunctions[] = {"sigmoid", "none", "softmax"};

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

inline void ReadOptions(OptionReader& reader, FeatureExtractionRequest* request) {
  reader.ReadOptional("pooling", &request->pooling, std::span(kPoolings));
  reader.ReadOptional("prompt", &request->prompt);
  reader.ReadOptional("prompt_name", &request->prompt_name);
  reader.ReadOptional("task", &request->role, std::span(kTextRoles));
  reader.ReadOptional("dimensions", &request->dimensions, 1);
  reader.ReadOptional("top_k", &request->top_k, 1);
  reader.Read("layer", INT32_MIN, &request->layer);
  reader.Read("normalize", &request->normalize);
  reader.Read("truncation", &request->truncation);
}

inline void ReadOptions(OptionReader& reader, FillMaskRequest* request) {
  reader.Read("top_k", 1, &request->top_k);
  reader.ReadOptional("targets", &request->targets);
}

inline void ReadOptions(OptionReader& reader, InspectionRequest* request) {
  reader.Read("output_attentions", &request->output_attentions);
  reader.Read("output_span_kernels", &request->output_span_kernels);
  reader.Read("output_hidden_states", &request->output_hidden_states);
  reader.Read("output_attention_terms", &request->output_attention_terms);
  reader.Read("output_logits", &request->output_logits);
  reader.ReadOptional("layers", &request->layers);
  reader.ReadOptional("labels", &request->labels);
  reader.Read("truncation", &request->truncation);
}

inline void ReadOptions(OptionReader&, MultipleChoiceRequest*) {}

inline void ReadOptions(OptionReader& reader, QuestionAnsweringRequest* request) {
  reader.Read("top_k", 1, &request->top_k);
  reader.Read("max_answer_len", 1, &request->max_answer_len);
  reader.ReadOptional("max_length", &request->max_length, 1);
  reader.ReadOptional("stride", &request->stride, 0);
  reader.Read("handle_impossible_answer", &request->handle_impossible_answer);
  reader.Read("align_to_words", &request->align_to_words);
}

inline void ReadOptions(OptionReader&, ReplacedTokenRequest*) {}

inline void ReadOptions(OptionReader& reader, ExtractionRequest* request) {
  reader.Read("threshold", &request->threshold);
  Result<Schema> schema = ReadSchema(reader.Member("schema"));
  if (schema.ok()) {
    request->schema = *std::move(schema);
  } else {
    reader.Fail(schema.status());
  }
}

inline void ReadOptions(OptionReader& reader, TextClassificationRequest* request) {
  if (reader.Member("top_k").IsNull()) {
    request->top_k = 0;
  } else {
    reader.Read("top_k", 1, &request->top_k);
  }
  reader.ReadOptional("function_to_apply", &request->function, std::span(kScoreFunctions));
  reader.Read("temperature", &request->temperature);
  reader.Read("truncation", &request->truncation);
  reader.ReadOptional("stride", &request->stride, 0);
  reader.ReadOptional("max_length", &request->max_length, 1);
  reader.Read("windows", kWindowChoices, &request->windows);
  reader.Read("window_label", &request->window_label);
}

inline void ReadOptions(OptionReader& reader, TextRankingRequest* request) {
  reader.Read("top_k", 1, &request->top_k);
  reader.ReadOptional("function_to_apply", &request->function, std::span(kScoreFunctions));
  reader.ReadOptional("max_length", &request->max_length, 1);
  reader.Read("label", &request->label);
  reader.ReadOptional("prompt", &request->prompt);
  reader.ReadOptional("prompt_name", &request->prompt_name);
}

inline void ReadOptions(OptionReader& reader, TokenClassificationRequest* request) {
  reader.Read("aggregation_strategy", kAggregations, &request->aggregation_strategy);
  reader.Read("ignore_labels", &request->ignore_labels);
  reader.Read("recall", &request->recall);
  reader.ReadOptional("stride", &request->stride, 0);
  reader.ReadOptional("max_length", &request->max_length, 1);
  reader.Read("windows", &request->windows);
}

inline void ReadOptions(OptionReader& reader, ZeroShotEntityRequest* request) {
  reader.Read("labels", &request->labels);
  reader.Read("threshold", &request->threshold);
  reader.Read("flat_ner", &request->flat_ner);
  reader.Read("multi_label", &request->multi_label);
}

inline void ReadOptions(OptionReader& reader, ZeroShotRequest* request) {
  reader.Read("candidate_labels", &request->candidate_labels);
  reader.Read("hypothesis_template", &request->hypothesis_template);
  reader.Read("multi_label", &request->multi_label);
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
