#include "core/tasks/labels/label_reader.h"

#include <algorithm>
#include <utility>

#include "core/base/memory.h"

namespace peruse {

Result<std::vector<Reading>> LabelReader::Start(std::span<const std::string> labels) {
  const LabelEncoder& encoder = *model_.config().label_encoder;
  labels_ = labels;
  width_ = static_cast<size_t>(encoder.width);
  PERUSE_RETURN_IF_ERROR(EnsureMemory(labels.size() * width_ * sizeof(float), "the labels"));
  vectors_.resize(labels.size() * width_);
  text::EncodeOptions options;
  int64_t most = encoder.max_tokens;
  if (const auto limit = tokenizer_->model_max_length(); limit && *limit > 0) most = std::min(most, *limit);
  if (most < ModelConfig::kUnlimited) {
    options.truncation = text::Truncation::kOnlyFirst;
    options.max_length = static_cast<int32_t>(most);
  }
  std::vector<Reading> readings;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (const std::vector<float>* known = kept_->Find(labels[i])) {
      std::copy(known->begin(), known->end(), vectors_.begin() + static_cast<std::ptrdiff_t>(i * width_));
      continue;
    }
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, tokenizer_->Encode(labels[i], options));
    Reading reading = {.tokens = std::move(windows[0])};
    reading.label = static_cast<int32_t>(i);
    readings.push_back(std::move(reading));
  }
  return readings;
}

void LabelReader::Collect(const Reading& reading, std::span<const float> vector) {
  const auto label = static_cast<size_t>(reading.label);
  std::copy(vector.begin(), vector.end(), vectors_.begin() + static_cast<std::ptrdiff_t>(label * width_));
  kept_->Keep(labels_[label], vector);
}

}  // namespace peruse
