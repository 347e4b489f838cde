#include "core/program/indices.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace peruse {
namespace {

constexpr Extent kTokenCount = {Domain::kTokens, 1};
constexpr float kFarthest = 1 << 24;  // farther than any table reaches; a larger float might not fit an integer

int32_t Bucket(const Index::Distances& how, int32_t distance) {
  if (how.buckets == 0) return distance;
  const auto bucket = how.t5 ? T5Bucket : LogBucket;
  return bucket(distance, how.buckets, how.max_position);
}

int32_t Slot(const Index& index, int32_t distance) {
  const Index::Distances& how = index.distances;
  return std::clamp(Bucket(how, distance) + index.offset, 0, how.rows - 1);
}

void AppendText(const Index& index, const ModelInput& text, int32_t start, std::vector<int32_t>& values) {
  const auto length = static_cast<int32_t>(text.ids.size());
  switch (index.kind) {
    case Index::Kind::kIds:
      values.insert(values.end(), text.ids.begin(), text.ids.end());
      break;
    case Index::Kind::kTypes:
      values.insert(values.end(), text.type_ids.begin(), text.type_ids.end());
      if (text.type_ids.empty()) values.insert(values.end(), text.ids.size(), 0);
      break;
    case Index::Kind::kPositions:
      for (int32_t t = 0; t < length; ++t) values.push_back(t + index.offset);
      break;
    case Index::Kind::kPaddedPositions: {
      int32_t next = index.offset;
      for (const int32_t id : text.ids) values.push_back(id == index.padding ? index.offset - 1 : next++);
      break;
    }
    case Index::Kind::kFirstOfText:
      values.insert(values.end(), text.ids.size(), start);
      break;
    case Index::Kind::kFirst:
      values.push_back(start);
      break;
    case Index::Kind::kLast:
      values.push_back(start + length - 1);
      break;
    case Index::Kind::kLengths:
      values.push_back(length);
      break;
    default:  // not an index of a text
      break;
  }
}

// Returns the list that the caller provides for this kind of index; empty for kinds that are computed.
std::span<const int32_t> Given(Index::Kind kind, const HeadInputs& head) {
  switch (kind) {
    case Index::Kind::kWords:
      return head.words;
    case Index::Kind::kWordTokens:
      return head.word_tokens;
    case Index::Kind::kLabels:
      return head.labels;
    case Index::Kind::kLabelTokens:
      return head.label_tokens;
    case Index::Kind::kPairFirst:
      return head.pair_first;
    case Index::Kind::kPairSecond:
      return head.pair_second;
    default:
      return {};
  }
}

int32_t BlockOfWidth(Index::BlocksBy by, int32_t width) {
  switch (by) {
    case Index::BlocksBy::kNone:
      return 0;
    case Index::BlocksBy::kWidth:
      return width;
    case Index::BlocksBy::kTriangle:
      return width * (width + 1) / 2;
  }
  return 0;
}

void AppendForHead(const Index& index, const HeadInputs& head, const Sizes& sizes, std::vector<int32_t>& values) {
  const auto tokens = static_cast<size_t>(sizes(kTokenCount));
  switch (index.kind) {
    case Index::Kind::kPairWidth:
    case Index::Kind::kPairBlock:
      for (size_t pair = 0; pair < head.pair_first.size(); ++pair) {
        const int32_t width = head.pair_second[pair] - head.pair_first[pair];
        values.push_back(index.kind == Index::Kind::kPairWidth
                             ? width + index.offset
                             : head.pair_first[pair] * index.blocks + BlockOfWidth(index.blocks_by, width));
      }
      break;
    case Index::Kind::kRow:
      values.assign(static_cast<size_t>(sizes({index.domain, 1})), index.offset);
      break;
    case Index::Kind::kWordCount:
      values.push_back(static_cast<int32_t>(head.words.size()) + index.offset);
      break;
    case Index::Kind::kLabelAt:
      values.assign(tokens, 0);
      for (size_t label = 0; label < head.labels.size(); ++label) {
        values[static_cast<size_t>(head.labels[label])] = static_cast<int32_t>(label);
      }
      break;
    case Index::Kind::kIsLabel:
    case Index::Kind::kIsNoLabel:
      values.assign(tokens, index.kind == Index::Kind::kIsLabel ? 0 : 1);
      for (const int32_t row : head.labels) values[static_cast<size_t>(row)] ^= 1;
      break;
    case Index::Kind::kSegments:
      for (size_t row = 0; row < tokens; ++row) {
        values.push_back(static_cast<int32_t>(row) < head.second_segment ? 0 : 1);
      }
      break;
    default:  // not an index of a head
      break;
  }
}

}  // namespace

Sizes SizesOf(const BatchInputs& inputs) {
  Sizes sizes;
  sizes[Domain::kTokens] = inputs.batch.rows();
  sizes[Domain::kSequences] = inputs.batch.sequences();
  sizes[Domain::kLongest] = inputs.batch.longest();
  sizes[Domain::kChosen] = inputs.chosen.empty() ? inputs.batch.rows() : static_cast<int64_t>(inputs.chosen.size());
  sizes[Domain::kWords] = static_cast<int64_t>(inputs.head.words.size());
  sizes[Domain::kLabels] = static_cast<int64_t>(inputs.head.labels.size());
  sizes[Domain::kPairs] = static_cast<int64_t>(inputs.head.pair_first.size());
  return sizes;
}

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
  const float range = static_cast<float>(std::log(static_cast<double>(max_distance) / exact));
  const auto steps = static_cast<int32_t>(log / range * static_cast<float>(half - exact));
  return direction + std::min(half - 1, exact + steps);
}

// Returns the slots (rows of the position table) of all distances in (-reach, reach). `values` caches those of the longest text so far.
std::span<const int32_t> BatchIndices::FillSlots(const Index& index, int32_t reach, std::vector<int32_t>& values) {
  const size_t size = 2 * static_cast<size_t>(reach) - 1;
  if (values.size() < size) {
    values.clear();
    for (int32_t distance = 1 - reach; distance < reach; ++distance) values.push_back(Slot(index, distance));
  }
  return std::span<const int32_t>(values).subspan((values.size() - size) / 2, size);
}

void BatchIndices::Fill(const Program& program, const BatchInputs& inputs) {
  const Sizes sizes = SizesOf(inputs);
  values_.resize(program.indices.size());
  views_.resize(program.indices.size());
  for (size_t i = 0; i < program.indices.size(); ++i) {
    const Index& index = program.indices[i];
    std::vector<int32_t>& values = values_[i];
    if (index.kind == Index::Kind::kSlots) {
      views_[i] = FillSlots(index, inputs.batch.longest(), values);
      continue;
    }
    if (index.kind == Index::Kind::kAllRows) {
      for (auto row = static_cast<int32_t>(values.size()); row < index.distances.rows; ++row) values.push_back(row);
      views_[i] = values;
      continue;
    }
    values.clear();
    if (const std::span<const int32_t> given = Given(index.kind, inputs.head); !given.empty()) {
      views_[i] = given;
      continue;
    }
    if (index.kind == Index::Kind::kChosen) {
      values.assign(inputs.chosen.begin(), inputs.chosen.end());
      for (int32_t row = 0; inputs.chosen.empty() && row < inputs.batch.rows(); ++row) values.push_back(row);
    }
    AppendForHead(index, inputs.head, sizes, values);
    for (size_t s = 0; s < inputs.texts.size(); ++s) {
      AppendText(index, inputs.texts[s], inputs.batch.start(static_cast<int32_t>(s)), values);
    }
    views_[i] = values;
  }
}

}  // namespace peruse
