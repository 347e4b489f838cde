#include "core/base/status.h"

#include <gtest/gtest.h>

namespace peruse {
namespace {

// tests/node/check_place.test.ts has the same number.
TEST(Status, ACheckHasTheNumberOfItsPlace) { EXPECT_EQ(CheckPlace("a.cc", 12), 371010012u); }

}  // namespace
}  // namespace peruse
