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
    kSlots,            // row of a table for each distance              [2 * longest - 1]
    kWords,            // row of each word                              [words]
    kLabels,           // row of each label                             [labels]
    kPairFirst,        // the first of each pair, a number of a word    [pairs]
    kPairSecond,       // the second, a number of a word or label       [pairs]
  };
  // How distances fall on the rows of a table (kSlots): row = clamp(bucket(distance) + offset, 0, rows - 1).
  struct Distances {
    int32_t buckets = 0;       // logarithmic; 0: each distance is its own
    int32_t max_position = 0;  // of the buckets: from here on all distances share one
    bool t5 = false;           // T5's buckets, not DeBERTa v2's
    int32_t rows = 0;          // of the table

    bool operator==(const Distances&) const = default;
  };

  Kind kind = Kind::kIds;
  int32_t offset = 0;
  int32_t padding = -1;
  Distances distances;

  // Whether it names some of the rows, each once.
  bool chooses() const { return kind == Kind::kFirst || kind == Kind::kLast || kind == Kind::kChosen; }
  bool operator==(const Index&) const = default;
};

// How many integers an index has.
inline Extent ExtentOf(const Index& index) {
  switch (index.kind) {
    case Index::Kind::kFirst:
    case Index::Kind::kLast:
      return {Domain::kSequences, 1};
    case Index::Kind::kChosen:
      return {Domain::kChosen, 1};
    case Index::Kind::kSlots:
      return {Domain::kLongest, 2};  // less one
    case Index::Kind::kWords:
      return {Domain::kWords, 1};
    case Index::Kind::kLabels:
      return {Domain::kLabels, 1};
    case Index::Kind::kPairFirst:
    case Index::Kind::kPairSecond:
      return {Domain::kPairs, 1};
    default:
      return {Domain::kTokens, 1};
  }
}

}  // namespace peruse
