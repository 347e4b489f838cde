#include "core/heads/head_indices.h"

namespace peruse::indices {
namespace {

int32_t BlockOf(PairBlock::By by, int32_t width) {
  switch (by) {
    case PairBlock::By::kNone:
      return 0;
    case PairBlock::By::kWidth:
      return width;
    case PairBlock::By::kTriangle:
      return width * (width + 1) / 2;
  }
  return 0;
}

}  // namespace

std::span<const int32_t> PairWidth::Fill(const BatchInputs& inputs, Index::Values& values) const {
  const HeadInputs& head = inputs.head;
  values.clear();
  for (size_t pair = 0; pair < head.pair_first.size(); ++pair) {
    values.push_back(head.pair_second[pair] - head.pair_first[pair] + offset);
  }
  return values;
}

std::span<const int32_t> PairBlock::Fill(const BatchInputs& inputs, Index::Values& values) const {
  const HeadInputs& head = inputs.head;
  values.clear();
  for (size_t pair = 0; pair < head.pair_first.size(); ++pair) {
    const int32_t first = head.pair_first[pair];
    values.push_back(first * blocks + BlockOf(by, head.pair_second[pair] - first));
  }
  return values;
}

std::span<const int32_t> Row::Fill(const BatchInputs& inputs, Index::Values& values) const {
  values.assign(static_cast<size_t>(SizesOf(inputs)(extent())), row);
  return values;
}

std::span<const int32_t> WordCount::Fill(const BatchInputs& inputs, Index::Values& values) const {
  values.assign(1, static_cast<int32_t>(inputs.head.words.size()) + offset);
  return values;
}

std::span<const int32_t> LabelAt::Fill(const BatchInputs& inputs, Index::Values& values) const {
  values.assign(static_cast<size_t>(inputs.batch.rows()), 0);
  int32_t label = 0;
  for (const int32_t row : inputs.head.labels) values[static_cast<size_t>(row)] = label++;
  return values;
}

std::span<const int32_t> IsLabel::Fill(const BatchInputs& inputs, Index::Values& values) const {
  values.assign(static_cast<size_t>(inputs.batch.rows()), 1 - at);
  for (const int32_t row : inputs.head.labels) values[static_cast<size_t>(row)] = at;
  return values;
}

std::span<const int32_t> Segments::Fill(const BatchInputs& inputs, Index::Values& values) const {
  values.clear();
  for (int32_t row = 0; row < inputs.batch.rows(); ++row) {
    values.push_back(row < inputs.head.second_segment ? 0 : 1);
  }
  return values;
}

}  // namespace peruse::indices
