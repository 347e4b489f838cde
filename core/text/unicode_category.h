// General categories as in Oniguruma, which tokenizers uses for regular expressions.
#pragma once

#include <cstdint>
#include <string_view>

namespace peruse::text {

inline constexpr std::string_view kCategoryNames[] = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl",
                                                      "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc",
                                                      "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn", "Cs"};
inline constexpr size_t kCategories = 30;

uint8_t CategoryOf(char32_t c);

// Returns a bit for each category that "L" or "Nd" includes; 0 for unknown names.
uint32_t CategoriesNamed(std::string_view name);

}  // namespace peruse::text
