// Fills in a schema from a text with a GLiNER2 model (gliner2's extract, with confidences and offsets).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tasks/labels/gliner2_task.h"

namespace peruse {

struct ExtractionRequest {
  std::vector<WordText> inputs;
  Schema schema;
  float threshold = 0.5f;  // minimum probability of a field without its own, inclusive
};

struct ExtractedValue {
  std::string text;
  float confidence = 0;
  std::optional<TextSpan> span;  // nullopt for a choice
};

struct ExtractedField {
  std::string name;
  bool list = true;  // otherwise at most one value
  std::vector<ExtractedValue> values;
};

struct ExtractedPart {
  SchemaPart::Kind kind;
  std::string name;
  // [occurrence][field]; entities have one occurrence, relations have the fields "head" and "tail".
  std::vector<std::vector<ExtractedField>> occurrences;
  std::vector<ExtractedValue> labels;  // of a classification
  bool several_labels = false;
};

struct Extraction {
  std::vector<ExtractedPart> parts;
};

class StructuredExtraction : public TaskOf<ExtractionRequest, Extraction, SchemaTask> {
 public:
  static constexpr Head kHead = Head::kEntities;
  explicit StructuredExtraction(const TaskContext& context) : TaskOf(context) {}
  Status Start() override;

 protected:
  Status Found(size_t input, std::vector<FoundPart> parts) override;

 private:
  // `index` is of the text of `input`.
  ExtractedPart Extract(size_t input, const SchemaPart& part, const FoundPart& found, Utf8IndexConverter& index) const;
  ExtractedField FieldOf(size_t input, const SchemaField& field, const FoundField& found, bool list,
                         Utf8IndexConverter& index) const;
};

}  // namespace peruse
