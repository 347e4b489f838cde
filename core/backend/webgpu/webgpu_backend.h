// Records every operation for a GPU: nothing is computed here. A host takes the commands, replays them on a GPUDevice
// (web/src/gpu/executor.ts) and only then asks for results:
//
//   model.FeedWeights(chunk); model.FinishWeights();   after each: replay(commands()), ClearCommands()
//   model.Begin(texts); EndRecording();                replay(commands()), ClearCommands(), Replayed()
//   model.Finish();                                    calls Submit; what was downloaded is there
//
// Whatever a call did, its commands are to be replayed before the next call, for they also make buffers and pipelines.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/backend/backend.h"
#include "core/backend/webgpu/recorder.h"

namespace peruse {

class WebGpuBackend : public Backend {
 public:
  // Closes the run that was recorded. Submit does so too; a run that nobody closes is not replayed.
  virtual void EndRecording() = 0;
  // What to replay. Valid until the next call.
  virtual std::span<const uint32_t> commands() const = 0;
  virtual void ClearCommands() = 0;
  // The host's word that all commands have been replayed and downloads are filled.
  virtual void Replayed() = 0;
  // Dispatches of the current or last run.
  virtual int32_t dispatches() const = 0;
};

// Replays commands and waits for them.
using ReplayCommands = std::function<Status(std::span<const uint32_t> commands)>;

// Linear layers are stored as float32 (Precision::kF32), float16 (kF16) or int8 (kQ8). Arithmetic is float32 but for kQ8's
// sums of products, which are exact integers.
// With `replay`, for hosts that can wait, Submit replays the commands itself, and deferred() is false.
std::unique_ptr<WebGpuBackend> CreateWebGpuBackend(const webgpu::Limits& limits = {}, ReplayCommands replay = nullptr);

}  // namespace peruse
