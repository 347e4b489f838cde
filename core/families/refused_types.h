// Types of models that people ask for and Peruse lacks: why, and what to use instead.
#pragma once

#include <string>
#include <string_view>

namespace peruse {

// The end of a message that begins with the type; empty if the type is none of them. `architecture`: architectures[0], or empty.
std::string WhyRefused(std::string_view model_type, std::string_view architecture);

}  // namespace peruse
