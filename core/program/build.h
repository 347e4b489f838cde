// How families write down a program: operations on values, and the parameters they need, named as in the checkpoint.
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

// Several tensors as one linear layer, one below the other: a single product computes them all.
class Stack {
 public:
  // name.weight [out, in], name.bias [out]
  Stack& Add(const std::string& name, int32_t out);
  // A weight of any shape that holds out rows of in elements, named in full; no bias.
  // if_has: as in ParameterTensor.
  Stack& AddWeight(std::vector<std::string> names, std::vector<int64_t> shape, int32_t out,
                   std::vector<std::string> if_has = {});
  // name [out, in, taps], the taps of a convolution one below the other: rows [tap * out, (tap + 1) * out) are a tap's.
  Stack& AddTaps(const std::string& name, int32_t out, int32_t taps);
  // A bias of any shape, named in full, for outputs [first, first + count).
  Stack& AddBias(std::vector<std::string> names, std::vector<int64_t> shape, int32_t first);
  // With kQ8, activations of 13 bits: for inputs that lose most in 8.
  Stack& WithWideInput() {
    spec_.wide_input = true;
    return *this;
  }
  // name [heads * parts * size, in] with rows ordered head, part, channel in the file: stored part, head, channel (DeBERTa v1's in_proj).
  Stack& AddInterleaved(const std::string& name, int32_t heads, int32_t parts, int32_t size);

 private:
  friend class Build;
  Stack(int32_t in, Precision precision) { spec_.in = in, spec_.out = 0, spec_.precision = precision; }

  LinearSpec spec_;
  std::vector<ParameterTensor> tensors_;  // their `parameter` is set when the stack is declared
};

// Numbers of inputs (ops::Input): 0 are the labels' vectors, from here on the masks of the layers' heads.
inline constexpr int32_t kFirstMask = 1;

class Build {
 public:
  // `precision`: of the linear layers, but for those that ask for float32.
  Build(Program& program, Parameters& parameters, Precision precision)
      : program_(program), parameters_(parameters), precision_(precision) {}

  // Until EndPart: names of parameters stand behind `prefix`, and no outputs are named. For a second encoder.
  void BeginPart(std::string prefix) { part_ = std::move(prefix); }
  void EndPart() { part_.clear(); }

  // No checkpoint may have tensors whose names begin so (Parameters::refused).
  void Refuse(std::string prefix) { parameters_.refused.push_back(std::move(prefix)); }

  // What families are to do with the word embeddings of a head that changes them (SumEmbeddings): `rows`, one for each label,
  // take the place of the words where labels are; and rows of the table, by segment, are added.
  struct WordChanges {
    Value rows;
    std::string segments;  // the table; empty: none
    int32_t segment_count = 0;
  };
  void ChangeWords(WordChanges changes) { word_changes_ = std::move(changes); }
  const WordChanges& word_changes() const { return word_changes_; }

  // Tensors named from here on belong to the head that messages call `name`.
  void BeginHead(std::string_view name) { head_ = std::string(name); }

  // ---- Parameters ---------------------------------------------------------------------------------------------------

  Stack Stacked(int32_t in) const { return Stack(in, precision_); }
  // In float32, whatever the precision of the model.
  Stack StackedF32(int32_t in) const { return Stack(in, Precision::kF32); }
  LinearId Weights(const Stack& stack) { return Declare(stack.spec_, stack.tensors_); }
  // name.weight [out, in], name.bias [out]
  LinearId Weights(const std::string& name, int32_t in, int32_t out) { return Weights(Stacked(in).Add(name, out)); }
  // The columns [first, first + in) of name.weight [out, all], without the bias.
  Stack ColumnsOf(const std::string& name, int32_t first, int32_t in, int32_t all, int32_t out) const;
  // name.weight [groups, in / groups, out / groups] (input-major), name.bias [out]: transformers' GroupedLinearLayer. With one
  // group it is an ordinary linear, as there. wide_input: see LinearSpec.
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
  // name [any], its elements in their order as [rows, cols]
  Value ReshapedConstant(const std::string& name, std::vector<int64_t> shape, int32_t rows, int32_t cols) {
    return NewConstant(rows, cols, {.names = {name}, .shape = std::move(shape)});
  }
  // name [], in every column of a row
  Value ScalarRow(const std::string& name, int32_t cols) {
    return NewConstant(1, cols, {.layout = layouts::Repeated{cols}, .names = {name}});
  }
  // name [rows, cols / copies], each row repeated
  Value TiledConstant(const std::string& name, int32_t rows, int32_t cols, int32_t copies);
  // name [channels, 1, kernel_size], stored as taps [kernel_size, channels]
  Value DepthwiseTaps(const std::string& name, int32_t channels, int32_t kernel_size);
  // name [heads, kernel_size]: the logits of taps that each head's channels share, stored as taps [kernel_size, channels]
  Value SoftmaxTaps(const std::string& name, int32_t heads, int32_t channels, int32_t kernel_size);
  // name.weight [width], name.bias [width] (or .gamma and .beta)
  NormArgs Norm(const std::string& name, int32_t width, float eps) { return Norm(std::vector{name}, width, eps); }
  // The same under one of several names. Without a bias the checkpoint has name.weight alone.
  NormArgs Norm(const std::vector<std::string>& names, int32_t width, float eps, bool bias = true);
  // name [rows, cols], in host memory; words: with kQ8 stored as int8 by row
  TableId Table(const std::string& name, int32_t rows, int32_t cols, bool words = false);

  // ---- Operations ---------------------------------------------------------------------------------------------------

  Value Embed(const std::vector<ops::Embed::Lookup>& lookups);
  Value Linear(Value x, LinearId weight);
  Value Linear(Value x, const Stack& stack) { return Linear(x, Weights(stack)); }
  Value LayerNorm(Value x, const NormArgs& norm);
  Value Activate(Value x, Activation activation);
  // A matrix like x that the caller brings, if he wants to (passes.h: DropInputs); of the inputs the one of that number.
  Value InputLike(Value x, int32_t number);
  Value Add(Value x, Value y);
  Value Multiply(Value x, Value y);
  struct Attended {
    Value out;
    Value probabilities;
  };
  // `args` without results.
  Attended Attention(ops::Attention args);
  Value DepthwiseConv(Value x, Value taps);
  struct Convolved {
    Value out;
    Value kernels;
  };
  Convolved SpanConv(Value logits, Value values, int32_t heads);
  Value Conv1d(Value x, LinearId weight, int32_t kernel_size);
  Value SelectRows(Value x, const Index& rows);
  // width: of the result; 0: as x.
  struct Pooling {
    ops::PoolRows::Kind kind = ops::PoolRows::Kind::kSum;
    int32_t stride = 1;
    int32_t width = 0;
  };
  Value PoolRows(Value x, const Index& begins, const Index& counts, const Pooling& pooling);
  // `args` without a result.
  Value CrossAttention(ops::CrossAttention args);
  Value Normalize(Value x, float eps);
  // A matrix that the caller of a run brings.
  Value Input(int32_t number, Extent rows, int32_t cols);
  Value Concat(Value x, Value y);
  // [tokens, head_dim]: cosines and sines by each token's position in its text. `args` without positions and result.
  Value RotaryAngles(ops::RotaryAngles args, int32_t head_dim);
  // Turns the heads of x by `angles`.
  Value Rotate(Value x, Value angles);
  // x y^T; y has a row for each element of its domain.
  Value MatMul(Value x, Value y);
  // One direction; gates [rows, 4 * width].
  Value Lstm(Value gates, Value recurrent, Value bias, bool reverse);
  // The columns [first, first + count) of x, without copying.
  Value Columns(Value x, int32_t first, int32_t count);
  // x in N blocks of equal width.
  template <size_t N>
  std::array<Value, N> Split(Value x) {
    const int32_t width = cols(x) / static_cast<int32_t>(N);
    std::array<Value, N> parts;
    for (size_t i = 0; i < N; ++i) parts[i] = Columns(x, static_cast<int32_t>(i) * width, width);
    return parts;
  }

  IndexId IndexOf(const Index& index);

  // Lets callers ask for a value.
  void Output(OutputId id, Value value) {
    if (part_.empty()) program_.outputs.push_back({id, value});
  }
  // The same value, which training drops out (core/train/step.h). It is an operation's first result, and whole.
  Value Dropped(Value value) {
    program_.dropped.push_back(value);
    return value;
  }
  // The value of an output, which must be there.
  Value Named(OutputId id) const;

  int32_t cols(Value x) const { return program_.info(x).cols.factor; }

 private:
  void DeclareTensor(ParameterTensor tensor);  // under the names of this part and head
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
