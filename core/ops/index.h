// Integer inputs of a program. The host computes them for each batch.
#pragma once

#include "core/ops/value.h"

namespace peruse {

struct Index {
  enum class Kind : uint8_t {
    kIds,        // token ids  [tokens]
    kTypes,      // segment of each token  [tokens]
    kPositions,  // position of each token in its text, + offset  [tokens]
    // kPositions, except that `padding` tokens have the position `offset` - 1 and are not counted  [tokens]
    kPaddedPositions,
    kFirstOfText,  // row of the first token of each token's text  [tokens]
    kFirst,        // row of each text's first token  [sequences]
    kLast,         // row of each text's last token  [sequences]
    kChosen,       // requested rows  [chosen]
    kLengths,      // number of tokens of each text  [sequences]
    kSlots,        // row of the position table for each distance  [2 * longest - 1]
    kAllRows,      // the rows of a table (distances.rows)  [rows]
    // Inputs of heads that read labels or words, for a batch of one text:
    kWords,        // first row of each word  [words]
    kWordTokens,   // number of rows of each word  [words]
    kLabels,       // first row of each label  [labels]
    kLabelTokens,  // number of rows of each label  [labels]
    kPairFirst,    // word number of each pair's first member  [pairs]
    kPairSecond,   // word or label number of each pair's second member  [pairs]
    kPairWidth,    // second minus first word number of a pair, + offset  [pairs]
    // block number of each first word and width: first * blocks + an offset that depends on the width (BlocksBy)  [pairs]
    kPairBlock,
    kRow,        // the value of `offset`  [domain]
    kWordCount,  // number of words, + offset  [sequences]
    kLabelAt,    // number of the label at a label's row, 0 at other tokens  [tokens]
    kIsLabel,    // 1 at a label's row, else 0  [tokens]
    kIsNoLabel,  // 0 at a label's row, else 1  [tokens]
    kSegments,   // 0 before the first row of the second segment, 1 from there on  [tokens]
  };
  // For kSlots: a distance has the row clamp(bucket(distance) + offset, 0, rows - 1) of the position table.
  struct Distances {
    int32_t buckets = 0;       // number of logarithmic buckets; 0 means one bucket per distance
    int32_t max_position = 0;  // larger distances share the last bucket
    bool t5 = false;           // uses T5's buckets instead of DeBERTa v2's
    int32_t rows = 0;

    bool operator==(const Distances&) const = default;
  };

  // Determines a pair's block, counted from the first block of its first word, by the pair's width.
  enum class BlocksBy : uint8_t {
    kNone,
    kWidth,     // one block per width
    kTriangle,  // width + 1 blocks per width
  };

  Kind kind = Kind::kIds;
  int32_t offset = 0;
  int32_t padding = -1;
  Distances distances;
  int32_t blocks = 0;  // number of blocks of each first word
  BlocksBy blocks_by = BlocksBy::kNone;
  Domain domain = Domain::kOne;

  // Whether the index selects some of the rows, each at most once.
  bool chooses() const { return kind == Kind::kFirst || kind == Kind::kLast || kind == Kind::kChosen; }
  bool operator==(const Index&) const = default;
};

inline Extent ExtentOf(const Index& index) {
  switch (index.kind) {
    case Index::Kind::kFirst:
    case Index::Kind::kLast:
    case Index::Kind::kLengths:
    case Index::Kind::kWordCount:
      return {Domain::kSequences, 1};
    case Index::Kind::kChosen:
      return {Domain::kChosen, 1};
    case Index::Kind::kSlots:
      return {Domain::kLongest, 2};  // 2 * longest - 1 distances
    case Index::Kind::kWords:
    case Index::Kind::kWordTokens:
      return {Domain::kWords, 1};
    case Index::Kind::kLabels:
    case Index::Kind::kLabelTokens:
      return {Domain::kLabels, 1};
    case Index::Kind::kRow:
      return {index.domain, 1};
    case Index::Kind::kPairFirst:
    case Index::Kind::kPairSecond:
    case Index::Kind::kPairWidth:
    case Index::Kind::kPairBlock:
      return {Domain::kPairs, 1};
    case Index::Kind::kAllRows:
      return {Domain::kOne, index.distances.rows};
    default:
      return {Domain::kTokens, 1};
  }
}

}  // namespace peruse
