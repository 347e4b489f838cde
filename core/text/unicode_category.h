// General categories, as in the regular expressions of tokenizers (Oniguruma).
#pragma once

#include <cstdint>
#include <string_view>

namespace peruse::text {

// In the order of kCategoryNames.
inline constexpr std::string_view kCategoryNames[] = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl",
                                                      "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc",
                                                      "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn", "Cs"};
inline constexpr size_t kCategories = 30;

// Returns an index in kCategoryNames.
uint8_t CategoryOf(char32_t c);

// Returns the bits of a name such as "L" or "Nd", or 0.
uint32_t CategoriesNamed(std::string_view name);

}  // namespace peruse::text
