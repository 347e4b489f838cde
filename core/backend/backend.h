// The seam between models and machines: the operations of an encoder, and what each one means.
//
// Models are straight-line code over this interface. They hold handles, never values; every shape is known
// before a call; and an operation may be deferred until Submit. So a CPU backend may compute at once and a GPU
// backend may only record.
//
// Rules that hold for every operation
//  - Outputs are allocated by the caller (New or CreateConstant) and have exactly the shape stated.
//  - An output never shares memory with an input.
//  - Tensors may be column blocks of wider ones (Tensor::Columns).
//  - Shapes are the model's promise: a mismatch is a fault of ours (PERUSE_CHECK), never of input.
//  - Running out of memory makes the run fail: later operations do nothing, and Submit says so.
//  - A text's rows depend on that text alone, whatever else is in the batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/backend/activation.h"
#include "core/base/status.h"
#include "core/tensor/ragged_batch.h"
#include "core/tensor/tensor.h"

namespace peruse {

// How a linear layer's weights are held.
enum class Precision : uint8_t {
  kF32,
  kF16,  // IEEE half where the backend reads it so
  // Symmetric int8 per output channel. Activations are quantised at run time, each row (with groups: each group's slice
  // of it) on its own; sums of products are exact (quantize.h).
  kQ8,
};

struct LinearSpec {
  int32_t in = 0;      // input features
  int32_t out = 0;     // output features
  int32_t groups = 1;  // independent linears over equal slices of the features (ConvBERT's GroupedLinear)
  Precision precision = Precision::kF32;
  bool wide_input = false;  // kQ8: activations of 13 bits instead of 8, where the sums have room (quantize.h)
};

// A linear layer's packed weights: y = x W^T + b. The bias is zero until written.
struct Weight {
  int32_t id = -1;
  int32_t in = 0;
  int32_t out = 0;
  int32_t groups = 1;
  bool valid() const { return id >= 0; }
};

// Layer norm: (x - mean) / sqrt(variance + eps) * weight + bias, biased variance, over the columns.
struct Norm {
  Tensor weight;  // [1, width], constant
  Tensor bias;    // [1, width], constant
  float eps = 0;
};

// What a model will ask of its backend, as far as its configuration tells.
struct Outlook {
  Precision precision = Precision::kF32;  // of most linear layers
  int32_t head_dim = 0;                   // of attention; 0: none
  bool relative_positions = false;        // DisentangledAttention
  bool depthwise = false;                 // DepthwiseConv
  bool conv1d = false;                    // Conv1d
  std::vector<int32_t> span_taps;         // kernel sizes of LinearSpanConv
};

// Softmax attention over each sequence, per head. Head h owns columns [h * head_dim, (h + 1) * head_dim).
struct AttentionArgs {
  Tensor query;  // [rows, heads * head_dim]
  Tensor key;    // [rows, heads * head_dim]
  Tensor value;  // [rows, heads * head_dim]
  int32_t heads = 0;
  float scale = 1;  // multiplies the whole score, position terms included; not negative
  // Where to put the probabilities, if wanted: [sum over sequences of heads * length, longest length], row
  // (first row of the sequence) * heads + h * length + i for head h and query i; columns past length are zero.
  Tensor probabilities;
};

// DeBERTa's relative position terms. With slot(i, j) = slots[(i - j) + reach - 1] the score gains
// query_i . position_key[slot(i, j)] and key_j . position_query[slot(i, j)].
struct RelativePositions {
  Tensor position_key;             // [slots, heads * head_dim], constant; invalid: no content-to-position term
  Tensor position_query;           // [slots, heads * head_dim], constant; invalid: no position-to-content term
  std::span<const int32_t> slots;  // [2 * reach - 1]; must stay in place until Submit
  int32_t reach = 0;               // distances i - j in (-reach, reach) are covered; reach >= longest length
};

class Backend {
 public:
  virtual ~Backend() = default;

  // "reference", "xnnpack", ...
  virtual std::string_view name() const = 0;
  // Whether operations are only recorded: results are there once a host has replayed the run, not before.
  virtual bool deferred() const { return false; }

  // Time to get ready while weights arrive: compiling shaders, say. Changes no result.
  virtual void Prepare(const Outlook& outlook) { (void)outlook; }

  // ---- Weights and constants: they live until the backend does, or FreeLinear. ---------------------------

  virtual Result<Weight> CreateLinear(const LinearSpec& spec) = 0;
  // Rows [first_row, first_row + rows.size() / (in / groups)) of W, each in / groups long. Not for kQ8.
  virtual Status WriteLinear(Weight weight, int32_t first_row, std::span<const float> rows) = 0;
  // The same for kQ8, and a scale for each row: W[row] = rows[row] * scales[row]. In any order.
  virtual Status WriteInt8(Weight weight, int32_t first_row, std::span<const int8_t> rows) { return NoInt8(); }
  virtual Status WriteScales(Weight weight, int32_t first_row, std::span<const float> scales) { return NoInt8(); }
  virtual Status WriteBias(Weight weight, int32_t first, std::span<const float> values) = 0;
  // Gives a layer's memory back, between runs: for one that was needed only to fold constants. It is not to be used again.
  virtual void FreeLinear(Weight weight) = 0;

  // A matrix that outlives runs. May be the output of an operation (folding at load).
  virtual Result<Tensor> CreateConstant(int32_t rows, int32_t cols) = 0;
  virtual Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) = 0;

  // Bytes held for weights and constants.
  virtual int64_t WeightBytes() const = 0;

  // ---- A run: BeginRun, operations, Submit; then what Download named has been filled. --------------------

  // Forgets the last run's workspace and failure.
  virtual void BeginRun() = 0;
  // Completes the run. On failure nothing downloaded is meaningful.
  virtual Status Submit() = 0;

  // An uninitialised workspace matrix, freed when the innermost Scope ends.
  virtual Tensor New(int32_t rows, int32_t cols) = 0;
  // The workspace level now, and back to it. Use Scope.
  virtual int64_t WorkspaceMark() const = 0;
  virtual void WorkspaceRelease(int64_t mark) = 0;

  // `values` is read before this returns. out: as many rows and columns as values fill.
  virtual void Upload(std::span<const float> values, Tensor out) = 0;
  // Fills `destination` ([rows, cols] row-major) by the end of Submit.
  virtual void Download(Tensor x, std::span<float> destination) = 0;

  // ---- Operations ----------------------------------------------------------------------------------------
  // Those that are not pure stand in backend.cc in terms of others; a backend may fuse them.

  // out = activation(x W^T + b)                                 x [rows, in], out [rows, out]
  virtual void Linear(Tensor x, Weight weight, Activation activation, Tensor out) = 0;
  // out = (x W^T + b) * y                                       y, out [rows, out]
  virtual void LinearMultiply(Tensor x, Weight weight, Tensor y, Tensor out);
  // out = norm(x W^T + b + residual)                            residual, out [rows, out]
  virtual void LinearAddNorm(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) = 0;
  // out = norm(x)
  virtual void LayerNorm(Tensor x, const Norm& norm, Tensor out) = 0;
  // out = norm(x + y)
  virtual void AddNorm(Tensor x, Tensor y, const Norm& norm, Tensor out) = 0;

  // out = softmax(scale q k^T) v within each sequence           out [rows, heads * head_dim]
  virtual void Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) = 0;
  // The same with DeBERTa's position terms in the score (spec: Part A5, B4, C2).
  virtual void DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions,
                                     const RaggedBatch& batch, Tensor out) = 0;

  // out[t, c] = sum_j taps[j, c] x[t + j - (K - 1) / 2, c], zero outside the sequence; taps [K, cols], constant
  virtual void DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) = 0;
  // Span-based dynamic convolution: softmax over each head's K = logits.cols / heads taps, then
  // out[t, c] = sum_j kernel[t, head(c), j] values[t + j - (K - 1) / 2, c]. Out-of-range taps add zero; the softmax
  // is not renormalised. `kernels`, if valid, receives the softmax: [rows, heads * K].
  virtual void SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                        Tensor kernels) = 0;
  // SpanConv of the logits x W^T + b                            x [rows, in], weight [heads * K, in]
  virtual void LinearSpanConv(Tensor x, Weight weight, Tensor values, int32_t heads, const RaggedBatch& batch,
                              Tensor out, Tensor kernels);
  // 1-D convolution over the tokens, zero padded: weight is [out, K * in / groups], tap-major (column
  // j * (in / groups) + i for tap j and input i of the group); out = activation(conv(x) + b).
  virtual void Conv1d(Tensor x, Weight weight, int32_t kernel_size, Activation activation, const RaggedBatch& batch,
                      Tensor out) = 0;

  // out = x * y elementwise
  virtual void Multiply(Tensor x, Tensor y, Tensor out) = 0;
  // out = x + y elementwise; y may have one row, added to every row
  virtual void Add(Tensor x, Tensor y, Tensor out) = 0;
  // out = activation(x)
  virtual void Activate(Tensor x, Activation activation, Tensor out) = 0;
  // out[r] = x[rows[r]]; `rows` is read before this returns
  virtual void SelectRows(Tensor x, std::span<const int32_t> rows, Tensor out) = 0;

 private:
  // Of a backend whose CreateLinear refuses kQ8.
  static Status NoInt8() { return Unsupported("this backend does not hold int8 weights"); }
};

// Frees the workspace that was allocated within a block.
class Scope {
 public:
  explicit Scope(Backend& backend) : backend_(backend), mark_(backend.WorkspaceMark()) {}
  ~Scope() { backend_.WorkspaceRelease(mark_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Backend& backend_;
  int64_t mark_;
};

}  // namespace peruse
