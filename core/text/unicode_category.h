// General categories, as the regular expressions of the reference tokenizer library see them (Oniguruma's).
#pragma once

#include <cstdint>
#include <string_view>

namespace peruse::text {

// In the order of kCategoryNames.
inline constexpr std::string_view kCategoryNames[] = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl",
                                                      "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc",
                                                      "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn", "Cs"};
inline constexpr size_t kCategories = 30;

// Its place in kCategoryNames.
uint8_t CategoryOf(char32_t c);

// The bits of a name such as "L" or "Nd", or 0.
uint32_t CategoriesNamed(std::string_view name);

}  // namespace peruse::text
