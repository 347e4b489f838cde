#include "core/tasks/structured_extraction.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/tasks/scores.h"

namespace peruse {
namespace {

bool HasValues(const std::vector<ExtractedField>& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const ExtractedField& field) { return !field.values.empty(); });
}

// gliner2's _decode_classification_probabilities.
void ChooseLabels(const SchemaPart& part, std::span<const float> probabilities, ExtractedPart& result) {
  result.several_labels = part.multi_label;
  std::vector<size_t> chosen =
      BestFirst(probabilities, part.multi_label ? static_cast<size_t>(part.top_k.value_or(0)) : 1);
  if (part.multi_label) {
    if (!part.top_k) std::iota(chosen.begin(), chosen.end(), size_t{0});
    std::erase_if(chosen, [&](size_t i) { return !(probabilities[i] >= part.label_threshold); });
    if (chosen.empty()) chosen = BestFirst(probabilities, 1);
  }
  for (const size_t i : chosen) result.labels.push_back({part.fields[i].name, probabilities[i], std::nullopt});
}

// gliner2's choice fields: all choices with the threshold, or the best one.
std::vector<ExtractedValue> ChosenOf(const SchemaField& field, std::span<const float> probabilities, float threshold) {
  std::vector<ExtractedValue> values;
  for (size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] < threshold) continue;
    const auto is_same = [&](const ExtractedValue& value) { return value.text == field.choices[i]; };
    if (field.list && std::any_of(values.begin(), values.end(), is_same)) continue;
    if (!field.list && !values.empty() && probabilities[i] <= values[0].confidence) continue;
    if (!field.list) values.clear();
    values.push_back({field.choices[i], probabilities[i], std::nullopt});
  }
  return values;
}

}  // namespace

Status StructuredExtraction::Start() { return StartTexts(request.inputs, request.schema, request.threshold); }

Status StructuredExtraction::Found(size_t input, std::vector<FoundPart> parts) {
  Extraction result;
  Utf8IndexConverter index(request.inputs[input].text);
  for (size_t i = 0; i < parts.size(); ++i) result.parts.push_back(Extract(input, schema()[i], parts[i], index));
  Give(input, std::move(result));
  return OkStatus();
}

ExtractedPart StructuredExtraction::Extract(size_t input, const SchemaPart& part, const FoundPart& found,
                                            Utf8IndexConverter& index) const {
  ExtractedPart result = {.kind = part.kind, .name = part.name};
  if (part.kind == SchemaPart::Kind::kClassification) {
    ChooseLabels(part, found.labels, result);
    return result;
  }
  const bool pairs = part.kind == SchemaPart::Kind::kRelation;
  const bool entities = part.kind == SchemaPart::Kind::kEntities;
  for (const std::vector<FoundField>& occurrence : found.occurrences) {
    std::vector<ExtractedField> fields;
    for (size_t f = 0; f < part.fields.size(); ++f) {
      fields.push_back(FieldOf(input, part.fields[f], occurrence[f], part.fields[f].list && !pairs, index));
    }
    const bool whole =
        std::all_of(fields.begin(), fields.end(), [](const auto& field) { return !field.values.empty(); });
    if (entities || (pairs ? whole : HasValues(fields))) result.occurrences.push_back(std::move(fields));
  }
  if (!entities || !result.occurrences.empty()) return result;
  std::vector<ExtractedField>& none = result.occurrences.emplace_back();
  for (const SchemaField& field : part.fields) none.push_back({field.name, field.list, {}});
  return result;
}

// The most probable spans that do not overlap (gliner2's finalize_spans).
ExtractedField StructuredExtraction::FieldOf(size_t input, const SchemaField& field, const FoundField& found, bool list,
                                             Utf8IndexConverter& index) const {
  ExtractedField result = {field.name, list, {}};
  if (!field.choices.empty()) {
    result.values = ChosenOf(field, found.choices, field.threshold.value_or(request.threshold));
    return result;
  }
  std::vector<float> scores;
  for (const Span& span : found.spans) scores.push_back(span.score);
  std::vector<Span> kept;
  for (const size_t i : BestFirst(scores)) {
    const Span& span = found.spans[i];
    const auto overlaps = [&](const Span& other) { return span.first <= other.last && other.first <= span.last; };
    if (std::none_of(kept.begin(), kept.end(), overlaps)) kept.push_back(span);
    if (!list) break;
  }
  const std::string_view text = request.inputs[input].text;
  for (const Span& span : kept) {
    const text::Offset bytes = BytesOf(input, span);
    if (bytes.start == bytes.end) continue;
    result.values.push_back({std::string(Slice(text, bytes)), span.score, ToTextSpan(index, bytes)});
  }
  return result;
}

}  // namespace peruse
