#include "core/tasks/labels/gliner2_zero_shot.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/tasks/labels/entity_decoding.h"

namespace peruse {

Status SchemaEntities::Start() {
  SchemaPart part = {.kind = SchemaPart::Kind::kEntities, .name = "entities"};
  std::set<std::string_view> known;
  for (const std::string& label : request.labels) {
    if (known.insert(label).second) part.fields.push_back({.name = label});
  }
  if (part.fields.empty()) return InvalidArgument("option labels must name at least one label");
  return StartTexts(request.inputs, {std::move(part)}, request.threshold);
}

Status SchemaEntities::Found(size_t input, std::vector<FoundPart> parts) {
  const std::string_view text = request.inputs[input].text;
  std::vector<EntityCandidate> candidates;
  if (!parts[0].occurrences.empty()) {
    const std::vector<FoundField>& fields = parts[0].occurrences[0];
    for (size_t f = 0; f < fields.size(); ++f) {
      for (const Span& span : fields[f].spans) {
        const text::Offset bytes = BytesOf(input, span);
        if (span.score <= request.threshold || bytes.start == bytes.end) continue;
        candidates.push_back({span.first, span.last, static_cast<int32_t>(f), span.score});
      }
    }
  }
  Utf8IndexConverter index(text);
  std::vector<LabelledSpan> entities;
  for (const EntityCandidate& it : ChooseEntities(std::move(candidates), {request.flat_ner, request.multi_label})) {
    const text::Offset bytes = BytesOf(input, {it.first, it.last, it.score});
    entities.push_back({schema()[0].fields[static_cast<size_t>(it.label)].name, std::string(Slice(text, bytes)),
                        it.score, ToTextSpan(index, bytes)});
  }
  Give(input, std::move(entities));
  return OkStatus();
}

Status SchemaLabels::Start() {
  SchemaPart part = {.kind = SchemaPart::Kind::kClassification, .name = "classification"};
  for (const std::string& label : request.candidate_labels) part.fields.push_back({.name = label});
  if (part.fields.empty()) return InvalidArgument("option candidate_labels must name at least one label");
  part.multi_label = request.multi_label;
  return StartTexts({request.inputs.begin(), request.inputs.end()}, {std::move(part)}, 0);
}

Status SchemaLabels::Found(size_t input, std::vector<FoundPart> parts) {
  Give(input, BestLabels(request.candidate_labels, std::move(parts[0].labels)));
  return OkStatus();
}

}  // namespace peruse
