// General categories as in Oniguruma, the regular-expression library that tokenizers uses.
#pragma once

#include <cstdint>
#include <string_view>

namespace peruse::text {

inline constexpr std::string_view kCategoryNames[] = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl",
                                                      "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc",
                                                      "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn", "Cs"};
inline constexpr size_t kCategories = 30;

uint8_t CategoryOf(char32_t c);

uint32_t CategoriesNamed(std::string_view name);

}  // namespace peruse::text
