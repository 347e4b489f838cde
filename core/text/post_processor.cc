#include "core/text/post_processor.h"

#include <string>

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {
namespace {

Status BadProcessor(JsonValue json) {
  return MalformedFile("tokenizer.json: malformed post_processor: " + Excerpt(json.ToString()));
}

Status NoMemory() { return OutOfMemory("no memory for the post_processor"); }

std::optional<int32_t> GetId(JsonValue json) {
  const std::optional<int64_t> id = json.GetInt64();
  if (!id || *id < 0 || *id > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(*id);
}

// Parses {"Sequence": {"id": "A", "type_id": 0}} or {"SpecialToken": {"id": "[CLS]", "type_id": 0}}.
Result<TemplatePart> ParsePart(JsonValue json, JsonValue special_tokens) {
  const bool is_sequence = json.FindMember("Sequence").exists();
  const JsonValue body = json.FindMember(is_sequence ? "Sequence" : "SpecialToken");
  const std::optional<std::string_view> name = body.FindMember("id").GetString();
  const std::optional<int32_t> type_id = GetId(body.FindMember("type_id"));
  if (!name || !type_id) return BadProcessor(json);
  if (is_sequence) {
    if (*name != "A" && *name != "B") return BadProcessor(json);
    return TemplatePart{static_cast<int8_t>(*name == "A" ? 0 : 1), *type_id, {}};
  }
  TemplatePart part{-1, *type_id, {}};
  const JsonValue ids = special_tokens.FindMember(*name).FindMember("ids");
  if (!ids.IsArray()) return BadProcessor(json);
  for (JsonValue item : ids) {
    const std::optional<int32_t> id = GetId(item);
    if (!id) return BadProcessor(json);
    if (!TryPushBack(&part.ids, *id)) return NoMemory();
  }
  return part;
}

Result<std::vector<TemplatePart>> ParseTemplate(JsonValue json, JsonValue special_tokens, bool is_pair) {
  if (!json.IsArray()) return BadProcessor(json);
  constexpr size_t kMostParts = 64;  // each may be the whole text
  if (json.size() > kMostParts) return Unsupported("tokenizer.json: a post_processor template of more than 64 parts");
  std::vector<TemplatePart> parts;
  bool has_text = false, has_pair = false;
  for (JsonValue item : json) {
    PERUSE_ASSIGN_OR_RETURN(TemplatePart part, ParsePart(item, special_tokens));
    has_text |= part.sequence_id == 0;
    has_pair |= part.sequence_id == 1;
    if (!TryPushBack(&parts, std::move(part))) return NoMemory();
  }
  if (!has_text || has_pair != is_pair) return BadProcessor(json);
  return parts;
}

// Parses ["[SEP]", 102].
Result<int32_t> ParseTokenPair(JsonValue json) {
  const std::optional<int32_t> id = GetId(json[1]);
  if (!id) return BadProcessor(json);
  return *id;
}

OffsetTrimming ParseTrimming(JsonValue json) {
  return {json.FindMember("trim_offsets").GetBool().value_or(true),
          json.FindMember("add_prefix_space").GetBool().value_or(true)};
}

Result<PostProcessor> ParseTemplateProcessing(JsonValue json) {
  PostProcessor processor;
  const JsonValue special_tokens = json.FindMember("special_tokens");
  PERUSE_ASSIGN_OR_RETURN(processor.single, ParseTemplate(json.FindMember("single"), special_tokens, false));
  PERUSE_ASSIGN_OR_RETURN(processor.pair, ParseTemplate(json.FindMember("pair"), special_tokens, true));
  return processor;
}

Result<PostProcessor> ParseSequence(JsonValue json) {
  PostProcessor processor;
  const JsonValue processors = json.FindMember("processors");
  if (!processors.IsArray()) return BadProcessor(json);
  bool has_template = false;
  for (JsonValue item : processors) {
    PERUSE_ASSIGN_OR_RETURN(PostProcessor step, ParsePostProcessor(item));
    if (item.FindMember("type").GetString() == "ByteLevel") {
      if (step.trimming.enabled) processor.trimming = step.trimming;
      continue;
    }
    if (has_template) return Unsupported("tokenizer.json: a post_processor Sequence that adds special tokens twice");
    has_template = true;
    const OffsetTrimming trimming = processor.trimming;
    processor = std::move(step);
    if (trimming.enabled) processor.trimming = trimming;
  }
  return processor;
}

}  // namespace

int32_t PostProcessor::SpecialTokenCount(bool is_pair) const {
  size_t count = 0;
  for (const TemplatePart& part : is_pair ? pair : single) count += part.ids.size();
  return static_cast<int32_t>(count);
}

PostProcessor BertPostProcessor(int32_t cls_id, int32_t sep_id) {
  PostProcessor processor;
  processor.single = {{-1, 0, {cls_id}}, {0, 0, {}}, {-1, 0, {sep_id}}};
  processor.pair = {{-1, 0, {cls_id}}, {0, 0, {}}, {-1, 0, {sep_id}}, {1, 1, {}}, {-1, 1, {sep_id}}};
  return processor;
}

PostProcessor RobertaPostProcessor(int32_t cls_id, int32_t sep_id) {
  PostProcessor processor;
  processor.single = {{-1, 0, {cls_id}}, {0, 0, {}}, {-1, 0, {sep_id}}};
  processor.pair = {{-1, 0, {cls_id}}, {0, 0, {}}, {-1, 0, {sep_id, sep_id}}, {1, 0, {}}, {-1, 0, {sep_id}}};
  return processor;
}

PostProcessor EndsPostProcessor(int32_t bos_id, int32_t eos_id) {
  PostProcessor processor;
  processor.single.clear();
  processor.pair.clear();
  for (int8_t sequence : {0, 1}) {
    if (bos_id >= 0) processor.pair.push_back({-1, sequence, {bos_id}});
    processor.pair.push_back({sequence, sequence, {}});
    if (eos_id >= 0) processor.pair.push_back({-1, sequence, {eos_id}});
    if (sequence == 0) processor.single = processor.pair;
  }
  return processor;
}

Result<PostProcessor> ParsePostProcessor(JsonValue json) {
  if (!json.exists() || json.IsNull()) return PostProcessor{};
  const std::string_view type = json.FindMember("type").GetString().value_or("");
  if (type == "TemplateProcessing") return ParseTemplateProcessing(json);
  if (type == "Sequence") return ParseSequence(json);
  if (type == "ByteLevel") {
    PostProcessor processor;
    processor.trimming = ParseTrimming(json);
    return processor;
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    PERUSE_ASSIGN_OR_RETURN(const int32_t cls, ParseTokenPair(json.FindMember("cls")));
    PERUSE_ASSIGN_OR_RETURN(const int32_t sep, ParseTokenPair(json.FindMember("sep")));
    if (type == "BertProcessing") return BertPostProcessor(cls, sep);
    PostProcessor processor = RobertaPostProcessor(cls, sep);
    processor.trimming = ParseTrimming(json);
    return processor;
  }
  return Unsupported("tokenizer.json: post_processor \"" + Excerpt(type) + "\" is not supported");
}

}  // namespace peruse::text
