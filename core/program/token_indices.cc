#include "core/program/token_indices.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/elementary.h"

namespace peruse::indices {
namespace {

constexpr float kFarthest = 1 << 24;  // farther than any table reaches; a larger float might not fit an integer

// Calls append(text, first row) for each text of the batch.
template <typename Append>
std::span<const int32_t> ForTexts(const BatchInputs& inputs, Index::Values& values, Append append) {
  values.clear();
  for (size_t i = 0; i < inputs.texts.size(); ++i) append(inputs.texts[i], inputs.batch.start(static_cast<int32_t>(i)));
  return values;
}

int32_t LengthOf(const ModelInput& text) { return static_cast<int32_t>(text.ids.size()); }

}  // namespace

int32_t LogBucket(int32_t distance, int32_t buckets, int32_t max_position) {
  const int32_t mid = buckets / 2;
  const int32_t magnitude = std::abs(distance);
  if (magnitude <= mid) return distance;
  // Computes in float32 and in transformers' order, so that ceil sees the same number. The denominator is negative if max_position <= mid.
  const float numerator = std::log(static_cast<float>(magnitude) / static_cast<float>(mid));
  const float denominator = std::log(static_cast<float>(max_position - 1) / static_cast<float>(mid));
  const float steps = std::ceil(numerator / denominator * static_cast<float>(mid - 1));
  const int32_t bucket = static_cast<int32_t>(std::clamp(steps, -kFarthest, kFarthest)) + mid;
  return distance < 0 ? -bucket : bucket;
}

int32_t T5Bucket(int32_t distance, int32_t buckets, int32_t max_distance) {
  const int32_t half = buckets / 2;
  const int32_t exact = half / 2;
  const int32_t direction = distance < 0 ? half : 0;
  const int32_t magnitude = std::abs(distance);
  if (magnitude < exact) return direction + magnitude;
  // Computes in float32 and in transformers' order, so that truncation sees the same number.
  const float log = std::log(static_cast<float>(magnitude) / static_cast<float>(exact));
  const float range = static_cast<float>(NaturalLog(static_cast<double>(max_distance) / exact));
  const auto steps = static_cast<int32_t>(log / range * static_cast<float>(half - exact));
  return direction + std::min(half - 1, exact + steps);
}

std::span<const int32_t> TokenIds::Fill(const BatchInputs& inputs, Index::Values& values) const {
  return ForTexts(inputs, values, [&](const ModelInput& text, int32_t) {
    for (const int32_t id : text.ids) values.push_back(first + id);
  });
}

std::span<const int32_t> TokenTypes::Fill(const BatchInputs& inputs, Index::Values& values) const {
  return ForTexts(inputs, values, [&](const ModelInput& text, int32_t) {
    for (const int32_t type : text.type_ids) values.push_back(first + type);
    if (text.type_ids.empty()) values.insert(values.end(), text.ids.size(), first);
  });
}

std::span<const int32_t> Positions::Fill(const BatchInputs& inputs, Index::Values& values) const {
  return ForTexts(inputs, values, [&](const ModelInput& text, int32_t) {
    for (int32_t t = 0; t < LengthOf(text); ++t) values.push_back(t);
  });
}

std::span<const int32_t> PaddedPositions::Fill(const BatchInputs& inputs, Index::Values& values) const {
  return ForTexts(inputs, values, [&](const ModelInput& text, int32_t) {
    int32_t next = padding + 1;
    for (const int32_t id : text.ids) values.push_back(id == padding ? padding : next++);
  });
}

std::span<const int32_t> FirstOfText::Fill(const BatchInputs& inputs, Index::Values& values) const {
  return ForTexts(inputs, values,
                  [&](const ModelInput& text, int32_t start) { values.insert(values.end(), text.ids.size(), start); });
}

std::span<const int32_t> FirstTokens::Fill(const BatchInputs& inputs, Index::Values& values) const {
  return ForTexts(inputs, values, [&](const ModelInput&, int32_t start) { values.push_back(start); });
}

std::span<const int32_t> LastTokens::Fill(const BatchInputs& inputs, Index::Values& values) const {
  return ForTexts(inputs, values, [&](const ModelInput& text, int32_t start) {
    int32_t last = LengthOf(text) - 1;
    while (last > 0 && padding >= 0 && text.ids[static_cast<size_t>(last)] == padding) --last;
    values.push_back(start + last);
  });
}

std::span<const int32_t> Lengths::Fill(const BatchInputs& inputs, Index::Values& values) const {
  return ForTexts(inputs, values, [&](const ModelInput& text, int32_t) { values.push_back(LengthOf(text)); });
}

std::span<const int32_t> Chosen::Fill(const BatchInputs& inputs, Index::Values& values) const {
  values.assign(inputs.chosen.begin(), inputs.chosen.end());
  for (int32_t row = 0; inputs.chosen.empty() && row < inputs.batch.rows(); ++row) values.push_back(row);
  return values;
}

std::span<const int32_t> AllRows::Fill(const BatchInputs&, Index::Values& values) const {
  for (auto row = static_cast<int32_t>(values.size()); row < rows; ++row) values.push_back(row);
  return values;
}

int32_t Slots::SlotOf(int32_t distance) const {
  int32_t bucket = distance;
  if (kind == Buckets::kLog) bucket = LogBucket(distance, buckets, max_position);
  if (kind == Buckets::kT5) bucket = T5Bucket(distance, buckets, max_position);
  return std::clamp(bucket + offset, 0, rows - 1);
}

// `values` caches the slots of the longest text so far.
std::span<const int32_t> Slots::Fill(const BatchInputs& inputs, Index::Values& values) const {
  const int32_t reach = inputs.batch.longest();
  const size_t size = 2 * static_cast<size_t>(reach) - 1;
  if (values.size() < size) {
    values.clear();
    for (int32_t distance = 1 - reach; distance < reach; ++distance) values.push_back(SlotOf(distance));
  }
  return std::span<const int32_t>(values).subspan((values.size() - size) / 2, size);
}

}  // namespace peruse::indices
