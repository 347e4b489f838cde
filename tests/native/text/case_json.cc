#include "tests/native/text/case_json.h"

#include <vector>

#include "core/base/json_writer.h"
#include "core/base/utf8.h"

namespace peruse::text {
namespace {

struct Input {
  std::vector<std::string_view> parts;
  bool is_words = false;
};

Input ReadInput(JsonValue json) {
  Input input;
  input.is_words = json.IsArray();
  if (!input.is_words) input.parts.push_back(json.GetString().value_or(""));
  for (JsonValue word : json) input.parts.push_back(word.GetString().value_or(""));
  return input;
}

Result<EncodeOptions> ReadOptions(JsonValue json) {
  EncodeOptions options;
  options.add_special_tokens = json.FindMember("special").GetBool().value_or(true);
  options.max_length = static_cast<int32_t>(json.FindMember("max_length").GetInt64().value_or(0));
  options.stride = static_cast<int32_t>(json.FindMember("stride").GetInt64().value_or(0));
  const std::string_view truncation = json.FindMember("truncation").GetString().value_or("none");
  if (truncation == "none")
    options.truncation = Truncation::kNone;
  else if (truncation == "longest_first")
    options.truncation = Truncation::kLongestFirst;
  else if (truncation == "only_first")
    options.truncation = Truncation::kOnlyFirst;
  else if (truncation == "only_second")
    options.truncation = Truncation::kOnlySecond;
  else
    return InvalidArgument("unknown truncation " + std::string(truncation));
  return options;
}

template <typename T>
void WriteList(std::string_view name, const std::vector<T>& values, bool negative_is_null, JsonWriter* writer) {
  writer->Key(name);
  writer->BeginArray();
  for (const T value : values) {
    if (negative_is_null && value == static_cast<T>(-1))
      writer->Null();
    else
      writer->Int(value);
  }
  writer->EndArray();
}

void WriteOffsets(const Encoding& encoding, const Input inputs[2], JsonWriter* writer) {
  writer->Key("offsets");
  writer->BeginArray();
  for (size_t i = 0; i < encoding.size(); ++i) {
    const int sequence = encoding.sequence_ids[i];
    if (sequence < 0) {
      writer->Int(0);
      writer->Int(0);
      continue;
    }
    const size_t part = inputs[sequence].is_words ? static_cast<size_t>(encoding.word_ids[i]) : 0;
    const std::string_view text = inputs[sequence].parts[part];
    for (const int32_t byte : {encoding.offsets[i].start, encoding.offsets[i].end}) {
      writer->Int(static_cast<int64_t>(CountCodePoints(text.substr(0, static_cast<size_t>(byte)))));
    }
  }
  writer->EndArray();
}

}  // namespace

Result<std::string> EncodeCase(const Tokenizer& tokenizer, JsonValue test_case) {
  PERUSE_ASSIGN_OR_RETURN(const EncodeOptions options, ReadOptions(test_case));
  const bool has_pair = test_case.FindMember("pair").exists();
  const bool is_words = test_case.FindMember("words").exists();
  const Input inputs[2] = {ReadInput(test_case.FindMember(is_words ? "words" : "text")),
                           has_pair ? ReadInput(test_case.FindMember("pair")) : Input()};
  Result<std::vector<Encoding>> windows =
      is_words ? (has_pair ? tokenizer.EncodeWordsPair(inputs[0].parts, inputs[1].parts, options)
                           : tokenizer.EncodeWords(inputs[0].parts, options))
               : (has_pair ? tokenizer.EncodePair(inputs[0].parts[0], inputs[1].parts[0], options)
                           : tokenizer.Encode(inputs[0].parts[0], options));
  if (!windows.ok()) return windows.status();
  std::string out;
  JsonWriter writer(&out);
  writer.BeginArray();
  for (const Encoding& encoding : *windows) {
    writer.BeginObject();
    WriteList("ids", encoding.ids, false, &writer);
    WriteList("types", encoding.type_ids, false, &writer);
    WriteList("words", encoding.word_ids, true, &writer);
    WriteList("sequences", encoding.sequence_ids, true, &writer);
    WriteList("special", encoding.special_tokens_mask, false, &writer);
    WriteOffsets(encoding, inputs, &writer);
    writer.EndObject();
  }
  writer.EndArray();
  return out;
}

}  // namespace peruse::text
