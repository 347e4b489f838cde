#include "core/text/unicode/unicode.h"

#include "core/text/unicode/block_table.h"
#include "core/text/unicode/unicode_categories.inc"

namespace peruse::text {
namespace {

constexpr uint32_t kClassRuns[] = {
#include "core/text/unicode/unicode_tables.inc"
};
constexpr auto kPackedClassRuns = Packed<kClassRuns, ValueBelow<8>>();

using CategoryTable = BlockTable<uint8_t, kCategoryBlocks>;

// Reads runs of code points of one category. A run is stored as (length - 1) * 32 + category, with seven bits per byte; the last byte of a
// number has a clear high bit.
class CategoryRuns {
 public:
  void Fill(char32_t start, uint8_t* block) {
    for (char32_t c = start; c < start + CategoryTable::kBlock; ++c) {
      if (left_ == 0) Read();
      block[c - start] = category_;
      --left_;
    }
  }

 private:
  void Read() {
    uint32_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = kCategoryRuns[at_++];
      value |= static_cast<uint32_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    category_ = static_cast<uint8_t>(value & 31);
    left_ = (value >> 5) + 1;
  }

  size_t at_ = 0;
  uint32_t left_ = 0;
  uint8_t category_ = 0;
};

}  // namespace

uint8_t LookUpCharClasses(char32_t c) {
  static const RunTable<240> table(kPackedClassRuns);
  return table[c];
}

uint8_t CategoryOf(char32_t c) {
  static const CategoryTable table(
      [runs = CategoryRuns()](char32_t start, uint8_t* block) mutable { runs.Fill(start, block); });
  return table[c];
}

uint32_t CategoriesNamed(std::string_view name) {
  uint32_t bits = 0;
  for (size_t i = 0; i < kCategories; ++i) {
    if (kCategoryNames[i] == name || (name.size() == 1 && kCategoryNames[i][0] == name[0])) bits |= uint32_t{1} << i;
  }
  return bits;
}

}  // namespace peruse::text
