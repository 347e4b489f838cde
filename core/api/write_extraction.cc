#include "core/api/results.h"

namespace peruse {
namespace {

using Kind = SchemaPart::Kind;

// A list of values, or one value or null.
void WriteValues(ResultWriter& writer, std::string_view name, const std::vector<ExtractedValue>& values, bool list) {
  writer.Key(name);
  if (list) {
    Write(writer, values);
  } else if (values.empty()) {
    writer.Null();
  } else {
    Write(writer, values[0]);
  }
}

void WriteFields(ResultWriter& writer, const std::vector<ExtractedField>& fields) {
  writer.BeginObject();
  for (const ExtractedField& field : fields) WriteValues(writer, field.name, field.values, field.list);
  writer.EndObject();
}

void WriteLabel(ResultWriter& writer, const ExtractedValue& label) {
  writer.Object({{"label", label.text}, {"confidence", label.confidence}});
}

void WriteLabels(ResultWriter& writer, const ExtractedPart& part) {
  if (!part.several_labels) return WriteLabel(writer, part.labels[0]);
  writer.BeginArray();
  for (const ExtractedValue& label : part.labels) WriteLabel(writer, label);
  writer.EndArray();
}

void WritePart(ResultWriter& writer, const ExtractedPart& part) {
  writer.Key(part.name);
  if (part.kind == Kind::kClassification) return WriteLabels(writer, part);
  if (part.kind == Kind::kEntities) return WriteFields(writer, part.occurrences[0]);
  writer.BeginArray();
  for (const std::vector<ExtractedField>& fields : part.occurrences) WriteFields(writer, fields);
  writer.EndArray();
}

}  // namespace

void Write(ResultWriter& writer, const Extraction& it) {
  writer.BeginObject();
  bool relates = false;
  for (const ExtractedPart& part : it.parts) {
    if (part.kind == Kind::kRelation) {
      relates = true;
    } else {
      WritePart(writer, part);
    }
  }
  if (relates) {
    writer.Key("relation_extraction");
    writer.BeginObject();
    for (const ExtractedPart& part : it.parts) {
      if (part.kind == Kind::kRelation) WritePart(writer, part);
    }
    writer.EndObject();
  }
  writer.EndObject();
}

}  // namespace peruse
