// The WGSL of this folder, embedded by cmake/shaders.cmake.
#pragma once

#include <string_view>

namespace peruse::webgpu {

// Returns the text of <name>.wgsl, or an empty string.
std::string_view ShaderText(std::string_view name);

}  // namespace peruse::webgpu
