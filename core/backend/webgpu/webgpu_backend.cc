#include "core/backend/webgpu/webgpu_backend.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/backend/shape_check.h"
#include "core/backend/webgpu/parameters.h"
#include "core/backend/webgpu/webgpu_memory.h"

namespace peruse {
namespace {

using namespace webgpu;  // NOLINT: this file is that namespace's face

constexpr uint32_t kThreads = 64;  // THREADS of the elementwise shaders
constexpr int32_t kRowBlock = 192;  // from so many rows on the large tiles of linear.wgsl fill a GPU

uint32_t CeilDivide(int64_t a, int64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }
float Flag(bool value) { return value ? 1 : 0; }

class Recording final : public WebGpuBackend {
 public:
  Recording(const Limits& limits, ReplayCommands replay)
      : recorder_(limits), memory_(recorder_), replay_(std::move(replay)) {}

  std::string_view name() const override { return "webgpu"; }
  bool deferred() const override { return replay_ == nullptr; }

  Result<Weight> CreateLinear(const LinearSpec& spec) override {
    CheckSpec(spec);
    return memory_.CreateLinear(spec);
  }
  Status WriteLinear(Weight weight, int32_t first_row, std::span<const float> rows) override {
    return memory_.WriteLinear(weight, first_row, rows);
  }
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values) override {
    return memory_.WriteBias(weight, first, values);
  }
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols) override { return memory_.CreateConstant(rows, cols); }
  Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) override {
    return memory_.WriteConstant(constant, first_row, rows);
  }
  int64_t WeightBytes() const override { return memory_.weight_bytes(); }

  void BeginRun() override;
  Status Submit() override;
  Tensor New(int32_t rows, int32_t cols) override;
  int64_t WorkspaceMark() const override { return memory_.mark(); }
  void WorkspaceRelease(int64_t mark) override { memory_.Release(mark); }
  void Upload(std::span<const float> values, Tensor out) override;
  void Download(Tensor x, std::span<float> destination) override;

  void Linear(Tensor x, Weight weight, Activation activation, Tensor out) override;
  void LinearAddNorm(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) override;
  void LayerNorm(Tensor x, const Norm& norm, Tensor out) override;
  void AddNorm(Tensor x, Tensor y, const Norm& norm, Tensor out) override;
  void Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) override;
  void DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions, const RaggedBatch& batch,
                             Tensor out) override;
  void DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) override;
  void SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                Tensor kernels) override;
  void Conv1d(Tensor x, Weight weight, int32_t kernel_size, Activation activation, const RaggedBatch& batch,
              Tensor out) override;
  void Multiply(Tensor x, Tensor y, Tensor out) override;
  void Add(Tensor x, Tensor y, Tensor out) override;
  void Activate(Tensor x, Activation activation, Tensor out) override;
  void SelectRows(Tensor x, std::span<const int32_t> rows, Tensor out) override;

  void EndRecording() override;
  std::span<const uint32_t> commands() const override { return recorder_.stream().words(); }
  void ClearCommands() override { recorder_.stream().Clear(); }
  void Replayed() override { replayed_ = true; }
  int32_t dispatches() const override { return recorder_.dispatches(); }

 private:
  // A matrix as a shader sees it.
  struct View {
    int32_t buffer = Recorder::kNoBuffer;
    Place place;
  };
  // One part of DeBERTa's position terms: those of the heads [first_head, first_head + heads).
  struct PositionProducts {
    int32_t first_head = 0;
    int32_t heads = 0;
    int32_t first_slot = 0;
    int32_t slots = 0;                            // from first_slot on, those that any distance reaches
    int32_t to_position = Recorder::kNoBuffer;    // query . position_key     [rows, heads, slots]
    int32_t to_content = Recorder::kNoBuffer;     // key . position_query     [rows, heads, slots]
    int32_t slot_buffer = Recorder::kNoBuffer;
  };

  void Fail(Status status) {
    if (failure_.ok()) failure_ = std::move(status);
  }
  bool failed() const { return !failure_.ok(); }
  // A buffer until this run ends; kNoBuffer fails the run.
  int32_t TakeForRun(uint64_t bytes, bool fresh);
  // The same for floats, [rows, cols] with no gap.
  View TakeMatrix(int32_t rows, int32_t cols, bool fresh = false);
  // Ends the use of what TakeForRun gave.
  void GiveBack(int32_t buffer);
  int32_t UploadInts(std::span<const int32_t> values);
  int32_t Starts(const RaggedBatch& batch);
  int32_t Slots(const RelativePositions& positions);

  View Of(Tensor x) const {
    return {memory_.buffer(x), {static_cast<uint32_t>(x.first_col), static_cast<uint32_t>(x.stride)}};
  }
  // An input of an operation that writes `out`. A dispatch can't read and write one buffer, so other columns of
  // out's own buffer are copied first.
  View Input(Tensor x, Tensor out);

  Grid Elementwise(int64_t count) const;
  Grid TokenGrid(int64_t columns, const RaggedBatch& batch) const;
  void Copy(const View& x, int32_t rows, int32_t cols, const View& out);
  void Project(const View& x, int32_t rows, Weight weight, Activation activation, const View* residual,
               const View& out);
  void Normalise(const View& x, const View* y, const Norm& norm, Tensor out);
  void Product(const View& x, const View& table, int32_t head_dim, const PositionProducts& products, int32_t rows,
               int32_t out);
  void AttendHeads(const AttentionArgs& args, const RelativePositions& positions, const PositionProducts& products,
                   const RaggedBatch& batch, Tensor out);
  void WriteProbabilities(const AttentionArgs& args, const RelativePositions& positions,
                          const PositionProducts& products, const RaggedBatch& batch);

  Recorder recorder_;
  Memory memory_;
  ReplayCommands replay_;
  Status failure_;
  bool recording_ = false;  // between BeginRun and EndRecording
  bool replayed_ = true;
  bool downloads_ = false;  // the run has some
  std::vector<int32_t> run_buffers_;
  std::vector<int32_t> starts_;  // last uploaded in this run, and where
  int32_t starts_buffer_ = Recorder::kNoBuffer;
  std::span<const int32_t> slots_;
  int32_t slots_buffer_ = Recorder::kNoBuffer;
};

// ---- A run ------------------------------------------------------------------------------------------------------------

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
  const SingleParams params = {static_cast<uint32_t>(rows), static_cast<uint32_t>(cols), x.place, out.place};
  recorder_.Dispatch("activate", {{"ACTIVATION", 0}}, params, {x.buffer, out.buffer},
                     Elementwise(int64_t{rows} * cols));
}

// ---- Linear and norm --------------------------------------------------------------------------------------------------

void Recording::Project(const View& x, int32_t rows, Weight weight, Activation activation, const View* residual,
                        const View& out) {
  const LinearWeight& linear = memory_.linear(weight);
  const auto groups = static_cast<uint32_t>(linear.spec.groups);
  const uint32_t depth = static_cast<uint32_t>(linear.spec.in) / groups;
  const auto row_elements = static_cast<uint32_t>(linear.row_elements);
  const uint32_t tile = rows >= kRowBlock ? 64 : 32;
  for (const LinearPart& part : linear.parts) {
    // A part is rows of the one group there is, or whole groups.
    const uint32_t width = groups == 1 ? static_cast<uint32_t>(part.rows)
                                       : static_cast<uint32_t>(linear.spec.out) / groups;
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
    recorder_.Dispatch("linear",
                       {{"TILE_M", static_cast<float>(tile)},
                        {"TILE_N", static_cast<float>(tile)},
                        {"ACTIVATION", static_cast<float>(activation)},
                        {"HALF_WEIGHTS", Flag(linear.half())},
                        {"HAS_BIAS", 1},
                        {"HAS_RESIDUAL", Flag(residual != nullptr)}},
                       params,
                       {x.buffer, part.buffer, linear.bias, residual != nullptr ? residual->buffer : x.buffer,
                        out.buffer},
                       {CeilDivide(width, tile), CeilDivide(rows, tile), part_groups});
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
                             result.place};
  const auto rows = static_cast<uint32_t>(out.rows);
  recorder_.Dispatch("norm", {{"HAS_Y", Flag(y != nullptr)}}, params,
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

// ---- Attention --------------------------------------------------------------------------------------------------------

void Recording::Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) {
  DisentangledAttention(args, RelativePositions(), batch, out);
}

void Recording::DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions,
                                      const RaggedBatch& batch, Tensor out) {
  CheckAttention(args, batch, out);
  CheckPositions(args, positions, batch);
  if (failed()) return;
  if (batch.sequences() > static_cast<int32_t>(recorder_.limits().workgroups_per_dimension)) {
    return Fail(InvalidArgument("a batch of " + std::to_string(batch.sequences()) + " texts is too large for a GPU"));
  }
  const bool has_key = positions.position_key.valid();
  const bool has_query = positions.position_query.valid();
  PositionProducts products;
  products.heads = args.heads;
  if (has_key || has_query) {
    const auto live = positions.slots.subspan(static_cast<size_t>(positions.reach - batch.longest()),
                                              2 * static_cast<size_t>(batch.longest()) - 1);
    const auto [lowest, highest] = std::minmax_element(live.begin(), live.end());
    products.first_slot = *lowest;
    products.slots = *highest - *lowest + 1;
    products.slot_buffer = Slots(positions);
    const int64_t head_bytes = int64_t{batch.rows()} * products.slots * 4;
    const int64_t fit = static_cast<int64_t>(recorder_.limits().binding_bytes) / head_bytes;
    products.heads = static_cast<int32_t>(std::clamp<int64_t>(fit, 1, args.heads));
  }
  const int32_t heads_at_once = products.heads;
  for (; products.first_head < args.heads && !failed(); products.first_head += heads_at_once) {
    products.heads = std::min(heads_at_once, args.heads - products.first_head);
    AttendHeads(args, positions, products, batch, out);
  }
}

// One position term of some heads for every row: out[r, h, s] = x[r, h] . table[first_slot + s, h].
void Recording::Product(const View& x, const View& table, int32_t head_dim, const PositionProducts& products,
                        int32_t rows, int32_t out) {
  const auto slots = static_cast<uint32_t>(products.slots);
  const auto depth = static_cast<uint32_t>(head_dim);
  const auto heads = static_cast<uint32_t>(products.heads);
  const uint32_t first_column = static_cast<uint32_t>(products.first_head) * depth;
  LinearParams params = {};
  params.rows = static_cast<uint32_t>(rows);
  params.depth = depth;
  params.width = slots;
  params.x_first = x.place.first + first_column;
  params.x_stride = x.place.stride;
  params.x_group = depth;
  params.w_first = static_cast<uint32_t>(products.first_slot) * table.place.stride + table.place.first + first_column;
  params.w_stride = table.place.stride;
  params.w_group = depth;
  params.out_stride = heads * slots;
  params.out_group = slots;
  const uint32_t tile = rows >= kRowBlock ? 64 : 32;
  recorder_.Dispatch("linear",
                     {{"TILE_M", static_cast<float>(tile)},
                      {"TILE_N", static_cast<float>(tile)},
                      {"ACTIVATION", 0},
                      {"HALF_WEIGHTS", 0},
                      {"HAS_BIAS", 0},
                      {"HAS_RESIDUAL", 0}},
                     params, {x.buffer, table.buffer, table.buffer, x.buffer, out},
                     {CeilDivide(slots, tile), CeilDivide(rows, tile), heads});
}

void Recording::AttendHeads(const AttentionArgs& args, const RelativePositions& positions,
                            const PositionProducts& some_products, const RaggedBatch& batch, Tensor out) {
  PositionProducts products = some_products;
  const View query = Input(args.query, out);
  const View key = Input(args.key, out);
  const View value = Input(args.value, out);
  const int32_t head_dim = args.query.cols / args.heads;
  if (head_dim > 1024) return Fail(Unsupported("attention heads wider than 1024 are not there for device webgpu"));
  const int32_t starts = Starts(batch);
  const bool has_key = positions.position_key.valid();
  const bool has_query = positions.position_query.valid();
  if (has_key) products.to_position = TakeMatrix(batch.rows(), products.heads * products.slots).buffer;
  if (has_query) products.to_content = TakeMatrix(batch.rows(), products.heads * products.slots).buffer;
  if (failed()) return;
  if (has_key) {
    Product(query, Of(positions.position_key), head_dim, products, batch.rows(), products.to_position);
  }
  if (has_query) {
    Product(key, Of(positions.position_query), head_dim, products, batch.rows(), products.to_content);
  }

  const int32_t queries = std::clamp(1024 / head_dim, 1, 16);
  const int32_t keys = std::clamp(2048 / (head_dim + 1), 1, 32);
  const View result = Of(out);
  AttentionParams params = {};
  params.scale = args.scale;
  params.query = query.place;
  params.key = key.place;
  params.value = value.place;
  params.out = result.place;
  params.first_head = static_cast<uint32_t>(products.first_head);
  params.position_stride = static_cast<uint32_t>(products.heads * products.slots);
  params.slots = static_cast<uint32_t>(products.slots);
  params.first_slot = static_cast<uint32_t>(products.first_slot);
  params.reach = static_cast<uint32_t>(positions.reach);
  recorder_.Dispatch("attention",
                     {{"HEAD_DIM", static_cast<float>(head_dim)},
                      {"QUERIES", static_cast<float>(queries)},
                      {"KEYS", static_cast<float>(keys)},
                      {"HAS_POSITION_KEY", Flag(has_key)},
                      {"HAS_POSITION_QUERY", Flag(has_query)}},
                     params,
                     {starts, query.buffer, key.buffer, value.buffer,
                      has_key || has_query ? products.slot_buffer : starts, has_key ? products.to_position : query.buffer,
                      has_query ? products.to_content : query.buffer, result.buffer},
                     {CeilDivide(batch.longest(), queries), static_cast<uint32_t>(products.heads),
                      static_cast<uint32_t>(batch.sequences())});
  if (args.probabilities.valid()) WriteProbabilities(args, positions, products, batch);
  GiveBack(products.to_position);
  GiveBack(products.to_content);
}

void Recording::WriteProbabilities(const AttentionArgs& args, const RelativePositions& positions,
                                   const PositionProducts& products, const RaggedBatch& batch) {
  const View query = Input(args.query, args.probabilities);
  const View key = Input(args.key, args.probabilities);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const bool has_key = positions.position_key.valid();
  const bool has_query = positions.position_query.valid();
  const View result = Of(args.probabilities);
  ProbabilitiesParams params = {};
  params.scale = args.scale;
  params.query = query.place;
  params.key = key.place;
  params.out = result.place;
  params.heads = static_cast<uint32_t>(args.heads);
  params.first_head = static_cast<uint32_t>(products.first_head);
  params.position_stride = static_cast<uint32_t>(products.heads * products.slots);
  params.slots = static_cast<uint32_t>(products.slots);
  params.first_slot = static_cast<uint32_t>(products.first_slot);
  params.reach = static_cast<uint32_t>(positions.reach);
  params.longest = static_cast<uint32_t>(batch.longest());
  recorder_.Dispatch("probabilities",
                     {{"HEAD_DIM", static_cast<float>(args.query.cols / args.heads)},
                      {"HAS_POSITION_KEY", Flag(has_key)},
                      {"HAS_POSITION_QUERY", Flag(has_query)}},
                     params,
                     {starts, query.buffer, key.buffer, has_key || has_query ? products.slot_buffer : starts,
                      has_key ? products.to_position : query.buffer, has_query ? products.to_content : query.buffer,
                      result.buffer},
                     {CeilDivide(batch.longest(), kThreads), static_cast<uint32_t>(products.heads),
                      static_cast<uint32_t>(batch.sequences())});
}

// ---- Convolutions -----------------------------------------------------------------------------------------------------

Grid Recording::TokenGrid(int64_t columns, const RaggedBatch& batch) const {
  const uint32_t most = recorder_.limits().workgroups_per_dimension;
  return {CeilDivide(columns, kThreads), std::min(static_cast<uint32_t>(batch.longest()), most),
          static_cast<uint32_t>(batch.sequences())};
}

void Recording::DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) {
  CheckDepthwiseConv(x, taps, batch, out);
  if (failed()) return;
  const View input = Input(x, out);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const View kernel = Of(taps);
  const View result = Of(out);
  const DepthwiseConvParams params = {static_cast<uint32_t>(x.cols), input.place, kernel.place, result.place};
  recorder_.Dispatch("depthwise_conv", {{"TAPS", static_cast<float>(taps.rows)}}, params,
                     {starts, input.buffer, kernel.buffer, result.buffer}, TokenGrid(x.cols, batch));
}

void Recording::SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                         Tensor kernels) {
  CheckSpanConv(logits, values, heads, batch, out, kernels);
  if (failed()) return;
  const View scores = Input(logits, out);
  const View source = Input(values, out);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const int32_t taps = logits.cols / heads;
  const View result = Of(out);
  const SpanConvParams params = {static_cast<uint32_t>(values.cols), scores.place, source.place, result.place};
  recorder_.Dispatch("span_conv",
                     {{"TAPS", static_cast<float>(taps)}, {"HEAD_DIM", static_cast<float>(values.cols / heads)}},
                     params, {starts, scores.buffer, source.buffer, result.buffer}, TokenGrid(values.cols, batch));
  if (!kernels.valid()) return;
  const View kernel_input = Input(logits, kernels);
  if (failed()) return;
  const View softmax = Of(kernels);
  const SpanKernelsParams kernel_params = {static_cast<uint32_t>(logits.rows), static_cast<uint32_t>(heads),
                                           kernel_input.place, softmax.place};
  recorder_.Dispatch("span_kernels", {{"TAPS", static_cast<float>(taps)}}, kernel_params,
                     {kernel_input.buffer, softmax.buffer}, Elementwise(int64_t{logits.rows} * heads));
}

void Recording::Conv1d(Tensor x, Weight weight, int32_t kernel_size, Activation activation, const RaggedBatch& batch,
                       Tensor out) {
  CheckConv1d(x, weight, kernel_size, batch, out);
  if (failed()) return;
  const View unfolded = TakeMatrix(x.rows, weight.in);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const View input = Of(x);
  const UnfoldParams params = {static_cast<uint32_t>(x.cols), static_cast<uint32_t>(x.cols / weight.groups),
                               input.place, unfolded.place};
  recorder_.Dispatch("unfold", {{"TAPS", static_cast<float>(kernel_size)}}, params,
                     {starts, input.buffer, unfolded.buffer}, TokenGrid(weight.in, batch));
  Project(unfolded, x.rows, weight, activation, nullptr, Of(out));
  GiveBack(unfolded.buffer);
}

// ---- Elementwise ------------------------------------------------------------------------------------------------------

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
  const SingleParams params = {static_cast<uint32_t>(x.rows), static_cast<uint32_t>(x.cols), input.place,
                               result.place};
  recorder_.Dispatch("activate", {{"ACTIVATION", static_cast<float>(activation)}}, params,
                     {input.buffer, result.buffer}, Elementwise(int64_t{x.rows} * x.cols));
}

void Recording::SelectRows(Tensor x, std::span<const int32_t> rows, Tensor out) {
  CheckOutput(out, static_cast<int32_t>(rows.size()), x.cols, {x});
  for (int32_t row : rows) PERUSE_CHECK(row >= 0 && row < x.rows);
  if (failed() || rows.empty()) return;
  const View input = Input(x, out);
  const int32_t indices = UploadInts(rows);
  if (failed()) return;
  const View result = Of(out);
  const SingleParams params = {static_cast<uint32_t>(out.rows), static_cast<uint32_t>(out.cols), input.place,
                               result.place};
  recorder_.Dispatch("select_rows", {}, params, {input.buffer, indices, result.buffer},
                     Elementwise(int64_t{out.rows} * out.cols));
  GiveBack(indices);
}

}  // namespace

std::unique_ptr<WebGpuBackend> CreateWebGpuBackend(const webgpu::Limits& limits, ReplayCommands replay) {
  return std::make_unique<Recording>(limits, std::move(replay));
}

}  // namespace peruse
