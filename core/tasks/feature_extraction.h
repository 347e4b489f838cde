// Hidden states, optionally pooled to one vector per text (transformers' FeatureExtractionPipeline, sentence-transformers' Pooling).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tasks/sentence_embedder.h"
#include "core/tasks/task.h"

namespace peruse {

// kNone returns every token's vector, including special ones. kSentence uses the modules of the model's folder (sentence_embedder.h) and
// truncates long texts. kLastToken may pick a special token.
enum class Pooling { kNone, kCls, kMean, kMax, kSentence, kLastToken };

struct FeatureExtractionRequest {
  std::vector<std::string> inputs;
  std::optional<Pooling> pooling;          // nullopt means kSentence if there is a prompt, otherwise kNone
  std::optional<std::string> prompt;       // text to put before each input, for kSentence
  std::optional<std::string> prompt_name;  // name of a prompt of the folder; nullopt means the folder's default prompt
  std::optional<int32_t> dimensions;       // number of leading elements to keep of each vector, before `normalize`
  // hidden state to return: 0 the embeddings, 1 the first layer, ...; negative values count from the end
  int32_t layer = -1;
  bool normalize = false;   // divide each vector by its length
  bool truncation = false;  // whether to truncate long texts instead of returning kTextTooLong
};

struct Features {
  std::vector<int64_t> dims;  // [tokens, width], or [width] with pooling
  std::vector<float> values;  // row-major
};

class FeatureExtraction : public TaskOf<FeatureExtractionRequest, Features> {
 public:
  static constexpr Head kHead = Head::kNone;
  explicit FeatureExtraction(const TaskContext& context) : TaskOf(context), sentence_(context.sentence) {}
  Status Start() override;

 protected:
  std::vector<OutputId> Wanted() const override { return {output_}; }
  Status Collect(const Reading& reading, size_t text) override;

 private:
  Status CheckPooling();
  Result<text::Encoding> ReadSentence(size_t input);

  const SentenceEmbedder* sentence_;
  Pooling pooling_ = Pooling::kNone;
  std::string prompt_;
  std::vector<size_t> skips_;  // for each input: number of leading tokens that are not pooled
  size_t width_ = 0;
  OutputId output_ = kLastHiddenState;
};

}  // namespace peruse
