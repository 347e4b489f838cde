#include "core/tasks/replaced_token_detection.h"

#include <utility>

#include "core/tasks/scores.h"

namespace peruse {

Status ReplacedTokenDetection::Start() {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(text::Encoding tokens,
                            Checked(tokenizer_.Encode(request.inputs[i]), i, "pass it in parts"));
    Enqueue(i, std::move(tokens));
  }
  return OkStatus();
}

Status ReplacedTokenDetection::Collect(const Reading& reading, size_t text) {
  const text::Encoding& tokens = reading.tokens;
  const std::span<const float> logits = outputs_.Get(kLogits, text).values;
  Utf8IndexConverter index(request.inputs[reading.input]);
  std::vector<TokenReplacement> found;
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (tokens.special_tokens_mask[t]) continue;
    PERUSE_ASSIGN_OR_RETURN(std::string word, tokenizer_.IdToToken(tokens.ids[t]));
    float score = logits[t];
    Sigmoid({&score, 1});
    found.push_back(
        {std::move(word), score, logits[t] > 0, static_cast<int32_t>(t), ToTextSpan(index, tokens.offsets[t])});
  }
  Give(reading.input, std::move(found));
  return OkStatus();
}

}  // namespace peruse
