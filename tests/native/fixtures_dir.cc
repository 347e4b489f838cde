#include "tests/native/fixtures_dir.h"

namespace peruse {

std::string FixturesDir() { return PERUSE_FIXTURES_DIR; }

}  // namespace peruse
