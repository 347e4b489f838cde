// Where tests/fixtures is. Compiled into one file alone, so that the others compile to the same in every checkout.
#pragma once

#include <string>

namespace peruse {

// Without a slash at the end.
std::string FixturesDir();

}  // namespace peruse
