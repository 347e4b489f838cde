#include "core/tasks/feature_extraction.h"

#include <algorithm>
#include <utility>

#include "core/tasks/pooling.h"

namespace peruse {
namespace {

std::vector<float> Pool(Pooling pooling, const Matrix& hidden) {
  if (pooling == Pooling::kNone) return {hidden.values.begin(), hidden.values.end()};
  const size_t tokens = hidden.values.size() / hidden.cols;
  const std::span<const float> row = hidden.row(pooling == Pooling::kLastToken ? tokens - 1 : 0);
  std::vector<float> pooled(row.begin(), row.end());
  if (pooling == Pooling::kCls || pooling == Pooling::kLastToken) return pooled;
  for (size_t c = 0; c < hidden.cols; ++c) {
    double sum = 0;
    for (size_t t = 0; t < tokens; ++t) {
      const float value = hidden.row(t)[c];
      sum += value;
      if (pooling == Pooling::kMax) pooled[c] = std::max(pooled[c], value);
    }
    if (pooling == Pooling::kMean) pooled[c] = static_cast<float>(sum / static_cast<double>(tokens));
  }
  return pooled;
}

}  // namespace

Status FeatureExtraction::CheckPooling() {
  const bool has_prompt = request.prompt || request.prompt_name;
  pooling_ = request.pooling.value_or(has_prompt ? Pooling::kSentence : Pooling::kNone);
  width_ = static_cast<size_t>(model_.config().hidden_size);
  if (pooling_ == Pooling::kSentence) {
    if (sentence_ == nullptr)
      return InternalError("the sentence-transformers files of the model's folder were not read");
    PERUSE_ASSIGN_OR_RETURN(prompt_, PromptOf(sentence_->modules(), request.prompt, request.prompt_name));
    width_ = sentence_->width();
    const std::optional<int32_t> usual = sentence_->modules().truncate_dim;
    if (usual && !request.dimensions) width_ = std::min(width_, static_cast<size_t>(*usual));
  } else if (has_prompt) {
    return InvalidArgument("a prompt goes with pooling \"sentence\" only");
  }
  if (!request.dimensions) return OkStatus();
  const auto dimensions = static_cast<size_t>(*request.dimensions);
  if (pooling_ == Pooling::kNone) return InvalidArgument("option dimensions needs a pooling other than \"none\"");
  if (dimensions > width_) {
    return InvalidArgument("option dimensions is " + std::to_string(dimensions) + " and a vector has " +
                           std::to_string(width_) + " numbers: use at most that many");
  }
  width_ = dimensions;
  return OkStatus();
}

Result<text::Encoding> FeatureExtraction::ReadSentence(size_t input) {
  PERUSE_ASSIGN_OR_RETURN(SentenceEmbedder::Reading reading,
                          sentence_->Read(tokenizer_, model_.config(), prompt_, request.inputs[input]));
  // no truncation happens here: ReadSentence has already cut the text to the folder's limit
  PERUSE_RETURN_IF_ERROR(CheckText(reading.tokens, input));
  skips_.push_back(reading.skip);
  return std::move(reading.tokens);
}

Status FeatureExtraction::Start() {
  const int32_t layers = model_.config().num_hidden_layers;
  const int32_t layer = request.layer < 0 ? request.layer + layers + 1 : request.layer;
  if (layer < 0 || layer > layers) {
    return InvalidArgument("option layer is " + std::to_string(request.layer) + " and the model has " +
                           std::to_string(layers) + " layers: name one from " + std::to_string(-layers - 1) + " to " +
                           std::to_string(layers));
  }
  output_ = {OutputKind::kHidden, layer};
  PERUSE_RETURN_IF_ERROR(CheckPooling());
  const text::EncodeOptions options =
      request.truncation ? CutTo(MaxTokens(), text::Truncation::kLongestFirst) : text::EncodeOptions();
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (pooling_ == Pooling::kSentence) {
      PERUSE_ASSIGN_OR_RETURN(text::Encoding sentence, ReadSentence(i));
      Enqueue(i, std::move(sentence));
      continue;
    }
    PERUSE_ASSIGN_OR_RETURN(text::Encoding tokens, Checked(tokenizer_.Encode(request.inputs[i], options), i,
                                                           "pass truncation: true to read only its beginning"));
    Enqueue(i, std::move(tokens));
  }
  return OkStatus();
}

Status FeatureExtraction::Collect(const Reading& reading, size_t text) {
  const Matrix hidden = outputs_.Get(output_, text);
  Features features;
  features.values =
      pooling_ == Pooling::kSentence ? sentence_->Embed(hidden.values, skips_[reading.input]) : Pool(pooling_, hidden);
  if (pooling_ == Pooling::kNone) {
    features.dims.push_back(static_cast<int64_t>(reading.tokens.size()));
  } else {
    features.values.resize(width_);
  }
  features.dims.push_back(static_cast<int64_t>(width_));
  for (size_t at = 0; request.normalize && at < features.values.size(); at += width_) {
    NormalizeVector({&features.values[at], width_});
  }
  Give(reading.input, std::move(features));
  return OkStatus();
}

}  // namespace peruse
