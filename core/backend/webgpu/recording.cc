// Runs, and the operations that look at rows alone.
#include "core/backend/webgpu/recording.h"

#include <algorithm>
#include <string>

#include "core/backend/shape_check.h"

namespace peruse::webgpu {
namespace {

constexpr uint32_t kRowBlock = 192;  // from so many rows on the large tiles of linear.wgsl fill a GPU

}  // namespace

// ---- A run --------------------------------------------------------------------------------------------------------

void Recording::BeginRun() {
  memory_.Release(0);
  for (int32_t buffer : run_buffers_) recorder_.Give(buffer);
  run_buffers_.clear();
  starts_.clear();
  slots_ = {};
  failure_ = OkStatus();
  recording_ = true;
  replayed_ = false;
  downloads_ = false;
  recorder_.BeginRun();
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
  const uint64_t bytes = static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols) * sizeof(float);
  return {TakeForRun(bytes, fresh), {0, static_cast<uint32_t>(cols)}};
}

void Recording::GiveBack(int32_t buffer) {
  const auto place = std::find(run_buffers_.begin(), run_buffers_.end(), buffer);
  if (place == run_buffers_.end()) return;
  recorder_.Give(buffer);
  run_buffers_.erase(place);
}

int32_t Recording::UploadInts(std::span<const int32_t> values) {
  const int32_t buffer = TakeForRun(values.size_bytes(), true);
  if (failed()) return buffer;
  recorder_.Write(buffer, 0, {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()});
  return buffer;
}

int32_t Recording::Starts(const RaggedBatch& batch) {
  if (starts_ != batch.starts()) {
    starts_ = batch.starts();
    starts_buffer_ = UploadInts(starts_);
  }
  return starts_buffer_;
}

int32_t Recording::Slots(const RelativePositions& positions) {
  if (slots_.data() != positions.slots.data() || slots_.size() != positions.slots.size()) {
    slots_ = positions.slots;
    slots_buffer_ = UploadInts(slots_);
  }
  return slots_buffer_;
}

Tensor Recording::New(int32_t rows, int32_t cols) {
  bool ok = true;
  const Tensor tensor = memory_.New(rows, cols, &ok);
  if (!ok) {
    Fail(OutOfMemory("the run needs a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                     "; this GPU takes " + std::to_string(recorder_.limits().binding_bytes >> 20) +
                     " MiB in one piece"));
  }
  return tensor;
}

void Recording::Upload(std::span<const float> values, Tensor out) {
  if (failed()) return;
  PERUSE_CHECK(static_cast<int64_t>(values.size()) == int64_t{out.rows} * out.cols);
  if (values.empty()) return;
  const std::span<const uint8_t> bytes = {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
  if (out.first_col == 0 && out.cols == out.stride) {
    bool ok = true;
    memory_.Refresh(out, &ok);
    if (!ok) return Fail(OutOfMemory("no buffer to write the run's inputs to"));
    recorder_.Write(memory_.buffer(out), 0, bytes);
    return;
  }
  const View staged = TakeMatrix(out.rows, out.cols, true);
  if (failed()) return;
  recorder_.Write(staged.buffer, 0, bytes);
  Copy(staged, out.rows, out.cols, Of(out));
}

void Recording::Download(Tensor x, std::span<float> destination) {
  if (failed()) return;
  PERUSE_CHECK(static_cast<int64_t>(destination.size()) == int64_t{x.rows} * x.cols);
  if (destination.empty()) return;
  const View compact = TakeMatrix(x.rows, x.cols);  // until the run ends: nothing overwrites it
  if (failed()) return;
  Copy(Of(x), x.rows, x.cols, compact);
  recorder_.Download(compact.buffer, destination);
  downloads_ = true;
}

Recording::View Recording::Input(Tensor x, Tensor out) {
  if (x.buffer != out.buffer) return Of(x);
  const View copy = TakeMatrix(x.rows, x.cols);
  if (!failed()) Copy(Of(x), x.rows, x.cols, copy);
  return copy;
}

Grid Recording::Elementwise(int64_t count) const {
  return {std::min(CeilDivide(count, kThreads), recorder_.limits().workgroups_per_dimension), 1, 1};
}

void Recording::Copy(const View& x, int32_t rows, int32_t cols, const View& out) {
  const ActivateParams params = {static_cast<uint32_t>(rows), static_cast<uint32_t>(cols), x.place, out.place,
                                 static_cast<uint32_t>(Activation::kNone)};
  recorder_.Dispatch("activate", {}, params, {x.buffer, out.buffer}, Elementwise(int64_t{rows} * cols));
}

// ---- Linear and norm ----------------------------------------------------------------------------------------------

// buffers: x, w, bias, residual, out
void Recording::DispatchLinear(bool half, const LinearParams& params, uint32_t groups,
                               std::initializer_list<int32_t> buffers) {
  const uint32_t tile = params.rows >= kRowBlock ? 64 : 32;
  recorder_.Dispatch("linear",
                     {{"TILE_M", static_cast<float>(tile)},
                      {"TILE_N", static_cast<float>(tile)},
                      {"HALF_WEIGHTS", half ? 1.0f : 0.0f}},
                     params, buffers, {CeilDivide(params.width, tile), CeilDivide(params.rows, tile), groups});
}

void Recording::Project(const View& x, int32_t rows, Weight weight, Activation activation, const View* residual,
                        const View& out) {
  const LinearWeight& linear = memory_.linear(weight);
  const auto groups = static_cast<uint32_t>(linear.spec.groups);
  const uint32_t depth = static_cast<uint32_t>(linear.spec.in) / groups;
  const auto row_elements = static_cast<uint32_t>(linear.row_elements);
  for (const LinearPart& part : linear.parts) {
    // A part is rows of the one group there is, or whole groups.
    const uint32_t width =
        groups == 1 ? static_cast<uint32_t>(part.rows) : static_cast<uint32_t>(linear.spec.out) / groups;
    const uint32_t part_groups = static_cast<uint32_t>(part.rows) / width;
    const auto first = static_cast<uint32_t>(part.first_row);
    const uint32_t first_group = groups == 1 ? 0 : first / width;
    LinearParams params = {};
    params.rows = static_cast<uint32_t>(rows);
    params.depth = depth;
    params.width = width;
    params.x_first = x.place.first + first_group * depth;
    params.x_stride = x.place.stride;
    params.x_group = depth;
    params.w_stride = row_elements;
    params.w_group = width * row_elements;
    params.bias_first = first;
    params.bias_group = width;
    params.out_first = out.place.first + first;
    params.out_stride = out.place.stride;
    params.out_group = width;
    if (residual != nullptr) params.residual = {residual->place.first + first, residual->place.stride};
    params.activation = static_cast<uint32_t>(activation);
    params.has_bias = 1;
    params.has_residual = residual != nullptr;
    DispatchLinear(linear.half(), params, part_groups,
                   {x.buffer, part.buffer, linear.bias, residual != nullptr ? residual->buffer : x.buffer, out.buffer});
  }
}

void Recording::Linear(Tensor x, Weight weight, Activation activation, Tensor out) {
  CheckLinear(x, weight, out);
  if (failed()) return;
  const View input = Input(x, out);
  if (failed()) return;
  Project(input, x.rows, weight, activation, nullptr, Of(out));
}

void Recording::Normalise(const View& x, const View* y, const Norm& norm, Tensor out) {
  const View result = Of(out);
  const View weight = Of(norm.weight);
  const View bias = Of(norm.bias);
  const NormParams params = {static_cast<uint32_t>(out.rows),
                             static_cast<uint32_t>(out.cols),
                             norm.eps,
                             x.place,
                             y != nullptr ? y->place : Place(),
                             weight.place.first,
                             bias.place.first,
                             result.place,
                             y != nullptr};
  const auto rows = static_cast<uint32_t>(out.rows);
  recorder_.Dispatch("norm", {}, params,
                     {x.buffer, y != nullptr ? y->buffer : x.buffer, weight.buffer, bias.buffer, result.buffer},
                     {std::min(rows, recorder_.limits().workgroups_per_dimension), 1, 1});
}

void Recording::LinearAddNorm(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) {
  CheckLinear(x, weight, out);
  CheckShape(residual, out.rows, out.cols);
  CheckNorm(norm, out.cols);
  PERUSE_CHECK(!Overlap(residual, out));
  if (failed()) return;
  const View sum = TakeMatrix(out.rows, out.cols);
  if (failed()) return;
  const View skip = Of(residual);
  Project(Of(x), x.rows, weight, Activation::kNone, &skip, sum);
  Normalise(sum, nullptr, norm, out);
  GiveBack(sum.buffer);
}

void Recording::LayerNorm(Tensor x, const Norm& norm, Tensor out) {
  CheckNorm(norm, x.cols);
  CheckOutput(out, x.rows, x.cols, {x});
  if (failed()) return;
  const View input = Input(x, out);
  if (failed()) return;
  Normalise(input, nullptr, norm, out);
}

void Recording::AddNorm(Tensor x, Tensor y, const Norm& norm, Tensor out) {
  CheckNorm(norm, x.cols);
  CheckShape(y, x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed()) return;
  const View first = Input(x, out);
  const View second = Input(y, out);
  if (failed()) return;
  Normalise(first, &second, norm, out);
}

// ---- Elementwise --------------------------------------------------------------------------------------------------

void Recording::Multiply(Tensor x, Tensor y, Tensor out) {
  CheckShape(y, x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed()) return;
  const View first = Input(x, out);
  const View second = Input(y, out);
  if (failed()) return;
  const View result = Of(out);
  const PairParams params = {static_cast<uint32_t>(x.rows), static_cast<uint32_t>(x.cols), first.place, second.place,
                             result.place};
  recorder_.Dispatch("multiply", {}, params, {first.buffer, second.buffer, result.buffer},
                     Elementwise(int64_t{x.rows} * x.cols));
}

void Recording::Add(Tensor x, Tensor y, Tensor out) {
  CheckShape(y, y.rows == 1 ? 1 : x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed()) return;
  const View first = Input(x, out);
  View second = Input(y, out);
  if (failed()) return;
  if (y.rows == 1) second.place.stride = 0;
  const View result = Of(out);
  const PairParams params = {static_cast<uint32_t>(x.rows), static_cast<uint32_t>(x.cols), first.place, second.place,
                             result.place};
  recorder_.Dispatch("add", {}, params, {first.buffer, second.buffer, result.buffer},
                     Elementwise(int64_t{x.rows} * x.cols));
}

void Recording::Activate(Tensor x, Activation activation, Tensor out) {
  CheckOutput(out, x.rows, x.cols, {x});
  if (failed()) return;
  const View input = Input(x, out);
  if (failed()) return;
  const View result = Of(out);
  const ActivateParams params = {static_cast<uint32_t>(x.rows), static_cast<uint32_t>(x.cols), input.place,
                                 result.place, static_cast<uint32_t>(activation)};
  recorder_.Dispatch("activate", {}, params, {input.buffer, result.buffer}, Elementwise(int64_t{x.rows} * x.cols));
}

void Recording::SelectRows(Tensor x, std::span<const int32_t> rows, Tensor out) {
  CheckOutput(out, static_cast<int32_t>(rows.size()), x.cols, {x});
  for (int32_t row : rows) PERUSE_CHECK(row >= 0 && row < x.rows);
  if (failed() || rows.empty()) return;
  const View input = Input(x, out);
  const int32_t indices = UploadInts(rows);
  if (failed()) return;
  const View result = Of(out);
  const SelectRowsParams params = {static_cast<uint32_t>(out.rows), static_cast<uint32_t>(out.cols), input.place,
                                   result.place};
  recorder_.Dispatch("select_rows", {}, params, {input.buffer, indices, result.buffer},
                     Elementwise(int64_t{out.rows} * out.cols));
  GiveBack(indices);
}

}  // namespace peruse::webgpu
