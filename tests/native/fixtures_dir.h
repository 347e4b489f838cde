// Location of tests/fixtures. Compiled into one file only, so that the other files compile identically in every checkout.
#pragma once

#include <string>

namespace peruse {

std::string FixturesDir();

}  // namespace peruse
