// Without memory for the distances between all rows of a text, merging them fails. Only in WebAssembly: elsewhere the system promises more
// memory than it has.
#if defined(__EMSCRIPTEN__)

#include <gtest/gtest.h>

#include "core/base/memory.h"
#include "core/tasks/row_clusters.h"

namespace peruse {
namespace {

TEST(RowClustersMemory, NoMemoryForDistancesIsAnError) {
  const auto merge = [](size_t count) { return MergeRows(std::vector<float>(count, 1.0f), 1, 2, 0).status().code(); };
  EXPECT_EQ(merge(40'000), StatusCode::kOutOfMemory) << "12 GB";
  ASSERT_TRUE(HoldReserve().ok());
  EXPECT_EQ(merge(40), StatusCode::kOk);
}

}  // namespace
}  // namespace peruse

#endif
