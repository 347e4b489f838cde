#include "tests/node/gpu/hosted_backend.h"

#include <emscripten.h>

#include <utility>

namespace peruse::testing {
namespace {

// clang-format off
EM_JS(int, CreateGpuExecutor, (), { return Module.gpu.create(); });
EM_JS(void, DisposeGpuExecutor, (int executor), { Module.gpu.dispose(executor); });
EM_JS(int, HasSubgroups, (), { return Module.gpu.subgroups; });
// 0, or 1 after an error, whose words went to the console.
EM_ASYNC_JS(int, ReplayOnGpu, (int executor, const uint32_t* address, size_t words), {
  return await Module.gpu.replay(executor, () => HEAPU8, address, words);
});
// clang-format on

class Executor {
 public:
  Executor() : id_(CreateGpuExecutor()) {}
  ~Executor() { DisposeGpuExecutor(id_); }
  Status Replay(std::span<const uint32_t> commands) const {
    if (ReplayOnGpu(id_, commands.data(), commands.size()) == 0) return OkStatus();
    return InternalError("the GPU refused");
  }

 private:
  int id_;
};

}  // namespace

std::unique_ptr<WebGpuBackend> CreateHostedWebGpuBackendWithin(const webgpu::Limits& limits) {
  auto executor = std::make_shared<Executor>();
  return CreateWebGpuBackend(limits,
                             [executor](std::span<const uint32_t> commands) { return executor->Replay(commands); });
}

std::unique_ptr<Backend> CreateHostedWebGpuBackend() { return CreateHostedWebGpuBackendWithin({}); }

bool HostHasSubgroups() { return HasSubgroups() != 0; }

}  // namespace peruse::testing
