#include "core/backend/xnnpack/xnnpack_backend.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/backend/shape_check.h"
#include "core/backend/xnnpack/activations.h"
#include "core/backend/xnnpack/arena.h"
#include "core/backend/xnnpack/attention.h"
#include "core/backend/xnnpack/convolution.h"
#include "core/backend/xnnpack/elementwise.h"
#include "core/backend/xnnpack/linear.h"
#include "core/backend/xnnpack/norm.h"
#include "core/backend/xnnpack/thread_pool.h"

namespace peruse {
namespace {

using xnnpack::Block;
using xnnpack::PackedLinear;

constexpr int64_t kFloat = sizeof(float);

class XnnpackBackend final : public Backend {
 public:
  explicit XnnpackBackend(xnnpack::ThreadPool pool) : pool_(std::move(pool)) {}

  std::string_view name() const override { return "xnnpack"; }

  Result<Weight> CreateLinear(const LinearSpec& spec) override;
  Status WriteLinear(Weight weight, int32_t first_row, std::span<const float> rows) override;
  Status WriteInt8(Weight weight, int32_t first_row, std::span<const int8_t> rows) override;
  Status WriteScales(Weight weight, int32_t first_row, std::span<const float> scales) override;
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values) override;
  void FreeLinear(Weight weight) override;
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols) override;
  Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) override;
  int64_t WeightBytes() const override { return weight_bytes_; }

  void BeginRun() override;
  Status Submit() override;
  Tensor New(int32_t rows, int32_t cols) override;
  int64_t WorkspaceMark() const override { return arena_.size(); }
  void WorkspaceRelease(int64_t mark) override { arena_.Pop(mark); }
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

 private:
  static constexpr int32_t kFirstConstant = 1 << 30;  // buffers below are workspace

  // Where x is; a Block without data if x is invalid.
  Block View(Tensor x) const;
  xnnpack::NormWeights View(const Norm& norm) const;
  void Project(Tensor x, Weight weight, Activation activation, Tensor out);
  const PackedLinear& linear(Weight weight) const;
  PackedLinear& linear(Weight weight) { return const_cast<PackedLinear&>(std::as_const(*this).linear(weight)); }
  // Workspace of an operation itself, within a Scope; null and a failed run without memory.
  std::byte* Scratch(int64_t bytes);
  float* ScratchFloats(int64_t count) { return reinterpret_cast<float*>(Scratch(count * kFloat)); }

  xnnpack::ThreadPool pool_;
  xnnpack::Arena arena_;
  std::vector<PackedLinear> linears_;
  std::vector<xnnpack::AlignedBytes> constants_;
  int64_t weight_bytes_ = 0;
  bool failed_ = false;  // out of memory in this run
};

// ---- Weights and constants ----------------------------------------------------------------------------------

Result<Weight> XnnpackBackend::CreateLinear(const LinearSpec& spec) {
  CheckSpec(spec);
  PERUSE_RETURN_IF_ERROR(CheckInt8Depth(spec));
  PERUSE_ASSIGN_OR_RETURN(PackedLinear linear, PackedLinear::Create(spec));
  weight_bytes_ += linear.bytes();
  linears_.push_back(std::move(linear));
  return Weight{static_cast<int32_t>(linears_.size()) - 1, spec.in, spec.out, spec.groups};
}

const PackedLinear& XnnpackBackend::linear(Weight weight) const {
  PERUSE_CHECK(weight.id >= 0 && weight.id < static_cast<int32_t>(linears_.size()));
  const PackedLinear& packed = linears_[static_cast<size_t>(weight.id)];
  PERUSE_CHECK(packed.spec().out > 0);  // not freed
  return packed;
}

Status XnnpackBackend::WriteLinear(Weight weight, int32_t first_row, std::span<const float> rows) {
  PackedLinear& packed = linear(weight);
  CheckWrite(packed.spec(), /*int8=*/false);
  CheckRows(packed.spec(), first_row, rows.size(), packed.depth());
  packed.WriteRows(first_row, rows);
  return OkStatus();
}

Status XnnpackBackend::WriteInt8(Weight weight, int32_t first_row, std::span<const int8_t> rows) {
  PackedLinear& packed = linear(weight);
  CheckWrite(packed.spec(), /*int8=*/true);
  CheckRows(packed.spec(), first_row, rows.size(), packed.depth());
  packed.WriteInt8(first_row, rows);
  return OkStatus();
}

Status XnnpackBackend::WriteScales(Weight weight, int32_t first_row, std::span<const float> scales) {
  PackedLinear& packed = linear(weight);
  CheckWrite(packed.spec(), /*int8=*/true);
  CheckRows(packed.spec(), first_row, scales.size(), 1);
  packed.WriteScales(first_row, scales);
  return OkStatus();
}

Status XnnpackBackend::WriteBias(Weight weight, int32_t first, std::span<const float> values) {
  PackedLinear& packed = linear(weight);
  PERUSE_CHECK(first >= 0 && first + static_cast<int64_t>(values.size()) <= packed.spec().out);
  packed.WriteBias(first, values);
  return OkStatus();
}

void XnnpackBackend::FreeLinear(Weight weight) {
  PackedLinear& packed = linear(weight);
  weight_bytes_ -= packed.bytes();
  packed = PackedLinear::Freed();
}

Result<Tensor> XnnpackBackend::CreateConstant(int32_t rows, int32_t cols) {
  PERUSE_CHECK(rows >= 0 && cols >= 0);
  const int64_t bytes = int64_t{rows} * cols * kFloat;
  xnnpack::AlignedBytes memory = xnnpack::AllocateAligned(bytes);
  if (!memory) return OutOfMemory("no memory for a constant");
  std::memset(memory.get(), 0, static_cast<size_t>(bytes));
  weight_bytes_ += bytes;
  constants_.push_back(std::move(memory));
  return Tensor{kFirstConstant + static_cast<int32_t>(constants_.size()) - 1, rows, cols, cols, 0};
}

Status XnnpackBackend::WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) {
  const Block block = View(constant);
  const int64_t count = static_cast<int64_t>(rows.size()) / block.cols;
  PERUSE_CHECK(first_row >= 0 && static_cast<int64_t>(rows.size()) == count * block.cols);
  PERUSE_CHECK(first_row + count <= block.rows);
  const float* source = rows.data();
  for (int64_t r = 0; r < count; ++r, source += block.cols) {
    std::memcpy(block.row(first_row + r), source, static_cast<size_t>(block.cols * kFloat));
  }
  return OkStatus();
}

// ---- A run --------------------------------------------------------------------------------------------------

void XnnpackBackend::BeginRun() {
  arena_.Reset();
  failed_ = false;
}

Status XnnpackBackend::Submit() { return failed_ ? OutOfMemory("no memory for the run's workspace") : OkStatus(); }

Tensor XnnpackBackend::New(int32_t rows, int32_t cols) {
  PERUSE_CHECK(rows >= 0 && cols >= 0);
  // Once failed, a run allocates no more: it would only make the shortage worse.
  if (!arena_.Push(failed_ ? 0 : int64_t{rows} * cols * kFloat)) failed_ = true;
  return {static_cast<int32_t>(arena_.size()) - 1, rows, cols, cols, 0};
}

std::byte* XnnpackBackend::Scratch(int64_t bytes) {
  if (!arena_.Push(bytes)) failed_ = true;
  return arena_.data(arena_.size() - 1);
}

Block XnnpackBackend::View(Tensor x) const {
  if (!x.valid()) return {};
  const std::byte* data = nullptr;
  if (x.buffer >= kFirstConstant) {
    PERUSE_CHECK(x.buffer - kFirstConstant < static_cast<int32_t>(constants_.size()));
    data = constants_[static_cast<size_t>(x.buffer - kFirstConstant)].get();
  } else {
    PERUSE_CHECK(x.buffer < arena_.size());
    data = arena_.data(x.buffer);
  }
  float* values = reinterpret_cast<float*>(const_cast<std::byte*>(data));
  return {values + x.first_col, x.rows, x.cols, x.stride};
}

xnnpack::NormWeights XnnpackBackend::View(const Norm& norm) const {
  return {View(norm.weight).data, View(norm.bias).data, norm.eps};
}

void XnnpackBackend::Upload(std::span<const float> values, Tensor out) {
  PERUSE_CHECK(static_cast<int64_t>(values.size()) == int64_t{out.rows} * out.cols);
  if (failed_) return;
  const Block source{const_cast<float*>(values.data()), out.rows, out.cols, out.cols};
  xnnpack::CopyBlock(source, View(out));
}

void XnnpackBackend::Download(Tensor x, std::span<float> destination) {
  PERUSE_CHECK(static_cast<int64_t>(destination.size()) == int64_t{x.rows} * x.cols);
  if (failed_) return;
  xnnpack::CopyBlock(View(x), {destination.data(), x.rows, x.cols, x.cols});
}

// ---- Operations ---------------------------------------------------------------------------------------------

void XnnpackBackend::Project(Tensor x, Weight weight, Activation activation, Tensor out) {
  const PackedLinear& packed = linear(weight);
  const Scope scope(*this);
  float* scratch = ScratchFloats(xnnpack::LinearScratch(packed, x.rows, pool_.threads()));
  if (failed_) return;
  RunLinear(pool_, View(x), packed.depth(), packed, activation, scratch, View(out));
}

void XnnpackBackend::Linear(Tensor x, Weight weight, Activation activation, Tensor out) {
  CheckLinear(x, weight, out);
  if (failed_) return;
  Project(x, weight, activation, out);
}

// The product fills `out`, then residual and norm run over it: the extra pass over `out` costs less than reading the
// weights once per tile of rows would.
void XnnpackBackend::LinearAddNorm(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) {
  CheckLinear(x, weight, out);
  CheckOutput(out, residual.rows, residual.cols, {residual});
  CheckNorm(norm, out.cols);
  if (failed_) return;
  Project(x, weight, Activation::kNone, out);
  if (failed_) return;
  AddNormRows(pool_, View(out), View(residual), View(norm), View(out));
}

void XnnpackBackend::LayerNorm(Tensor x, const Norm& norm, Tensor out) {
  CheckNorm(norm, x.cols);
  CheckOutput(out, x.rows, x.cols, {x});
  if (failed_) return;
  AddNormRows(pool_, View(x), Block(), View(norm), View(out));
}

void XnnpackBackend::AddNorm(Tensor x, Tensor y, const Norm& norm, Tensor out) {
  CheckNorm(norm, x.cols);
  CheckShape(y, x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed_) return;
  AddNormRows(pool_, View(x), View(y), View(norm), View(out));
}

void XnnpackBackend::Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) {
  DisentangledAttention(args, RelativePositions(), batch, out);
}

void XnnpackBackend::DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions,
                                           const RaggedBatch& batch, Tensor out) {
  CheckAttention(args, batch, out);
  CheckPositions(args, positions, batch);
  if (failed_) return;
  const xnnpack::AttentionBlocks blocks{View(args.query),
                                        View(args.key),
                                        View(args.value),
                                        View(positions.position_key),
                                        View(positions.position_query),
                                        View(args.probabilities),
                                        View(out),
                                        args.heads,
                                        args.scale};
  const Scope scope(*this);
  std::byte* scratch = Scratch(xnnpack::AttentionScratch(blocks, batch, pool_.threads()));
  if (failed_) return;
  xnnpack::RunAttention(pool_, blocks, positions, batch, scratch);
}

void XnnpackBackend::DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) {
  CheckDepthwiseConv(x, taps, batch, out);
  if (failed_) return;
  xnnpack::RunDepthwiseConv(pool_, View(x), View(taps), batch, View(out));
}

void XnnpackBackend::SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                              Tensor kernels) {
  CheckSpanConv(logits, values, heads, batch, out, kernels);
  if (failed_) return;
  const Scope scope(*this);
  if (!kernels.valid()) kernels = New(logits.rows, logits.cols);
  if (failed_) return;
  xnnpack::RunSpanConv(pool_, View(logits), View(values), heads, batch, View(kernels), View(out));
}

void XnnpackBackend::Conv1d(Tensor x, Weight weight, int32_t kernel_size, Activation activation,
                            const RaggedBatch& batch, Tensor out) {
  CheckConv1d(x, weight, kernel_size, batch, out);
  if (failed_) return;
  const Scope scope(*this);
  float* scratch = ScratchFloats(xnnpack::Conv1dScratch(pool_, View(x), linear(weight), kernel_size, batch));
  if (failed_) return;
  xnnpack::RunConv1d(pool_, View(x), linear(weight), kernel_size, activation, batch, scratch, View(out));
}

void XnnpackBackend::Multiply(Tensor x, Tensor y, Tensor out) {
  CheckShape(y, x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed_) return;
  xnnpack::MultiplyBlocks(pool_, View(x), View(y), View(out));
}

void XnnpackBackend::Add(Tensor x, Tensor y, Tensor out) {
  CheckShape(y, y.rows == 1 ? 1 : x.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, y});
  if (failed_) return;
  xnnpack::AddBlocks(pool_, View(x), View(y), View(out));
}

void XnnpackBackend::Activate(Tensor x, Activation activation, Tensor out) {
  CheckOutput(out, x.rows, x.cols, {x});
  if (failed_) return;
  xnnpack::ActivateBlock(pool_, View(x), activation, View(out));
}

void XnnpackBackend::SelectRows(Tensor x, std::span<const int32_t> rows, Tensor out) {
  CheckOutput(out, static_cast<int32_t>(rows.size()), x.cols, {x});
  for (int32_t row : rows) PERUSE_CHECK(row >= 0 && row < x.rows);
  if (failed_) return;
  const Block source = View(x);
  const Block result = View(out);
  for (size_t r = 0; r < rows.size(); ++r) {
    std::memcpy(result.row(static_cast<int64_t>(r)), source.row(rows[r]), static_cast<size_t>(x.cols * kFloat));
  }
}

}  // namespace

Result<std::unique_ptr<Backend>> CreateXnnpackBackend(int32_t threads) {
  PERUSE_ASSIGN_OR_RETURN(xnnpack::ThreadPool pool, xnnpack::ThreadPool::Create(threads));
  return std::unique_ptr<Backend>(std::make_unique<XnnpackBackend>(std::move(pool)));
}

}  // namespace peruse
