// Feature extraction: the encoder's hidden states, pooled to one vector a text or as they are (transformers'
// FeatureExtractionPipeline and sentence-transformers' Pooling).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tasks/sentence_embedder.h"
#include "core/tasks/task.h"

namespace peruse {

// kNone: every token, special ones included. kSentence: what the folder of the model says (sentence_embedder.h), which cuts
// texts that are too long. kLastToken: the last token, special ones included.
enum class Pooling { kNone, kCls, kMean, kMax, kSentence, kLastToken };

struct FeatureExtractionRequest {
  std::vector<std::string> inputs;
  std::optional<Pooling> pooling;          // default: kSentence with a prompt, else kNone
  std::optional<std::string> prompt;       // what to put before each text, for kSentence; or
  std::optional<std::string> prompt_name;  // its name in the folder. Default: the folder's own default
  std::optional<int32_t> dimensions;       // keep the first so many numbers of each vector; then comes `normalize`
  int32_t layer = -1;       // which hidden state: 0 the embeddings, 1 the first layer, ...; negative ones from the end
  bool normalize = false;   // divide each vector by its length
  bool truncation = false;  // cut a text that is too long; else kTextTooLong
};

struct Features {
  std::vector<int64_t> dims;  // [tokens, width], or [width] with pooling
  std::vector<float> values;  // row by row
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
  // A text as a sentence.
  Result<text::Encoding> ReadSentence(size_t input);

  const SentenceEmbedder* sentence_;
  Pooling pooling_ = Pooling::kNone;
  std::string prompt_;
  std::vector<size_t> skips_;  // by input: tokens that are not pooled, of a sentence
  size_t width_ = 0;           // of a vector
  OutputId output_ = kLastHiddenState;
};

}  // namespace peruse
