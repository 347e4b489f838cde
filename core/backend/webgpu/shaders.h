#pragma once

#include <string_view>

namespace peruse::webgpu {

std::string_view ShaderText(std::string_view name);

}  // namespace peruse::webgpu
