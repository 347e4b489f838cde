// Runs, and the operations that look at rows alone.
#include "core/backend/webgpu/recording.h"

#include <algorithm>
#include <string>

#include "core/backend/quantize.h"
#include "core/backend/shape_check.h"

namespace peruse::webgpu {
namespace {

constexpr uint32_t kRowBlock = 192;  // from so many rows on the large tiles of linear.wgsl fill a GPU
constexpr uint32_t kSmallTile = 32;
constexpr uint32_t kLargeTile = 64;

}  // namespace

// Names every pipeline that such a model's runs will use, so that all compile at once, while weights arrive.
void Recording::Prepare(const Outlook& outlook) {
  const Precision precision = outlook.precision;
  for (const uint32_t tile : {kSmallTile, kLargeTile}) {
    ExpectLinear(tile, {precision});
    if (precision == Precision::kQ8) ExpectLinear(tile, {precision, /*wide=*/true});
  }
  // Heads are float32, and narrow; so are position tables, which are wide.
  if (precision != Precision::kF32) ExpectLinear(kSmallTile, {});
  if (precision != Precision::kF32 && outlook.relative_positions) ExpectLinear(kLargeTile, {});
  for (const char* shader : {"norm", "activate", "select_rows"}) recorder_.Expect(shader, {});
  if (outlook.head_dim > 0) PrepareAttention(outlook.head_dim);
  if (outlook.depthwise) recorder_.Expect("depthwise_conv", {});
  if (outlook.conv1d) recorder_.Expect("unfold", {});
  for (const int32_t taps : outlook.span_taps) PrepareSpanConv(taps, precision);
}

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

int32_t Recording::Starts(const RaggedBatch& batch) {
  if (starts_ != batch.starts()) {
    starts_ = batch.starts();
    starts_buffer_ = UploadInts(starts_, static_cast<int32_t>(starts_.size()));
  }
  return starts_buffer_;
}

int32_t Recording::Slots(const RelativePositions& positions) {
  if (slots_.data() != positions.slots.data() || slots_.size() != positions.slots.size()) {
    slots_ = positions.slots;
    slots_buffer_ = UploadInts(slots_, 2 * LengthBucket(positions.reach));
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

std::string_view Recording::LinearShader(const Held& held) const {
  switch (held.precision) {
    case Precision::kF32:
      return "linear";
    case Precision::kF16:
      return recorder_.limits().shader_f16 ? "linear+f16" : "linear";
    case Precision::kQ8:
      return recorder_.limits().packed_dot ? "linear_q8+dot4" : "linear_q8+bytes";
  }
  return {};
}

Constants Recording::LinearConstants(uint32_t tile, const Held& held) {
  const auto size = static_cast<float>(tile);
  const bool q8 = held.precision == Precision::kQ8;
  const bool option = q8 ? held.wide : held.precision == Precision::kF16;
  return {{"TILE_M", size}, {"TILE_N", size}, {q8 ? "WIDE" : "HALF_WEIGHTS", option ? 1.0f : 0.0f}};
}

void Recording::ExpectLinear(uint32_t tile, const Held& held) {
  recorder_.Expect(LinearShader(held), LinearConstants(tile, held));
}

// buffers: x, w, bias, residual, out
void Recording::DispatchLinear(const Held& held, const LinearParams& params, uint32_t groups,
                               std::initializer_list<int32_t> buffers) {
  const uint32_t tile = params.rows >= kRowBlock && params.width >= kLargeTile ? kLargeTile : kSmallTile;
  recorder_.Dispatch(LinearShader(held), LinearConstants(tile, held), params, buffers,
                     {CeilDivide(params.width, tile), CeilDivide(params.rows, tile), groups});
}

void Recording::Project(const View& x, int32_t rows, Weight weight, Activation activation, const Combined& combined,
                        const View& out) {
  const LinearWeight& linear = memory_.linear(weight);
  const auto groups = static_cast<uint32_t>(linear.spec.groups);
  const uint32_t depth = static_cast<uint32_t>(linear.spec.in) / groups;
  const uint32_t row_elements = static_cast<uint32_t>(linear.row_elements) / (linear.q8() ? 4 : 1);
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
    params.other = {combined.with.place.first + first, combined.with.place.stride};
    params.activation = static_cast<uint32_t>(activation);
    params.has_bias = 1;
    params.combine = combined.how;
    params.scales_first = static_cast<uint32_t>(linear.spec.out) + first;
    params.levels =
        linear.q8() ? static_cast<uint32_t>(InputLevels(static_cast<int64_t>(depth), linear.spec.wide_input)) : 0;
    const int32_t other = combined.how == Combined::kNot ? x.buffer : combined.with.buffer;
    DispatchLinear({linear.spec.precision, linear.spec.wide_input}, params, part_groups,
                   {x.buffer, part.buffer, linear.bias, other, out.buffer});
  }
}

void Recording::Linear(Tensor x, Weight weight, Activation activation, Tensor out) {
  CheckLinear(x, weight, out);
  if (failed()) return;
  const View input = Input(x, out);
  if (failed()) return;
  Project(input, x.rows, weight, activation, {}, Of(out));
}

void Recording::LinearMultiply(Tensor x, Weight weight, Tensor y, Tensor out) {
  CheckLinear(x, weight, out);
  CheckShape(y, out.rows, out.cols);
  PERUSE_CHECK(!Overlap(y, out));
  if (failed()) return;
  const View input = Input(x, out);
  const View factor = Input(y, out);
  if (failed()) return;
  Project(input, x.rows, weight, Activation::kNone, {Combined::kMultiplied, factor}, Of(out));
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
  Project(Of(x), x.rows, weight, Activation::kNone, {Combined::kAdded, Of(residual)}, sum);
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

void Recording::Pair(Tensor x, Tensor y, bool multiply, Tensor out) {
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
  recorder_.Dispatch("pair", {{"MULTIPLY", multiply ? 1.0f : 0.0f}}, params,
                     {first.buffer, second.buffer, result.buffer}, Elementwise(int64_t{x.rows} * x.cols));
}

void Recording::Multiply(Tensor x, Tensor y, Tensor out) {
  CheckShape(y, x.rows, x.cols);
  Pair(x, y, true, out);
}

void Recording::Add(Tensor x, Tensor y, Tensor out) { Pair(x, y, false, out); }

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
  const int32_t indices = UploadInts(rows, static_cast<int32_t>(rows.size()));
  if (failed()) return;
  const View result = Of(out);
  const SelectRowsParams params = {static_cast<uint32_t>(out.rows), static_cast<uint32_t>(out.cols), input.place,
                                   result.place};
  recorder_.Dispatch("select_rows", {}, params, {input.buffer, indices, result.buffer},
                     Elementwise(int64_t{out.rows} * out.cols));
  GiveBack(indices);
}

}  // namespace peruse::webgpu
