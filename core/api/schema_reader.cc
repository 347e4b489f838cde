#include "core/api/schema_reader.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/api/option_reader.h"

namespace peruse {
namespace {

using Names = std::initializer_list<std::string_view>;

// Members that gliner2 reads for models with another architecture, or for a second question about each entity.
constexpr std::string_view kOfOthers[] = {"entity_attributes", "mode",        "anchor",
                                          "occurrence_policy", "cardinality", "exclusive"};

Status CheckMembers(JsonValue object, std::string_view what, Names known) {
  if (!object.IsObject()) return InvalidArgument(std::string(what) + " must be an object, not " + object.ToString());
  for (size_t i = 0; i < object.size(); ++i) {
    const std::string_view name = object.MemberName(i);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const bool of_others = std::find(std::begin(kOfOthers), std::end(kOfOthers), name) != std::end(kOfOthers);
    const std::string message = std::string(what) + " has \"" + std::string(name.substr(0, 100)) + "\"";
    return of_others ? Unsupported(message + ", which is not supported")
                     : InvalidArgument(message + ", which is unknown");
  }
  return OkStatus();
}

// Description, type and threshold of a field.
Status ReadField(JsonValue json, SchemaField& field) {
  enum { kText, kList } type = field.list ? kList : kText;
  constexpr std::string_view kTypes[] = {"str", "list"};
  OptionReader reader(json);
  reader.ReadOptional("description", &field.description);
  reader.ReadOptional("threshold", &field.threshold);
  reader.Read("dtype", kTypes, &type);
  field.list = type == kList;
  PERUSE_RETURN_IF_ERROR(reader.status());
  if (!field.threshold || (*field.threshold >= 0 && *field.threshold <= 1)) return OkStatus();
  return InvalidArgument("the threshold of \"" + field.name.substr(0, 100) + "\" must be a number from 0 to 1");
}

// A list of names, or an object with a description or options for each name.
Result<std::vector<SchemaField>> ReadNames(JsonValue json, std::string_view what, Names known) {
  std::vector<SchemaField> fields;
  for (const JsonValue item : json) {
    const std::optional<std::string_view> name = item.GetString();
    if (!name) return InvalidArgument(std::string(what) + " must be names, not " + item.ToString());
    fields.push_back({.name = std::string(*name)});
  }
  for (size_t i = 0; json.IsObject() && i < json.size(); ++i) {
    SchemaField& field = fields.emplace_back(SchemaField{.name = std::string(json.MemberName(i))});
    const JsonValue value = json.MemberValue(i);
    if (const auto description = value.GetString()) {
      field.description = std::string(*description);
      continue;
    }
    PERUSE_RETURN_IF_ERROR(CheckMembers(value, "\"" + field.name.substr(0, 100) + "\" of the schema", known));
    PERUSE_RETURN_IF_ERROR(ReadField(value, field));
  }
  if (fields.empty()) return InvalidArgument(std::string(what) + " must be a list of names, or an object with names");
  return fields;
}

Status AppendStructures(JsonValue json, Schema& schema) {
  if (!json.IsObject()) return InvalidArgument("structures of the schema must be an object");
  for (size_t i = 0; i < json.size(); ++i) {
    SchemaPart& part =
        schema.emplace_back(SchemaPart{.kind = SchemaPart::Kind::kStructure, .name = std::string(json.MemberName(i))});
    const std::string what = "structure \"" + part.name.substr(0, 100) + "\"";
    PERUSE_RETURN_IF_ERROR(CheckMembers(json.MemberValue(i), what, {"fields"}));
    for (const JsonValue item : json.MemberValue(i).FindMember("fields")) {
      PERUSE_RETURN_IF_ERROR(
          CheckMembers(item, "a field of " + what, {"name", "dtype", "choices", "description", "threshold"}));
      SchemaField& field = part.fields.emplace_back();
      OptionReader reader(item);
      reader.Read("name", &field.name);
      reader.Read("choices", &field.choices);
      PERUSE_RETURN_IF_ERROR(reader.status());
      PERUSE_RETURN_IF_ERROR(ReadField(item, field));
      if (field.description == "") field.description.reset();  // as in gliner2, only here
    }
  }
  return OkStatus();
}

Status AppendRelations(JsonValue json, Schema& schema) {
  PERUSE_ASSIGN_OR_RETURN(const std::vector<SchemaField> relations,
                          ReadNames(json, "relations of the schema", {"description", "threshold"}));
  for (const SchemaField& relation : relations) {
    schema.push_back({.kind = SchemaPart::Kind::kRelation,
                      .name = relation.name,
                      .fields = {{.name = "head", .threshold = relation.threshold},
                                 {.name = "tail", .threshold = relation.threshold}},
                      .prompt = relation.description.value_or("")});
  }
  return OkStatus();
}

Status ReadExamples(JsonValue json, SchemaPart& part) {
  for (const JsonValue item : json) {
    const std::optional<std::string_view> text = item[0].GetString(), label = item[1].GetString();
    if (item.size() != 2 || !text || !label) {
      return InvalidArgument("examples of \"" + part.name.substr(0, 100) + "\" must be pairs of a text and a label");
    }
    part.examples.emplace_back(*text, *label);
  }
  return OkStatus();
}

Status AppendClassifications(JsonValue json, Schema& schema) {
  if (!json.IsArray()) return InvalidArgument("classifications of the schema must be a list");
  constexpr std::string_view kFunctions[] = {"auto", "sigmoid", "softmax"};
  for (const JsonValue item : json) {
    PERUSE_RETURN_IF_ERROR(
        CheckMembers(item, "a classification of the schema",
                     {"task", "labels", "multi_label", "cls_threshold", "top_k", "class_act", "prompt", "examples"}));
    SchemaPart& part = schema.emplace_back(SchemaPart{.kind = SchemaPart::Kind::kClassification});
    OptionReader reader(item);
    reader.Read("task", &part.name);
    reader.Read("multi_label", &part.multi_label);
    reader.Read("cls_threshold", &part.label_threshold);
    reader.ReadOptional("top_k", &part.top_k, 1);
    reader.Read("class_act", kFunctions, &part.function);
    reader.Read("prompt", &part.prompt);
    PERUSE_RETURN_IF_ERROR(reader.status());
    PERUSE_ASSIGN_OR_RETURN(part.fields,
                            ReadNames(item.FindMember("labels"), "labels of \"" + part.name.substr(0, 100) + "\"", {}));
    PERUSE_RETURN_IF_ERROR(ReadExamples(item.FindMember("examples"), part));
    if (part.label_threshold >= 0 && part.label_threshold <= 1) continue;
    return InvalidArgument("cls_threshold of \"" + part.name.substr(0, 100) + "\" must be a number from 0 to 1");
  }
  return OkStatus();
}

}  // namespace

Result<Schema> ReadSchema(JsonValue json) {
  PERUSE_RETURN_IF_ERROR(
      CheckMembers(json, "option schema", {"entities", "structures", "relations", "classifications"}));
  Schema schema;
  if (const JsonValue structures = json.FindMember("structures"); structures.exists()) {
    PERUSE_RETURN_IF_ERROR(AppendStructures(structures, schema));
  }
  if (const JsonValue entities = json.FindMember("entities"); entities.exists()) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<SchemaField> fields,
                            ReadNames(entities, "entities of the schema", {"description", "dtype", "threshold"}));
    schema.push_back({.kind = SchemaPart::Kind::kEntities, .name = "entities", .fields = std::move(fields)});
  }
  if (const JsonValue relations = json.FindMember("relations"); relations.exists()) {
    PERUSE_RETURN_IF_ERROR(AppendRelations(relations, schema));
  }
  if (const JsonValue classifications = json.FindMember("classifications"); classifications.exists()) {
    PERUSE_RETURN_IF_ERROR(AppendClassifications(classifications, schema));
  }
  for (const SchemaPart& part : schema) {
    if (part.name == "relation_extraction" || (part.name == "entities" && part.kind != SchemaPart::Kind::kEntities)) {
      return InvalidArgument("the schema calls a part \"" + part.name + "\", which the result uses itself");
    }
  }
  return schema;
}

}  // namespace peruse
