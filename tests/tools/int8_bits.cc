// Prints the int8 path of this machine and build, and hashes of results, which must not depend on either.
#include "tests/native/cpu/int8_bits.h"

#include <cstdio>

#include "core/cpu/int8_gemm.h"

int main() {
  constexpr const char* kPaths[] = {"sdot", "usdot", "i16"};
  std::printf("{\"path\": \"%s\", \"rows\": %u, \"linears\": %u, \"four_bit_linears\": %u}\n",
              kPaths[static_cast<int>(peruse::cpu::ChosenInt8Path())], peruse::testing::HashRows(),
              peruse::testing::HashLinears(peruse::Precision::kQ8),
              peruse::testing::HashLinears(peruse::Precision::kQ4));
  return 0;
}
