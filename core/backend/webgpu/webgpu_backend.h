// Records every operation for a GPU and computes nothing itself. A host replays the commands on a GPUDevice
// (web/src/gpu/executor.ts) before it reads results:
//
//   model.FeedWeights(chunk); model.FinishWeights();   after each: replay(commands()), ClearCommands()
//   model.Begin(texts); EndRecording();                replay(commands()), ClearCommands(), Replayed()
//   model.Finish();                                    calls Submit; results have been downloaded
//
// Replay the commands of each call before the next call, whatever the call did: they also create buffers and pipelines.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/backend/backend.h"
#include "core/backend/webgpu/recorder.h"

namespace peruse {

class WebGpuBackend : public Backend {
 public:
  // Closes the recorded run, as Submit does. A run that is not closed is not replayed.
  virtual void EndRecording() = 0;
  // The commands to replay, valid until the next call.
  virtual std::span<const uint32_t> commands() const = 0;
  virtual void ClearCommands() = 0;
  // Reports that all commands have been replayed and downloads are complete.
  virtual void Replayed() = 0;
  // Number of dispatches of the current or last run.
  virtual int32_t dispatches() const = 0;
};

// Replays commands and waits for them.
using ReplayCommands = std::function<Status(std::span<const uint32_t> commands)>;

// Stores linear layers as float32 (Precision::kF32), float16 (kF16) or int8 (kQ8). Computes in float32, except kQ8's sums of products,
// which are exact integers. With `replay`, for hosts that can block, Submit replays the commands itself, and deferred() is false.
std::unique_ptr<WebGpuBackend> CreateWebGpuBackend(const webgpu::Limits& limits = {}, ReplayCommands replay = nullptr);

}  // namespace peruse
