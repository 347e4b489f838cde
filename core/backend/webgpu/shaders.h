#pragma once

#include <string_view>

namespace peruse::webgpu {

// Returns the text of <name>.wgsl, which cmake/shaders.cmake embeds, or an empty string.
std::string_view ShaderText(std::string_view name);

}  // namespace peruse::webgpu
