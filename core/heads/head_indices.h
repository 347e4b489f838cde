// Lists of integers for heads that read words, labels or pairs of both (core/ops/index.h), for a batch of one text.
#pragma once

#include <cstdint>
#include <span>

#include "core/program/indices.h"

namespace peruse::indices {

struct Words {  // first row of each word  [words]
  Extent extent() const { return {Domain::kWords, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values&) const { return inputs.head.words; }
};

struct WordTokens {  // number of rows of each word  [words]
  Extent extent() const { return {Domain::kWords, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values&) const { return inputs.head.word_tokens; }
};

struct Labels {  // first row of each label  [labels]
  Extent extent() const { return {Domain::kLabels, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values&) const { return inputs.head.labels; }
};

struct LabelTokens {  // number of rows of each label  [labels]
  Extent extent() const { return {Domain::kLabels, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values&) const { return inputs.head.label_tokens; }
};

struct PairFirst {  // word number of each pair's first member  [pairs]
  Extent extent() const { return {Domain::kPairs, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values&) const { return inputs.head.pair_first; }
};

struct PairSecond {  // word or label number of each pair's second member  [pairs]
  Extent extent() const { return {Domain::kPairs, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values&) const { return inputs.head.pair_second; }
};

struct PairWidth {  // second minus first word number of a pair, + offset  [pairs]
  int32_t offset = 0;

  Extent extent() const { return {Domain::kPairs, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

// Block number of each pair, if every word has `blocks` blocks.
struct PairBlock {  // [pairs]
  // Determines a pair's block, counted from the first block of its first word, by the pair's width.
  enum class By : int32_t {
    kNone,
    kWidth,     // one block per width
    kTriangle,  // width + 1 blocks per width
  };

  int32_t blocks = 0;
  By by = By::kNone;

  Extent extent() const { return {Domain::kPairs, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct Row {  // the same number for each element of a domain  [domain]
  enum class Per : int32_t { kProgram, kSequence, kPair };

  int32_t row = 0;
  Per per = Per::kProgram;

  Extent extent() const {
    return {per == Per::kPair ? Domain::kPairs : per == Per::kSequence ? Domain::kSequences : Domain::kOne, 1};
  }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct WordCount {  // number of words, + offset  [sequences]
  int32_t offset = 0;

  Extent extent() const { return {Domain::kSequences, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct LabelAt {  // number of the label at a label's row, 0 at other tokens  [tokens]
  Extent extent() const { return {Domain::kTokens, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct IsLabel {  // `at` at a label's row, else 1 - `at`  [tokens]
  int32_t at = 1;

  Extent extent() const { return {Domain::kTokens, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

struct Segments {  // 0 before the first row of the second segment, 1 from there on  [tokens]
  Extent extent() const { return {Domain::kTokens, 1}; }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Index::Values& values) const;
};

}  // namespace peruse::indices
