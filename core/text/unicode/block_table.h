// Maps every code point to a value in constant time. The constructor expands a table of runs into blocks of code points, and stores equal
// blocks once. Does not allocate, and adds no bytes to the WebAssembly file.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/status.h"
#include "core/text/unicode/packed_entries.h"

namespace peruse::text {

inline constexpr char32_t kCodePoints = 0x110000;

template <typename Value, size_t kMost>
class BlockTable {
 public:
  // `fill(start, block)` writes the kBlock values from code point `start` on into `block`, which initially contains Value().
  template <typename Fill>
  explicit BlockTable(Fill fill) {
    for (char32_t start = 0; start < kCodePoints; start += kBlock) {
      Value block[kBlock] = {};
      fill(start, block);
      // Compares the newest blocks first, because equal blocks are usually adjacent (unassigned planes, Han).
      size_t found = count_;
      while (found > 0 && !std::equal(block, block + kBlock, blocks_[found - 1])) --found;
      if (found == 0) {
        PERUSE_CHECK(count_ < kMost);
        std::copy(block, block + kBlock, blocks_[count_]);
        found = ++count_;
      }
      index_[start / kBlock] = static_cast<uint16_t>(found - 1);
    }
  }

  Value operator[](char32_t c) const { return blocks_[index_[c / kBlock]][c % kBlock]; }

  static constexpr size_t kBlock = 128;

 private:
  uint16_t index_[kCodePoints / kBlock];
  size_t count_ = 0;
  Value blocks_[kMost][kBlock];
};

// Packed runs of equal values. An entry has the first code point of a run, and the value.
template <size_t kMost>
class RunTable : public BlockTable<uint8_t, kMost> {
 public:
  template <size_t kBytes>
  explicit RunTable(const std::array<uint8_t, kBytes>& runs)
      : BlockTable<uint8_t, kMost>([reader = PackedReader(runs.data(), kBytes), next = PackedReader::Entry(),
                                    value = uint8_t{0}](char32_t start, uint8_t* block) mutable {
          for (char32_t c = start; c < start + RunTable::kBlock; ++c) {
            while (next.key <= c) {
              value = static_cast<uint8_t>(next.value);
              next = reader.done() ? PackedReader::Entry{kCodePoints, 0} : reader.Next();
            }
            block[c - start] = value;
          }
        }) {}
};

}  // namespace peruse::text
