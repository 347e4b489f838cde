// The class behind WebGpuBackend. Its operations stand in recording*.cc.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "core/backend/webgpu/parameters.h"
#include "core/backend/webgpu/recorder.h"
#include "core/backend/webgpu/webgpu_backend.h"
#include "core/backend/webgpu/webgpu_memory.h"

namespace peruse::webgpu {

inline constexpr uint32_t kThreads = 64;  // THREADS of the elementwise shaders

inline uint32_t CeilDivide(int64_t a, int64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

// Behind WebGpuBackend: every operation becomes dispatches of the shaders in this folder.
class Recording final : public WebGpuBackend {
 public:
  Recording(const Limits& limits, ReplayCommands replay)
      : recorder_(limits), memory_(recorder_), replay_(std::move(replay)) {}

  std::string_view name() const override { return "webgpu"; }
  bool deferred() const override { return replay_ == nullptr; }

  void Prepare(const Outlook& outlook) override;

  Result<Weight> CreateLinear(const LinearSpec& spec) override { return memory_.CreateLinear(spec); }
  Status WriteLinear(Weight weight, int32_t first_row, std::span<const float> rows) override {
    return memory_.WriteLinear(weight, first_row, rows);
  }
  Status WriteInt8(Weight weight, int32_t first_row, std::span<const int8_t> rows) override {
    return memory_.WriteInt8(weight, first_row, rows);
  }
  Status WriteScales(Weight weight, int32_t first_row, std::span<const float> scales) override {
    return memory_.WriteScales(weight, first_row, scales);
  }
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values) override {
    return memory_.WriteBias(weight, first, values);
  }
  void FreeLinear(Weight weight) override { memory_.FreeLinear(weight); }
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
  void LinearMultiply(Tensor x, Weight weight, Tensor y, Tensor out) override;
  void LinearAddNorm(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) override;
  void LayerNorm(Tensor x, const Norm& norm, Tensor out) override;
  void AddNorm(Tensor x, Tensor y, const Norm& norm, Tensor out) override;
  void Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) override;
  void DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions, const RaggedBatch& batch,
                             Tensor out) override;
  void DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) override;
  void SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                Tensor kernels) override;
  void LinearSpanConv(Tensor x, Weight weight, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
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
    int32_t slots = 0;                          // from first_slot on, those that any distance reaches
    int32_t most_slots = 0;                     // of any text of the same length bucket: what is allocated
    int32_t to_position = Recorder::kNoBuffer;  // query . position_key     [rows, heads, slots]
    int32_t to_content = Recorder::kNoBuffer;   // key . position_query     [rows, heads, slots]
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
  // With room for at least `capacity`.
  int32_t UploadInts(std::span<const int32_t> values, int32_t capacity);
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
  // How a linear layer's weights are held: what its pipeline depends on, beside the tile.
  struct Held {
    Precision precision = Precision::kF32;
    bool wide = false;  // LinearSpec::wide_input
  };
  std::string_view LinearShader(const Held& held) const;
  static Constants LinearConstants(uint32_t tile, const Held& held);
  void ExpectLinear(uint32_t tile, const Held& held);
  void DispatchLinear(const Held& held, const LinearParams& params, uint32_t groups,
                      std::initializer_list<int32_t> buffers);
  void Copy(const View& x, int32_t rows, int32_t cols, const View& out);
  // What happens to a product on its way out.
  struct Combined {
    enum How : uint32_t { kNot, kAdded, kMultiplied } how = kNot;
    View with;
  };
  void Project(const View& x, int32_t rows, Weight weight, Activation activation, const Combined& combined,
               const View& out);
  void Pair(Tensor x, Tensor y, bool multiply, Tensor out);
  void PrepareAttention(int32_t head_dim);
  void PrepareSpanConv(int32_t taps, Precision precision);
  void WriteSpanKernels(Tensor logits, int32_t heads, Tensor kernels);
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

}  // namespace peruse::webgpu
