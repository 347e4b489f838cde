// The WGSL of this folder, embedded by cmake/shaders.cmake.
#pragma once

#include <string_view>

namespace peruse::webgpu {

// The text of <name>.wgsl; empty for a name that is not there.
std::string_view ShaderText(std::string_view name);

}  // namespace peruse::webgpu
