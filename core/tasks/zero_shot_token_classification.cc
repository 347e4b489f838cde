#include "core/tasks/zero_shot_token_classification.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/elementary.h"

namespace peruse {
namespace {

float Sigmoid(float x) { return static_cast<float>(1.0 / (1.0 + Exponential(-static_cast<double>(x)))); }

}  // namespace

Status ZeroShotTokenClassification::Start() {
  PERUSE_ASSIGN_OR_RETURN(std::vector<Reading> readings, reader_.Start(request.labels, MaxTokens()));
  if (!(request.threshold >= 0 && request.threshold <= 1)) {
    return InvalidArgument("option threshold must be a number from 0 to 1");
  }
  for (Reading& reading : readings) Enqueue(std::move(reading));
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(readings, reader_.Read(i, request.inputs[i], &words_.emplace_back()));
    if (readings.empty()) Give(i, {});
    for (Reading& reading : readings) Enqueue(std::move(reading));
  }
  return OkStatus();
}

Status ZeroShotTokenClassification::Collect(const Reading& reading, size_t text) {
  if (reading.label >= 0) {
    reader_.Collect(reading, outputs_.Get(kLabelVectors, text).values);
    return OkStatus();
  }
  const Matrix logits = outputs_.Get(kLogits, text);
  if (reader_.finds_spans()) {
    CollectSpans(reading, logits);
  } else {
    CollectTokens(reading, logits);
  }
  if (!reading.last) return OkStatus();

  const std::string_view all = request.inputs[reading.input].text;
  const std::vector<text::Offset>& words = words_[reading.input];
  Utf8IndexConverter index(all);
  std::vector<LabelledSpan> entities;
  for (const EntityCandidate& it :
       ChooseEntities(std::exchange(candidates_, {}), {request.flat_ner, request.multi_label})) {
    const text::Offset bytes = {words[static_cast<size_t>(it.first)].start, words[static_cast<size_t>(it.last)].end};
    entities.push_back({reader_.labels()[static_cast<size_t>(it.label)], std::string(Slice(all, bytes)), it.score,
                        ToTextSpan(index, bytes)});
  }
  Give(reading.input, std::move(entities));
  return OkStatus();
}

void ZeroShotTokenClassification::CollectSpans(const Reading& reading, const Matrix& logits) {
  for (size_t pair = 0; pair < reading.head.pair_first.size(); ++pair) {
    const std::span<const float> row = logits.row(pair);
    for (size_t label = 0; label < row.size(); ++label) {
      const float score = Sigmoid(row[label]);
      if (score <= request.threshold) continue;
      candidates_.push_back({reading.first_word + reading.head.pair_first[pair],
                             reading.first_word + reading.head.pair_second[pair],
                             reading.first_label + static_cast<int32_t>(label), score});
    }
  }
}

// Finds spans of any width: from a likely start to a likely end, with only words in between that are likely to be inside.
void ZeroShotTokenClassification::CollectTokens(const Reading& reading, const Matrix& logits) {
  for (const float logit : logits.values) probabilities_.push_back(Sigmoid(logit));
  const size_t labels = reading.head.labels.size();
  const size_t words = reading.head.words.size();
  if (probabilities_.size() < 3 * words * labels) return;
  const std::vector<float> p = std::exchange(probabilities_, {});
  for (size_t first = 0; first < words; ++first) {
    for (size_t label = 0; label < labels; ++label) {
      const auto at = [&](size_t word) { return p.data() + 3 * (word * labels + label); };
      if (at(first)[0] <= request.threshold) continue;
      float inside = 1;
      for (size_t last = first; last < words; ++last) {
        inside = std::min(inside, at(last)[2]);
        if (inside < request.threshold) break;
        if (at(last)[1] <= request.threshold) continue;
        const float score = std::min(inside, std::min(at(first)[0], at(last)[1]));
        candidates_.push_back({reading.first_word + static_cast<int32_t>(first),
                               reading.first_word + static_cast<int32_t>(last),
                               reading.first_label + static_cast<int32_t>(label), score});
      }
    }
  }
}

}  // namespace peruse
