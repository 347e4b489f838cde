// Types of models that people ask for and Peruse lacks: why, and what to use instead.
#pragma once

#include <string>
#include <string_view>

namespace peruse {

// Returns the end of a message that begins with the type, or "" for all other types. `architecture` is architectures[0], or "".
std::string WhyRefused(std::string_view model_type, std::string_view architecture);

}  // namespace peruse
