#include "core/backend/webgpu/webgpu_backend.h"

#include <utility>

#include "core/backend/webgpu/recording.h"

namespace peruse {

std::unique_ptr<WebGpuBackend> CreateWebGpuBackend(const webgpu::Limits& limits, ReplayCommands replay) {
  return std::make_unique<webgpu::Recording>(limits, std::move(replay));
}

}  // namespace peruse
