// Families write a program with this builder: operations on values, and parameters named as in the checkpoint.
//   Value projected = b.Linear(x, b.Stacked(hidden).Add(self + "query", half).Add(self + "key", half));
//   auto [query, key] = b.Split<2>(projected);
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/weight_format.h"
#include "core/program/parameters.h"
#include "core/program/program.h"

namespace peruse {

// Several tensors stacked by rows as one linear layer, so that a single product computes them all.
class Stack {
 public:
  Stack& Add(const std::string& name, int32_t out);
  // Adds a weight of any shape with `out` rows of `in` elements, under its full name, without a bias. if_has: see ParameterTensor.
  Stack& AddWeight(std::vector<std::string> names, std::vector<int64_t> shape, int32_t out,
                   std::vector<std::string> if_has = {});
  // Adds row `row` of the weight `name` [rows, in], without a bias.
  Stack& AddRow(const std::string& name, int32_t rows, int32_t row);
  // Adds part `part` of `name` [parts, out, in], multiplied by `scale`, without a bias.
  Stack& AddPart(const std::string& name, int32_t parts, int32_t part, int32_t out, float scale = 1);
  // Adds the transposed part `part` of `name` [parts, in, out], without a bias. Must be the only tensor of the stack.
  Stack& AddTransposedPart(const std::string& name, int32_t parts, int32_t part, int32_t out);
  // Adds `parts` transposed matrices, name [parts * in, out / parts], without a bias. Must be the only tensor of the stack.
  Stack& AddTransposedParts(const std::string& name, int32_t parts, int32_t out);
  // Adds the layers of `experts` experts, input-major: of each matrix of name [experts, in, columns] the `out` columns from `first` on, with
  // their biases name_bias [experts, columns]. Must be the only tensors of the stack.
  Stack& AddExperts(const std::string& name, int32_t experts, int32_t columns, int32_t first, int32_t out);
  // Adds name.weight and name.bias of queries or keys whose rotation turns the columns 2j and 2j + 1 of each head, with rows reordered so
  // that ops::Rotate turns them.
  Stack& AddPairs(const std::string& name, int32_t heads, int32_t head_dim);
  // Adds a convolution, name [out, in, taps]: rows [tap * out, (tap + 1) * out) hold one tap.
  Stack& AddTaps(const std::string& name, int32_t out, int32_t taps);
  Stack& AddBias(std::vector<std::string> names, std::vector<int64_t> shape, int32_t first);
  // Uses 13-bit activations with kQ8, for inputs that lose most accuracy in 8 bits.
  Stack& WithWideInput() {
    spec_.wide_input = true;
    return *this;
  }
  // Adds name [heads * parts * size, in] with rows ordered head, part, channel in the file, and part, head, channel in memory (DeBERTa v1's
  // in_proj).
  Stack& AddInterleaved(const std::string& name, int32_t heads, int32_t parts, int32_t size);

 private:
  friend class Build;
  // Adds a weight and its bias, both in this layout.
  Stack& AddLaidOut(const std::string& weight, const std::string& bias, const Layout& layout,
                    std::vector<int64_t> shape, std::vector<int64_t> bias_shape, int32_t out);
  Stack(int32_t in, Precision precision) { spec_.in = in, spec_.out = 0, spec_.precision = precision; }

  LinearSpec spec_;
  std::vector<ParameterTensor> tensors_;  // members `parameter` are set when the stack is declared
};

// Numbers of ops::Input: 0 is the matrix of label vectors; masks of attention heads start here.
inline constexpr int32_t kFirstMask = 1;

class Build {
 public:
  // `precision` is that of the model as the backend computes it (Backend::LinearPrecision).
  Build(Program& program, Parameters& parameters, Precision precision)
      : program_(program), parameters_(parameters), precision_(precision) {}

  // Starts a second encoder. Until EndPart, parameter names get `prefix`, and outputs are not named.
  void BeginPart(std::string prefix) { part_ = std::move(prefix); }
  void EndPart() { part_.clear(); }

  // Makes checkpoints with tensor names of this prefix an error (Parameters::refused).
  void Refuse(std::string prefix) { parameters_.refused.push_back(std::move(prefix)); }

  // Changes that a head requests to token embeddings (SumEmbeddings): `rows`, one per label, replace the embeddings at label tokens, and
  // the rows of a table are added by segment.
  struct WordChanges {
    Value rows;
    std::string segments;  // name of the table, or empty
    int32_t segment_count = 0;
  };
  void ChangeWords(WordChanges changes) { word_changes_ = std::move(changes); }
  const WordChanges& word_changes() const { return word_changes_; }

  // Attributes the tensors declared from here on to the head `name`, for messages.
  void BeginHead(std::string_view name) { head_ = std::string(name); }

  Stack Stacked(int32_t in) const { return Stack(in, precision_); }
  // Like Stacked, but float32 in every precision.
  Stack StackedF32(int32_t in) const { return Stack(in, Precision::kF32); }
  LinearId Weights(const Stack& stack) { return Declare(stack.spec_, stack.tensors_); }
  // Declares name.weight [out, in] and name.bias [out].
  LinearId Weights(const std::string& name, int32_t in, int32_t out) { return Weights(Stacked(in).Add(name, out)); }
  Stack ColumnsOf(const std::string& name, int32_t first, int32_t in, int32_t all, int32_t out) const;
  // Declares transformers' GroupedLinearLayer: name.weight [groups, in / groups, out / groups] (input-major), name.bias [out]. With one
  // group it is an ordinary linear layer.
  LinearId GroupedWeights(const std::string& name, int32_t in, int32_t out, int32_t groups, bool wide_input = false);
  LinearId Conv1dWeights(const std::string& name, int32_t in, int32_t out, int32_t groups, int32_t kernel_size);
  Value Constant(const std::string& name, int32_t rows, int32_t cols);
  Value ConstantRow(const std::string& name, int32_t cols) {
    return NewConstant(1, cols, {.names = {name}, .shape = {cols}});
  }
  Value TransposedConstant(const std::string& name, int32_t rows, int32_t cols);
  // Declares name of any shape, and stores its elements in order as [rows, cols].
  Value ReshapedConstant(const std::string& name, std::vector<int64_t> shape, int32_t rows, int32_t cols) {
    return NewConstant(rows, cols, {.names = {name}, .shape = std::move(shape)});
  }
  Value ScalarRow(const std::string& name, int32_t cols) {
    return NewConstant(1, cols, {.layout = layouts::Repeated{cols}, .names = {name}});
  }
  // Declares name [rows, cols / copies] and repeats each row `copies` times.
  Value TiledConstant(const std::string& name, int32_t rows, int32_t cols, int32_t copies);
  // Declares name [channels, 1, kernel_size] and stores it as taps [kernel_size, channels].
  Value DepthwiseTaps(const std::string& name, int32_t channels, int32_t kernel_size);
  // Declares logits of taps, name [heads, kernel_size], shared by the channels of a head; stored as taps [kernel_size, channels].
  Value SoftmaxTaps(const std::string& name, int32_t heads, int32_t channels, int32_t kernel_size);
  // Declares name.weight [width] and name.bias [width], or name.gamma and name.beta.
  NormArgs Norm(const std::string& name, int32_t width, float eps) { return Norm(std::vector{name}, width, eps); }
  // Declares a norm that has one of several names. Without `bias` the checkpoint only has name.weight.
  NormArgs Norm(const std::vector<std::string>& names, int32_t width, float eps, bool bias = true);
  TableId Table(const std::string& name, int32_t rows, int32_t cols, bool words = false);
  // Declares a table whose tensor has any shape, with rows of `cols` elements.
  TableId FlatTable(const std::string& name, std::vector<int64_t> shape, int32_t cols);

  Value Embed(const std::vector<ops::Embed::Lookup>& lookups, float scale = 1);
  Value Linear(Value x, LinearId weight);
  Value Linear(Value x, const Stack& stack) { return Linear(x, Weights(stack)); }
  // Returns the outputs [first, first + count) of a layer. See ops::Linear.
  Value LinearPart(Value x, LinearId weight, int32_t first, int32_t count);
  // Adds the operation `args`, after setting its result. See ops::Experts.
  Value Experts(ops::Experts args);
  Value LayerNorm(Value x, const NormArgs& norm);
  // Norms each block of columns as wide as the weight. offset: see ops::RmsNorm.
  Value RmsNorm(Value x, Value weight, float eps, float offset = 0);
  Value Activate(Value x, Activation activation);
  // Declares an optional input of the caller with the shape of x (see DropInputs in passes.h). `number` is that of ops::Input.
  Value InputLike(Value x, int32_t number);
  Value Add(Value x, Value y);
  Value Multiply(Value x, Value y);
  struct Attended {
    Value out;
    Value probabilities;
  };
  // Adds the operation `args`, after setting the members of its results.
  Attended Attention(ops::Attention args);
  Value DepthwiseConv(Value x, Value taps);
  struct Convolved {
    Value out;
    Value kernels;
  };
  Convolved SpanConv(Value logits, Value values, int32_t heads);
  Value Conv1d(Value x, LinearId weight, int32_t kernel_size);
  Value SelectRows(Value x, const Index& rows);
  // `width` is the width of the result; 0 means the width of x.
  struct Pooling {
    ops::PoolRows::Kind kind = ops::PoolRows::Kind::kSum;
    int32_t stride = 1;
    int32_t width = 0;
  };
  Value PoolRows(Value x, const Index& begins, const Index& counts, const Pooling& pooling);
  Value CrossAttention(ops::CrossAttention args);
  Value Normalize(Value x, float eps);
  Value Input(int32_t number, Extent rows, int32_t cols);
  Value Concat(Value x, Value y);
  // Computes cosines and sines by token position, [tokens, head_dim]. Sets the positions and the result of `args`.
  Value RotaryAngles(ops::RotaryAngles args, int32_t head_dim);
  Value Rotate(Value x, Value angles);
  // Returns a table [2 * max - 1, heads] with a row for each distance of two tokens, from -(max - 1) to max - 1.
  Value AlibiBias(int32_t max, int32_t heads);
  // Returns x y^T. y has a row per element of its domain (such as words or labels).
  Value MatMul(Value x, Value y);
  // Adds one direction of an LSTM; gates are [rows, 4 * width].
  Value Lstm(Value gates, Value recurrent, Value bias, bool reverse);
  Value Columns(Value x, int32_t first, int32_t count);
  template <size_t N>
  std::array<Value, N> Split(Value x) {
    const int32_t width = cols(x) / static_cast<int32_t>(N);
    std::array<Value, N> parts;
    for (size_t i = 0; i < N; ++i) parts[i] = Columns(x, static_cast<int32_t>(i) * width, width);
    return parts;
  }

  IndexId IndexOf(const Index& index);

  void Output(OutputId id, Value value) {
    if (part_.empty()) program_.outputs.push_back({id, value});
  }
  // Marks a value for dropout in training (core/train/ops/step.h) and returns it. Must be the whole first result of an operation.
  Value Dropped(Value value) {
    program_.dropped.push_back(value);
    return value;
  }
  Value Named(OutputId id) const;

  int32_t cols(Value x) const { return program_.info(x).cols.factor; }

 private:
  // Adds the prefix of the current part, and the current head, to the tensor.
  void DeclareTensor(ParameterTensor tensor);
  LinearId Declare(LinearSpec spec, const std::vector<ParameterTensor>& tensors);
  Value NewConstant(int32_t rows, int32_t cols, ParameterTensor tensor);
  Value NewLike(Value x, int32_t cols) { return program_.NewValue(program_.info(x).rows, {Domain::kOne, cols}); }

  Program& program_;
  Parameters& parameters_;
  const Precision precision_;  // of linear layers
  std::string head_;
  std::string part_;
  WordChanges word_changes_;
};

}  // namespace peruse
