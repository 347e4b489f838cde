// A backend around another one: counts the operations of a run, in floating-point operations and, on request, in time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/backend/backend.h"

namespace peruse::bench {

class CountingBackend final : public Backend {
 public:
  struct Entry {
    int64_t calls = 0;
    double flops = 0;    // of products and convolutions; a multiply-add is two
    double seconds = 0;  // only with a profile
  };

  explicit CountingBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  // Whether to keep entries and time them. Without, only flops() is counted.
  void set_profiling(bool on) { profiling_ = on; }
  void Clear() {
    entries_.clear();
    flops_ = 0;
  }
  // Since Clear.
  double flops() const { return flops_; }
  // By operation and shape, for example "Linear 128x768x3072".
  const std::map<std::string, Entry>& entries() const { return entries_; }

  std::string_view name() const override { return inner_->name(); }
  bool deferred() const override { return inner_->deferred(); }
  Result<Weight> CreateLinear(const LinearSpec& spec) override { return inner_->CreateLinear(spec); }
  Status WriteLinear(Weight weight, int32_t first_row, std::span<const float> rows) override {
    return inner_->WriteLinear(weight, first_row, rows);
  }
  Status WriteInt8(Weight weight, int32_t first_row, std::span<const int8_t> rows) override {
    return inner_->WriteInt8(weight, first_row, rows);
  }
  Status WriteScales(Weight weight, int32_t first_row, std::span<const float> scales) override {
    return inner_->WriteScales(weight, first_row, scales);
  }
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values) override {
    return inner_->WriteBias(weight, first, values);
  }
  void FreeLinear(Weight weight) override { inner_->FreeLinear(weight); }
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols) override { return inner_->CreateConstant(rows, cols); }
  Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) override {
    return inner_->WriteConstant(constant, first_row, rows);
  }
  int64_t WeightBytes() const override { return inner_->WeightBytes(); }
  void BeginRun() override { inner_->BeginRun(); }
  Status Submit() override { return inner_->Submit(); }
  Tensor New(int32_t rows, int32_t cols) override { return inner_->New(rows, cols); }
  int64_t WorkspaceMark() const override { return inner_->WorkspaceMark(); }
  void WorkspaceRelease(int64_t mark) override { inner_->WorkspaceRelease(mark); }

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
  template <typename Operation>
  void Count(const char* name, double flops, std::initializer_list<int32_t> shape, const Operation& operation);

  std::unique_ptr<Backend> inner_;
  bool profiling_ = false;
  double flops_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace peruse::bench
