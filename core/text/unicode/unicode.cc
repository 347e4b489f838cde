#include "core/text/unicode/unicode.h"

#include "core/text/unicode/block_table.h"

namespace peruse::text {
namespace {

constexpr uint32_t kClassRuns[] = {
#include "core/text/unicode/unicode_tables.inc"
};
constexpr auto kPackedClassRuns = Packed<kClassRuns, ValueBelow<8>>();

}  // namespace

uint8_t LookUpCharClasses(char32_t c) {
  static const RunTable<240> table(kPackedClassRuns);
  return table[c];
}

}  // namespace peruse::text
