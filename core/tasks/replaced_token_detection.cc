#include "core/tasks/replaced_token_detection.h"

#include <utility>

#include "core/tasks/options.h"
#include "core/tasks/scores.h"
#include "core/tasks/spans.h"

namespace peruse {

Status ReplacedTokenDetection::Read(JsonValue inputs, JsonValue) {
  texts_.clear();
  for (JsonValue input : inputs) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view text, ReadText(input, "text"));
    PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> windows, tokenizer_.Encode(text));
    PERUSE_RETURN_IF_ERROR(CheckText(windows[0], texts_.size(), "pass it in parts"));
    Enqueue(std::move(windows[0]));
    texts_.push_back({std::string(text), {}});
  }
  return OkStatus();
}

Status ReplacedTokenDetection::Collect(size_t index, std::span<const float> logits) {
  const Encoding& tokens = encoding(index);
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (tokens.special_tokens_mask[t]) continue;
    PERUSE_ASSIGN_OR_RETURN(std::string word, tokenizer_.IdToToken(tokens.ids[t]));
    texts_[index].tokens.push_back({std::move(word), logits[t], static_cast<int32_t>(t), tokens.offsets[t]});
  }
  return OkStatus();
}

void ReplacedTokenDetection::Write(JsonWriter& writer) const {
  writer.BeginArray();
  for (const Text& text : texts_) {
    Utf8IndexConverter index(text.text);
    writer.BeginArray();
    for (const Token& token : text.tokens) {
      float score[1] = {token.logit};
      Sigmoid(score);
      writer.BeginObject();
      writer.Key("word");
      writer.String(token.word);
      writer.Key("score");
      writer.Double(score[0]);
      writer.Key("replaced");
      writer.Bool(token.logit > 0);
      writer.Key("index");
      writer.Int(token.index);
      WriteSpan(writer, index, token.bytes);
      writer.EndObject();
    }
    writer.EndArray();
  }
  writer.EndArray();
}

}  // namespace peruse
