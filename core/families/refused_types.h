#pragma once

#include <string>
#include <string_view>

namespace peruse {

// Explains for popular types that Peruse does not support why, and what to use instead. The text follows the type in a message; it is ""
// for other types. `architecture` is architectures[0], or "".
std::string WhyRefused(std::string_view model_type, std::string_view architecture);

}  // namespace peruse
