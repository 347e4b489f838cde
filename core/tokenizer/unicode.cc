#include "core/tokenizer/unicode.h"

#include "core/tokenizer/block_table.h"

namespace peruse {
namespace {

constexpr uint32_t kClassRuns[] = {
#include "core/tokenizer/unicode_tables.inc"
};

}  // namespace

uint8_t LookUpCharClasses(char32_t c) {
  static const RunTable<240> table(kClassRuns);
  return table[c];
}

}  // namespace peruse
