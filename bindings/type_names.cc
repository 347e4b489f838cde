// Embind prints a type's address for messages about types that were never registered, which a program of ours does not have: with C's
// formatting, a module would be 3 KB larger.
#include <cstring>

extern "C" int siprintf(char* out, const char*, ...) {
  constexpr char kName[] = "an unregistered type";
  std::memcpy(out, kName, sizeof(kName));
  return sizeof(kName) - 1;
}
