#include "core/backend/webgpu/recording.h"

#include <algorithm>
#include <string>
#include <utility>

namespace peruse::webgpu {

Status Recording::Prepare(const Plan& plan) {
  failure_ = OkStatus();
  recorder_.Expect("activate", {});  // the pipeline that copies results for the download
  for (const Op& op : plan.program.ops) {
    std::visit([&](const auto& o) { Expect(*this, plan.program, o); }, op);
  }
  return std::exchange(failure_, OkStatus());
}

Status Recording::Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
                      std::span<FloatBuffer> results) {
  memory_.Release();
  for (int32_t buffer : run_buffers_) recorder_.Give(buffer);
  run_buffers_.clear();
  starts_buffer_ = Recorder::kNoBuffer;
  slots_ = {};
  failure_ = OkStatus();
  recording_ = true;
  replayed_ = false;
  downloads_ = false;
  recorder_.BeginRun();
  Begin(plan, weights, inputs);
  for (const PlanSlot& slot : plan.slots) {
    const int32_t rows = size(slot.rows);
    const int32_t cols = size(slot.cols);
    if (memory_.New(rows, cols)) continue;
    Fail(OutOfMemory("the run needs a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                     "; this GPU takes " + std::to_string(recorder_.limits().binding_bytes >> 20) +
                     " MiB in one piece"));
  }
  if (!failed()) Fail(RunOperations(*this, observer_, results));
  memory_.Release();
  return failure_;
}

void Recording::EndRecording() {
  if (recording_ && !failed()) recorder_.EndRun();
  if (recorder_.stream().failed()) Fail(OutOfMemory("no memory for the commands to the GPU"));
  recording_ = false;
}

Status Recording::Submit() {
  EndRecording();
  if (replay_ != nullptr) {
    PERUSE_RETURN_IF_ERROR(replay_(commands()));
    ClearCommands();
    Replayed();
  }
  if (failed()) return failure_;
  if (downloads_ && !replayed_) return InternalError("results were asked for before the GPU's commands were replayed");
  return OkStatus();
}

int32_t Recording::TakeForRun(uint64_t bytes, bool fresh) {
  const int32_t buffer = recorder_.Take(bytes, fresh);
  if (buffer == Recorder::kNoBuffer) {
    Fail(OutOfMemory("the run needs a buffer of " + std::to_string(bytes >> 20) + " MiB; this GPU takes " +
                     std::to_string(recorder_.limits().binding_bytes >> 20) + " MiB in one piece"));
    return buffer;
  }
  run_buffers_.push_back(buffer);
  return buffer;
}

Recording::View Recording::TakeMatrix(int32_t rows, int32_t cols, bool fresh) {
  return {TakeForRun(memory_.MatrixBytes(rows, cols), fresh), {0, static_cast<uint32_t>(cols)}};
}

void Recording::GiveBack(int32_t buffer) {
  const auto place = std::find(run_buffers_.begin(), run_buffers_.end(), buffer);
  if (place == run_buffers_.end()) return;
  recorder_.Give(buffer);
  run_buffers_.erase(place);
}

int32_t Recording::UploadInts(std::span<const int32_t> values, int32_t capacity) {
  const int32_t buffer = TakeForRun(memory_.MatrixBytes(capacity, 1), true);
  if (failed()) return buffer;
  recorder_.Write(buffer, 0, {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()});
  return buffer;
}

int32_t Recording::Starts() {
  if (starts_buffer_ == Recorder::kNoBuffer) {
    const std::vector<int32_t>& starts = batch().starts();
    starts_buffer_ = UploadInts(starts, static_cast<int32_t>(starts.size()));
  }
  return starts_buffer_;
}

int32_t Recording::Slots(IndexId slots) {
  if (slots_ != slots) {
    slots_ = slots;
    slots_buffer_ = UploadInts(at(slots), 2 * LengthBucket(batch().longest()));
  }
  return slots_buffer_;
}

float* Recording::WriteRoom(int32_t buffer, int64_t count) {
  return reinterpret_cast<float*>(recorder_.WriteRoom(buffer, 0, static_cast<size_t>(count) * sizeof(float)));
}

Status Recording::Download(Tensor x, std::span<float> destination) {
  if (failed() || destination.empty()) return failure_;
  const View compact = TakeMatrix(x.rows, x.cols);  // not given back before the run ends, so that nothing overwrites it
  if (failed()) return failure_;
  Copy(Of(x), x.rows, x.cols, compact);
  recorder_.Download(compact.buffer, destination);
  downloads_ = true;
  return OkStatus();
}

Recording::View Recording::Operand(Value value, Value out) {
  const Tensor x = at(value);
  if (x.buffer != at(out).buffer) return Of(x);
  const View copy = TakeMatrix(x.rows, x.cols);
  if (!failed()) Copy(Of(x), x.rows, x.cols, copy);
  return copy;
}

void Recording::Copy(const View& x, int32_t rows, int32_t cols, const View& out) {
  const ActivateParams params = {static_cast<uint32_t>(rows), static_cast<uint32_t>(cols), x.place, out.place,
                                 static_cast<uint32_t>(Activation::kNone)};
  recorder_.Dispatch("activate", {}, params, {x.buffer, out.buffer}, Elementwise(int64_t{rows} * cols));
}

}  // namespace peruse::webgpu

namespace peruse {

std::unique_ptr<WebGpuBackend> CreateWebGpuBackend(const webgpu::Limits& limits, ReplayCommands replay) {
  return std::make_unique<webgpu::Recording>(limits, std::move(replay));
}

}  // namespace peruse
