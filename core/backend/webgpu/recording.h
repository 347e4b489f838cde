// The class behind WebGpuBackend. Each operation has a file of its name, with two functions: Record(recording, op) records dispatches of
// shaders, and Expect(recording, program, op) announces their pipelines.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/plan_run.h"
#include "core/backend/webgpu/parameters.h"
#include "core/backend/webgpu/recorder.h"
#include "core/backend/webgpu/webgpu_backend.h"
#include "core/backend/webgpu/webgpu_memory.h"

namespace peruse::webgpu {

inline constexpr uint32_t kThreads = 64;  // THREADS of the elementwise shaders

inline uint32_t CeilDivide(int64_t a, int64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

class Recording final : public WebGpuBackend, public PlanRun {
 public:
  Recording(const Limits& limits, ReplayCommands replay)
      : recorder_(limits), memory_(recorder_), replay_(std::move(replay)) {}

  std::string_view name() const override { return "webgpu"; }
  bool deferred() const override { return replay_ == nullptr; }

  // Announces all pipelines of the plan, so that they compile in parallel while weights arrive.
  Status Prepare(const Plan& plan) override;

  Result<Weight> CreateLinear(const LinearSpec& spec) override { return memory_.CreateLinear(spec); }
  Status WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) override {
    return memory_.WriteRows(weight, first_row, rows);
  }
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values) override {
    return memory_.WriteBias(weight, first, values);
  }
  void FreeLinear(Weight weight) override { memory_.FreeLinear(weight); }
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols) override { return memory_.CreateConstant(rows, cols); }
  Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) override {
    return memory_.WriteConstant(constant, first_row, rows);
  }
  // No shader multiplies weights of 4 bits: they are int8 in the GPU's memory.
  Precision LinearPrecision(Precision precision) const override { return LinearFallback(precision); }
  int64_t WeightBytes() const override { return memory_.weight_bytes(); }

  Status Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
             std::span<FloatBuffer> results) override;
  Status Submit() override;

  void EndRecording() override;
  std::span<const uint32_t> commands() const override { return recorder_.stream().words(); }
  void ClearCommands() override { recorder_.stream().Clear(); }
  void Replayed() override { replayed_ = true; }
  int32_t dispatches() const override { return recorder_.dispatches(); }

  struct View {
    int32_t buffer = Recorder::kNoBuffer;
    Place place;
  };

  Recorder& recorder() { return recorder_; }
  const LinearWeight& linear(LinearId id) const { return memory_.linear(at(id)); }

  void Fail(Status status) {
    if (failure_.ok()) failure_ = std::move(status);
  }
  bool failed() const { return !failure_.ok(); }
  const Status& failure() const { return failure_; }

  View Of(Tensor x) const {
    return {memory_.buffer(x), {static_cast<uint32_t>(x.first), static_cast<uint32_t>(x.stride)}};
  }
  View Of(Value x) const { return Of(at(x)); }
  // Returns an operand of an operation that writes `out`. A dispatch cannot read and write one buffer, so if both are columns of one
  // buffer, the operand is copied first.
  View Operand(Value x, Value out);
  // Borrows a contiguous matrix [rows, cols] until the run ends. If memory runs out, the run fails.
  View TakeMatrix(int32_t rows, int32_t cols, bool fresh = false);
  void GiveBack(int32_t buffer);
  // `capacity` is the minimum size of the buffer, in integers.
  int32_t UploadInts(std::span<const int32_t> values, int32_t capacity);
  // Uploads the number of each text's first row, and returns the buffer.
  int32_t Starts();
  int32_t Slots(IndexId slots);
  // Allocates a contiguous matrix for `out`, which the host computes by calling write(memory).
  template <typename Write>
  void Upload(Value out, Write write);
  void Copy(const View& x, int32_t rows, int32_t cols, const View& out);
  Status Download(Tensor x, std::span<float> destination);

  // Returns the shader for a device without subgroups, or with them.
  std::string_view BySubgroups(std::string_view without, std::string_view with) const {
    return recorder_.limits().subgroups ? with : without;
  }
  Grid Elementwise(int64_t count) const {
    return {std::min(CeilDivide(count, kThreads), recorder_.limits().workgroups_per_dimension), 1, 1};
  }
  Grid TokenGrid(int64_t columns) const {
    const uint32_t most = recorder_.limits().workgroups_per_dimension;
    return {CeilDivide(columns, kThreads), std::min(static_cast<uint32_t>(batch().longest()), most),
            static_cast<uint32_t>(batch().sequences())};
  }

 private:
  // Borrows a buffer until the run ends. Returns kNoBuffer if the run failed.
  int32_t TakeForRun(uint64_t bytes, bool fresh);
  float* WriteRoom(int32_t buffer, int64_t count);

  Recorder recorder_;
  Memory memory_;
  ReplayCommands replay_;
  Status failure_;
  bool recording_ = false;  // between Run and EndRecording
  bool replayed_ = true;
  bool downloads_ = false;  // the run has downloads
  std::vector<int32_t> run_buffers_;
  int32_t starts_buffer_ = Recorder::kNoBuffer;
  // Index whose slots (rows of the position table by distance) this run has uploaded; the next member is their buffer.
  IndexId slots_;
  int32_t slots_buffer_ = Recorder::kNoBuffer;
};

template <typename Write>
void Recording::Upload(Value out, Write write) {
  const Tensor x = at(out);
  if (x.rows == 0 || x.cols == 0) return;
  const bool whole = x.first == 0 && x.cols == x.stride;
  View staged = Of(x);
  if (whole) {
    // A constant is written once, before any run reads it.
    if (!memory_.IsConstant(x) && !memory_.Refresh(x))
      return Fail(OutOfMemory("no buffer to write the run's inputs to"));
    staged = Of(x);
  } else {
    staged = TakeMatrix(x.rows, x.cols, true);
  }
  if (failed()) return;
  float* room = WriteRoom(staged.buffer, int64_t{x.rows} * x.cols);
  if (room == nullptr) return Fail(OutOfMemory("no memory for the commands to the GPU"));
  write(room);
  if (!whole) Copy(staged, x.rows, x.cols, Of(x));
}

// Each operation specialises both templates in its own file: Record records it, Expect announces its pipelines. The linker reports missing
// ones.
template <typename Operation>
void Record(Recording& r, const Operation& op);
template <typename Operation>
void Expect(Recording& r, const Program& program, const Operation& op);

template <>
inline void Record(Recording& r, const ops::Concat& op) {
  r.Fail(peruse::Run(static_cast<PlanRun&>(r), op));
}
template <>
inline void Expect(Recording&, const Program&, const ops::Concat&) {}

template <typename Operation>
Status Run(Recording& r, const Operation& op) {
  Record(r, op);
  return r.failure();
}

}  // namespace peruse::webgpu
