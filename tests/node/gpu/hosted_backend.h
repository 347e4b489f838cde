// The WebGPU backend as a backend that computes: Submit waits (Asyncify) until JavaScript has replayed the commands.
// So every test of tests/native runs on a GPU as it stands.
#pragma once

#include <memory>

#include "core/backend/webgpu/webgpu_backend.h"

namespace peruse::testing {

std::unique_ptr<WebGpuBackend> CreateHostedWebGpuBackendWithin(const webgpu::Limits& limits);
std::unique_ptr<Backend> CreateHostedWebGpuBackend();
// Whether the host's device has subgroups, and WGSL has subgroup_id.
bool HostHasSubgroups();

}  // namespace peruse::testing
