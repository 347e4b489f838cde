#include "core/tasks/feature_extraction.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/tasks/options.h"

namespace peruse {
namespace {

constexpr double kSmallestLength = 1e-12;  // sentence-transformers' Normalize

void Normalize(std::span<float> vector) {
  double squares = 0;
  for (float value : vector) squares += static_cast<double>(value) * value;
  const double length = std::max(std::sqrt(squares), kSmallestLength);
  for (float& value : vector) value = static_cast<float>(value / length);
}

}  // namespace

Status FeatureExtraction::Read(JsonValue inputs, JsonValue options) {
  results_.clear();
  PERUSE_RETURN_IF_ERROR(ReadOptions(options));
  for (JsonValue input : inputs) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view text, ReadText(input, "text"));
    PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> windows, tokenizer_.Encode(text, encode_options_));
    PERUSE_RETURN_IF_ERROR(CheckText(windows[0], results_.size(), "pass truncation: true to read only its beginning"));
    Enqueue(std::move(windows[0]));
    results_.emplace_back();
  }
  return OkStatus();
}

Status FeatureExtraction::ReadOptions(JsonValue options) {
  std::string pooling = "none";
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "pooling", &pooling));
  constexpr std::string_view kNames[] = {"none", "cls", "mean", "max"};
  const auto* name = std::find(std::begin(kNames), std::end(kNames), pooling);
  if (name == std::end(kNames)) {
    return InvalidArgument("option pooling must be \"none\", \"cls\", \"mean\" or \"max\", not \"" + pooling + "\"");
  }
  pooling_ = static_cast<Pooling>(name - std::begin(kNames));
  normalize_ = false;
  bool truncation = false;
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "normalize", &normalize_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "truncation", &truncation));
  const int32_t layers = model_.config().num_hidden_layers;
  int32_t layer = -1;
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "layer", -layers - 1, &layer));
  if (layer > layers) {
    return InvalidArgument("option layer is " + std::to_string(layer) + " and the model has " + std::to_string(layers) +
                           " layers");
  }
  layer_ = layer < 0 ? layer + layers + 1 : layer;
  encode_options_ = {};
  if (truncation && MaxTokens() != ModelConfig::kUnlimited) {
    encode_options_.truncation = Truncation::kLongestFirst;
    encode_options_.max_length = MaxTokens();
  }
  return OkStatus();
}

Status FeatureExtraction::Collect(size_t index, std::span<const float> hidden) {
  const auto width = static_cast<size_t>(model_.config().hidden_size);
  std::vector<float>& result = results_[index];
  result = Pool(hidden, width);
  for (size_t row = 0; normalize_ && row < result.size(); row += width) Normalize({&result[row], width});
  return OkStatus();
}

std::vector<float> FeatureExtraction::Pool(std::span<const float> hidden, size_t width) const {
  if (pooling_ == Pooling::kNone) return {hidden.begin(), hidden.end()};
  std::vector<float> pooled(hidden.begin(), hidden.begin() + static_cast<ptrdiff_t>(width));
  if (pooling_ == Pooling::kCls) return pooled;
  const size_t tokens = hidden.size() / width;
  for (size_t c = 0; c < width; ++c) {
    double sum = 0;
    for (size_t t = 0; t < tokens; ++t) {
      const float value = hidden[t * width + c];
      sum += value;
      if (pooling_ == Pooling::kMax) pooled[c] = std::max(pooled[c], value);
    }
    if (pooling_ == Pooling::kMean) pooled[c] = static_cast<float>(sum / static_cast<double>(tokens));
  }
  return pooled;
}

void FeatureExtraction::Write(JsonWriter& writer) const {
  const auto width = static_cast<size_t>(model_.config().hidden_size);
  writer.BeginArray();
  for (const std::vector<float>& result : results_) {
    writer.BeginObject();
    writer.Key("dims");
    writer.BeginArray();
    if (pooling_ == Pooling::kNone) writer.Int(static_cast<int64_t>(result.size() / width));
    writer.Int(static_cast<int64_t>(width));
    writer.EndArray();
    writer.Key("data");
    writer.BeginArray();
    for (float value : result) writer.Double(value);
    writer.EndArray();
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace peruse
