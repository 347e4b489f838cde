#include "tests/native/fixtures_dir.h"

namespace peruse {

std::string FixturesDir() { return "/fixtures"; }  // The runners put them there.

}  // namespace peruse
