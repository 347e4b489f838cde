// Integers that each batch brings to a program.
#pragma once

#include "core/ops/value.h"

namespace peruse {

struct Index {
  enum class Kind : uint8_t {
    kIds,              // token ids                                     [tokens]
    kTypes,            // segment of each token                         [tokens]
    kPositions,        // place of each token in its text, + offset     [tokens]
    kPaddedPositions,  // the same; a token that is `padding` has the place `offset` - 1, and does not count   [tokens]
    kFirstOfText,      // row of the first token of each token's text   [tokens]
    kFirst,            // row of each text's first token                [sequences]
    kLast,             // row of each text's last token                 [sequences]
    kChosen,           // rows that the caller chose                    [chosen]
    kLengths,          // how many tokens each text has                 [sequences]
    kSlots,            // row of a table for each distance              [2 * longest - 1]
    kAllRows,          // the rows of a table (distances.rows)          [rows]
    // What a head reads beside the one text of a batch.
    kWords,        // row of each word, or its first                [words]
    kWordTokens,   // how many rows it has                          [words]
    kLabels,       // row of each label, or its first               [labels]
    kLabelTokens,  // how many rows it has                          [labels]
    kPairFirst,    // the first of each pair, a number of a word    [pairs]
    kPairSecond,   // the second, a number of a word or label       [pairs]
    kPairWidth,    // words from the first on before the second, + offset               [pairs]
    kPairBlock,  // of the block for each first word and width: first * blocks + what `blocks_by` makes of the width  [pairs]
    kRow,        // `offset`                                      [domain]
    kWordCount,  // how many words there are, + offset            [sequences]
    kLabelAt,    // the number of the label whose row it is; of other tokens 0         [tokens]
    kIsLabel,    // 1 where a token is a label's row; else 0      [tokens]
    kIsNoLabel,  // the other way round                           [tokens]
    kSegments,   // 0 before the row where the second segment begins, 1 from it on     [tokens]
  };
  // How distances fall on the rows of a table (kSlots): row = clamp(bucket(distance) + offset, 0, rows - 1).
  struct Distances {
    int32_t buckets = 0;       // logarithmic; 0: each distance is its own
    int32_t max_position = 0;  // of the buckets: from here on all distances share one
    bool t5 = false;           // T5's buckets, not DeBERTa v2's
    int32_t rows = 0;          // of the table

    bool operator==(const Distances&) const = default;
  };

  // What a pair's width adds to the number of its block.
  enum class BlocksBy : uint8_t {
    kNone,
    kWidth,     // one block for each width
    kTriangle,  // width + 1 blocks for each width
  };

  Kind kind = Kind::kIds;
  int32_t offset = 0;
  int32_t padding = -1;
  Distances distances;
  int32_t blocks = 0;  // of each first word
  BlocksBy blocks_by = BlocksBy::kNone;
  Domain domain = Domain::kOne;

  // Whether it names some of the rows, each once.
  bool chooses() const { return kind == Kind::kFirst || kind == Kind::kLast || kind == Kind::kChosen; }
  bool operator==(const Index&) const = default;
};

// How many integers an index has.
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
      return {Domain::kLongest, 2};  // less one
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
