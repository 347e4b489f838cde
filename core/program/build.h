// Builder with which families write a program: operations on values, and parameters named as in the checkpoint.
//
//   Value projected = b.Linear(x, b.Stacked(hidden).Add(self + "query", half).Add(self + "key", half));
//   auto [query, key] = b.Split<2>(projected);
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program/parameters.h"
#include "core/program/program.h"

namespace peruse {

// Several tensors stacked by rows as one linear layer: a single product computes them all.
class Stack {
 public:
  // name.weight [out, in], name.bias [out]
  Stack& Add(const std::string& name, int32_t out);
  // A weight of any shape with `out` rows of `in` elements, under its full name, without a bias. if_has as in ParameterTensor.
  Stack& AddWeight(std::vector<std::string> names, std::vector<int64_t> shape, int32_t out,
                   std::vector<std::string> if_has = {});
  // name [out, in, taps], the taps of a convolution stacked by rows: rows [tap * out, (tap + 1) * out) belong to one tap.
  Stack& AddTaps(const std::string& name, int32_t out, int32_t taps);
  // A bias of any shape, under its full name, for outputs [first, first + count).
  Stack& AddBias(std::vector<std::string> names, std::vector<int64_t> shape, int32_t first);
  // With kQ8, uses 13-bit activations, for inputs that lose most in 8 bits.
  Stack& WithWideInput() {
    spec_.wide_input = true;
    return *this;
  }
  // name [heads * parts * size, in] with rows ordered head, part, channel in the file, and part, head, channel in memory (DeBERTa v1's
  // in_proj).
  Stack& AddInterleaved(const std::string& name, int32_t heads, int32_t parts, int32_t size);

 private:
  friend class Build;
  Stack(int32_t in, Precision precision) { spec_.in = in, spec_.out = 0, spec_.precision = precision; }

  LinearSpec spec_;
  std::vector<ParameterTensor> tensors_;  // the stack's declaration sets their `parameter`
};

// Numbers of ops::Input: 0 is the labels' vectors; masks of the layers' heads start here.
inline constexpr int32_t kFirstMask = 1;

class Build {
 public:
  // `precision` is that of linear layers that do not request float32.
  Build(Program& program, Parameters& parameters, Precision precision)
      : program_(program), parameters_(parameters), precision_(precision) {}

  // Until EndPart, parameter names get `prefix`, and outputs are not named. For a second encoder.
  void BeginPart(std::string prefix) { part_ = std::move(prefix); }
  void EndPart() { part_.clear(); }

  // Rejects checkpoints with tensor names that start like this (Parameters::refused).
  void Refuse(std::string prefix) { parameters_.refused.push_back(std::move(prefix)); }

  // Changes to token embeddings that a head requests (SumEmbeddings): `rows`, one per label, replace the token embeddings at labels; and
  // rows of a table are added by segment.
  struct WordChanges {
    Value rows;
    std::string segments;  // the table's name, or empty
    int32_t segment_count = 0;
  };
  void ChangeWords(WordChanges changes) { word_changes_ = std::move(changes); }
  const WordChanges& word_changes() const { return word_changes_; }

  // Following tensors belong to the head that messages call `name`.
  void BeginHead(std::string_view name) { head_ = std::string(name); }

  // ---- Parameters ---------------------------------------------------------------------------------------------------

  Stack Stacked(int32_t in) const { return Stack(in, precision_); }
  // In float32 for any precision of the model.
  Stack StackedF32(int32_t in) const { return Stack(in, Precision::kF32); }
  LinearId Weights(const Stack& stack) { return Declare(stack.spec_, stack.tensors_); }
  // name.weight [out, in], name.bias [out]
  LinearId Weights(const std::string& name, int32_t in, int32_t out) { return Weights(Stacked(in).Add(name, out)); }
  // The columns [first, first + in) of name.weight [out, all], without the bias.
  Stack ColumnsOf(const std::string& name, int32_t first, int32_t in, int32_t all, int32_t out) const;
  // name.weight [groups, in / groups, out / groups] (input-major), name.bias [out]: transformers' GroupedLinearLayer; with one group, an
  // ordinary linear layer. wide_input: see LinearSpec.
  LinearId GroupedWeights(const std::string& name, int32_t in, int32_t out, int32_t groups, bool wide_input = false);
  // name.weight [out, in / groups, kernel_size], name.bias [out]
  LinearId Conv1dWeights(const std::string& name, int32_t in, int32_t out, int32_t groups, int32_t kernel_size);
  // name [rows, cols]
  Value Constant(const std::string& name, int32_t rows, int32_t cols);
  // name [cols], one row
  Value ConstantRow(const std::string& name, int32_t cols) {
    return NewConstant(1, cols, {.names = {name}, .shape = {cols}});
  }
  // name [cols, rows], transposed
  Value TransposedConstant(const std::string& name, int32_t rows, int32_t cols);
  // name [any], its elements in order as [rows, cols]
  Value ReshapedConstant(const std::string& name, std::vector<int64_t> shape, int32_t rows, int32_t cols) {
    return NewConstant(rows, cols, {.names = {name}, .shape = std::move(shape)});
  }
  // name [], repeated in every column
  Value ScalarRow(const std::string& name, int32_t cols) {
    return NewConstant(1, cols, {.layout = layouts::Repeated{cols}, .names = {name}});
  }
  // name [rows, cols / copies], each row repeated
  Value TiledConstant(const std::string& name, int32_t rows, int32_t cols, int32_t copies);
  // name [channels, 1, kernel_size], stored as taps [kernel_size, channels]
  Value DepthwiseTaps(const std::string& name, int32_t channels, int32_t kernel_size);
  // name [heads, kernel_size]: logits of taps, shared by a head's channels; stored as taps [kernel_size, channels]
  Value SoftmaxTaps(const std::string& name, int32_t heads, int32_t channels, int32_t kernel_size);
  // name.weight [width], name.bias [width] (or .gamma and .beta)
  NormArgs Norm(const std::string& name, int32_t width, float eps) { return Norm(std::vector{name}, width, eps); }
  // The same under one of several names. Without `bias` the checkpoint only has name.weight.
  NormArgs Norm(const std::vector<std::string>& names, int32_t width, float eps, bool bias = true);
  TableId Table(const std::string& name, int32_t rows, int32_t cols, bool words = false);

  // ---- Operations ---------------------------------------------------------------------------------------------------

  Value Embed(const std::vector<ops::Embed::Lookup>& lookups);
  Value Linear(Value x, LinearId weight);
  Value Linear(Value x, const Stack& stack) { return Linear(x, Weights(stack)); }
  Value LayerNorm(Value x, const NormArgs& norm);
  Value Activate(Value x, Activation activation);
  // An optional input of the caller with the shape of x (passes.h: DropInputs); `number` is its ops::Input number.
  Value InputLike(Value x, int32_t number);
  Value Add(Value x, Value y);
  Value Multiply(Value x, Value y);
  struct Attended {
    Value out;
    Value probabilities;
  };
  // `args` has no results.
  Attended Attention(ops::Attention args);
  Value DepthwiseConv(Value x, Value taps);
  struct Convolved {
    Value out;
    Value kernels;
  };
  Convolved SpanConv(Value logits, Value values, int32_t heads);
  Value Conv1d(Value x, LinearId weight, int32_t kernel_size);
  Value SelectRows(Value x, const Index& rows);
  // `width` is the result's; 0 means that of x.
  struct Pooling {
    ops::PoolRows::Kind kind = ops::PoolRows::Kind::kSum;
    int32_t stride = 1;
    int32_t width = 0;
  };
  Value PoolRows(Value x, const Index& begins, const Index& counts, const Pooling& pooling);
  // `args` has no result.
  Value CrossAttention(ops::CrossAttention args);
  Value Normalize(Value x, float eps);
  // A matrix from the caller of a run.
  Value Input(int32_t number, Extent rows, int32_t cols);
  Value Concat(Value x, Value y);
  // [tokens, head_dim]: cosines and sines by token position. `args` has neither positions nor a result.
  Value RotaryAngles(ops::RotaryAngles args, int32_t head_dim);
  // Rotates the heads of x by `angles`.
  Value Rotate(Value x, Value angles);
  // x y^T; y has a row per element of its domain.
  Value MatMul(Value x, Value y);
  // One direction; gates are [rows, 4 * width].
  Value Lstm(Value gates, Value recurrent, Value bias, bool reverse);
  // The columns [first, first + count) of x, without copying.
  Value Columns(Value x, int32_t first, int32_t count);
  // x split into N blocks of equal width.
  template <size_t N>
  std::array<Value, N> Split(Value x) {
    const int32_t width = cols(x) / static_cast<int32_t>(N);
    std::array<Value, N> parts;
    for (size_t i = 0; i < N; ++i) parts[i] = Columns(x, static_cast<int32_t>(i) * width, width);
    return parts;
  }

  IndexId IndexOf(const Index& index);

  // Makes a value available to callers.
  void Output(OutputId id, Value value) {
    if (part_.empty()) program_.outputs.push_back({id, value});
  }
  // Marks a value for dropout in training (core/train/step.h) and returns it. It must be an operation's whole first result.
  Value Dropped(Value value) {
    program_.dropped.push_back(value);
    return value;
  }
  // The value of an existing output.
  Value Named(OutputId id) const;

  int32_t cols(Value x) const { return program_.info(x).cols.factor; }

 private:
  void DeclareTensor(ParameterTensor tensor);  // with the names of this part and head
  LinearId Declare(LinearSpec spec, const std::vector<ParameterTensor>& tensors);
  Value NewConstant(int32_t rows, int32_t cols, ParameterTensor tensor);
  Value NewLike(Value x, int32_t cols) { return program_.NewValue(program_.info(x).rows, {Domain::kOne, cols}); }

  Program& program_;
  Parameters& parameters_;
  const Precision precision_;
  std::string head_;
  std::string part_;
  WordChanges word_changes_;
};

}  // namespace peruse
