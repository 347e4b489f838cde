// Records every operation for a GPU and computes nothing itself. A host must replay the commands of each call on a GPUDevice
// (web/src/gpu/executor.ts) before the next call: commands also create buffers and pipelines.
//
//   model.FeedWeights(chunk); model.FinishWeights();   after each: replay(commands()), ClearCommands()
//   model.Begin(texts); EndRecording();                replay(commands()), ClearCommands(), Replayed()
//   model.Finish();                                    calls Submit; results have been downloaded
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/backend/backend.h"
#include "core/backend/webgpu/recorder.h"

namespace peruse {

class WebGpuBackend : public Backend {
 public:
  // The precision of weights if neither the caller nor the checkpoint chooses one.
  static constexpr Precision kUsualPrecision = Precision::kF16;

  // Closes the recorded run, as Submit does. The host does not replay runs that are not closed.
  virtual void EndRecording() = 0;
  virtual std::span<const uint32_t> commands() const = 0;
  virtual void ClearCommands() = 0;
  // The host calls this after it has replayed all commands and completed downloads.
  virtual void Replayed() = 0;
  virtual int32_t dispatches() const = 0;
};

using ReplayCommands = std::function<Status(std::span<const uint32_t> commands)>;

// Stores linear layers as float32, float16 or int8 (kQ8). Computes in float32, except for kQ8's sums of products, which are exact integers.
// With `replay`, for hosts that can block, Submit replays the commands, and deferred() is false.
std::unique_ptr<WebGpuBackend> CreateWebGpuBackend(const webgpu::Limits& limits = {}, ReplayCommands replay = nullptr);

}  // namespace peruse
