// Location of tests/fixtures. Only one file depends on it, so that the others compile identically in every checkout.
#pragma once

#include <string>

namespace peruse {

std::string FixturesDir();

}  // namespace peruse
