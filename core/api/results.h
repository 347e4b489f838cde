#pragma once

#include <cmath>

#include "core/api/result_writer.h"
#include "core/tasks/feature_extraction.h"
#include "core/tasks/fill_mask.h"
#include "core/tasks/inspector.h"
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

inline void Write(ResultWriter& writer, const InspectedArray& it) { writer.Array(it.values, it.dims); }

inline void Write(ResultWriter& writer, const InspectedToken& it) {
  writer.BeginObject();
  writer.Fields(
      {{"token", it.token}, {"id", it.id}, {"start", it.span.start}, {"end", it.span.end}, {"special", it.special}});
  writer.Key("sequence");
  if (it.sequence < 0) {
    writer.Null();
  } else {
    writer.Int(it.sequence);
  }
  writer.EndObject();
}

inline void Write(ResultWriter& writer, const TextSpan& it) { writer.Object({{"start", it.start}, {"end", it.end}}); }

inline void Write(ResultWriter& writer, const std::string& it) { writer.String(it); }
inline void Write(ResultWriter& writer, int32_t it) { writer.Int(it); }
inline void Write(ResultWriter& writer, float it) { writer.Double(it); }
// Writes infinity as null, because JSON cannot represent it.
inline void Write(ResultWriter& writer, double it) { std::isfinite(it) ? writer.Double(it) : writer.Null(); }

template <typename T>
void Write(ResultWriter& writer, const std::vector<T>& list) {
  writer.BeginArray();
  for (const T& item : list) Write(writer, item);
  writer.EndArray();
}

template <typename T>
void WriteMember(ResultWriter& writer, std::string_view name, const std::vector<T>& list) {
  writer.Key(name);
  Write(writer, list);
}

inline void Write(ResultWriter& writer, const Answer& it) {
  writer.Object({{"answer", it.answer}, {"score", it.score}, {"start", it.span.start}, {"end", it.span.end}});
}

inline void Write(ResultWriter& writer, const ChoiceScore& it) {
  writer.Object({{"choice", it.choice}, {"score", it.score}});
}

inline void Write(ResultWriter& writer, const Entity& it) {
  writer.BeginObject();
  writer.Fields({{it.index ? "entity" : "entity_group", it.label}, {"score", it.score}});
  if (it.index) writer.Fields({ResultWriter::Field("index", *it.index)});
  writer.Fields({{"word", it.word}, {"start", it.span.start}, {"end", it.span.end}});
  if (it.certainty) writer.Fields({{"certainty", *it.certainty}});
  writer.EndObject();
}

// Dense vectors are an array; a sparse one is an object.
inline void Write(ResultWriter& writer, Features it) {
  if (!it.is_sparse) return writer.Array(std::move(it.values), it.dims);
  const auto count = static_cast<int64_t>(it.values.size());
  writer.BeginObject();
  WriteMember(writer, "indices", it.indices);
  WriteMember(writer, "tokens", it.tokens);
  writer.Fields({ResultWriter::Field("size", it.dims[0])});
  writer.Key("values");
  writer.Array(std::move(it.values), {count});
  writer.EndObject();
}

inline void Write(ResultWriter& writer, const InspectedTerms& it) {
  writer.BeginObject();
  const auto member = [&](std::string_view name, const std::vector<float>& values) {
    if (values.empty()) return;
    writer.Key(name);
    writer.Array(values, it.dims);
  };
  member("content_to_content", it.content_to_content);
  member("content_to_position", it.content_to_position);
  member("position_to_content", it.position_to_content);
  writer.EndObject();
}

inline void Write(ResultWriter& writer, const InspectionResult& it) {
  writer.BeginObject();
  WriteMember(writer, "tokens", it.tokens);
  if (!it.attentions.empty()) {
    WriteMember(writer, "attentions", it.attentions);
    WriteMember(writer, "diagonal_concentration", it.diagonal_concentration);
  }
  if (!it.span_kernels.empty()) WriteMember(writer, "span_kernels", it.span_kernels);
  if (!it.hidden_states.empty()) WriteMember(writer, "hidden_states", it.hidden_states);
  if (!it.attention_terms.empty()) WriteMember(writer, "attention_terms", it.attention_terms);
  if (!it.logits.values.empty()) {
    writer.Key("logits");
    Write(writer, it.logits);
  }
  if (!it.spans.empty()) WriteMember(writer, "spans", it.spans);
  writer.EndObject();
}

inline void Write(ResultWriter& writer, const ExtractedValue& it) {
  writer.BeginObject();
  writer.Fields({{"text", it.text}, {"confidence", it.confidence}});
  if (it.span) writer.Fields({{"start", it.span->start}, {"end", it.span->end}});
  writer.EndObject();
}

void Write(ResultWriter& writer, const Extraction& it);

inline void Write(ResultWriter& writer, const LabelledSpan& it) {
  writer.Object(
      {{"label", it.label}, {"text", it.text}, {"score", it.score}, {"start", it.span.start}, {"end", it.span.end}});
}

inline void Write(ResultWriter& writer, const LabelScore& it) {
  writer.BeginObject();
  writer.Fields({{"label", it.label}, {"score", it.score}});
  if (it.window) writer.Fields({{"start", it.window->start}, {"end", it.window->end}});
  writer.EndObject();
}

inline void Write(ResultWriter& writer, const MaskProposal& it) {
  writer.Object({{"score", it.score}, {"token", it.token}, {"token_str", it.token_str}, {"sequence", it.sequence}});
}

inline void Write(ResultWriter& writer, const RankedDocument& it) {
  writer.BeginObject();
  writer.Fields({{"corpus_id", it.corpus_id}, {"score", it.score}});
  if (!it.scores.empty()) WriteMember(writer, "scores", it.scores);
  writer.EndObject();
}

inline void Write(ResultWriter& writer, const TokenReplacement& it) {
  writer.Object({{"word", it.word},
                 {"score", it.score},
                 {"replaced", it.replaced},
                 {"index", it.index},
                 {"start", it.span.start},
                 {"end", it.span.end}});
}

inline void Write(ResultWriter& writer, const ZeroShotScores& it) {
  writer.BeginObject();
  WriteMember(writer, "labels", it.labels);
  WriteMember(writer, "scores", it.scores);
  writer.EndObject();
}

}  // namespace peruse
