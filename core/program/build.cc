#include "core/program/build.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/formats/weight_format.h"
#include "core/program/token_indices.h"

namespace peruse {

Stack& Stack::Add(const std::string& name, int32_t out) {
  const int32_t first = spec_.out;
  AddWeight({name + ".weight"}, {out, spec_.in}, out);
  return AddBias({name + ".bias"}, {out}, first);
}

Stack& Stack::AddWeight(std::vector<std::string> names, std::vector<int64_t> shape, int32_t out,
                        std::vector<std::string> if_has) {
  tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                      .layout = layouts::InOrder{spec_.out},
                      .names = std::move(names),
                      .if_has = std::move(if_has),
                      .shape = std::move(shape)});
  spec_.out += out;
  return *this;
}

Stack& Stack::AddBias(std::vector<std::string> names, std::vector<int64_t> shape, int32_t first) {
  tensors_.push_back({.parameter = {ParameterId::Kind::kBias},
                      .layout = layouts::InOrder{first},
                      .names = std::move(names),
                      .shape = std::move(shape)});
  return *this;
}

Stack& Stack::AddInterleaved(const std::string& name, int32_t heads, int32_t parts, int32_t size) {
  const int32_t out = heads * parts * size;
  tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                      .layout = layouts::HeadsOutermost{.parts = parts, .width = size, .first_row = spec_.out},
                      .names = {name},
                      .shape = {out, spec_.in}});
  spec_.out += out;
  return *this;
}

Stack& Stack::AddRow(const std::string& name, int32_t rows, int32_t row) {
  tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                      .layout = layouts::Part{row, spec_.out},
                      .names = {name},
                      .shape = {rows, spec_.in}});
  ++spec_.out;
  return *this;
}

Stack& Stack::AddPart(const std::string& name, int32_t parts, int32_t part, int32_t out, float scale) {
  tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                      .layout = layouts::Part{part, spec_.out, scale},
                      .names = {name},
                      .shape = {parts, out, spec_.in}});
  spec_.out += out;
  return *this;
}

Stack& Stack::AddTransposedPart(const std::string& name, int32_t parts, int32_t part, int32_t out) {
  tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                      .layout = layouts::TransposedPart{part},
                      .names = {name},
                      .shape = {parts, spec_.in, out}});
  spec_.out = out;
  return *this;
}

Stack& Stack::AddTransposedParts(const std::string& name, int32_t parts, int32_t out) {
  tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                      .layout = layouts::GroupsTransposed{},
                      .names = {name},
                      .shape = {int64_t{parts} * spec_.in, out / parts}});
  spec_.out = out;
  return *this;
}

Stack& Stack::AddExperts(const std::string& name, int32_t experts, int32_t columns, int32_t first, int32_t out) {
  spec_.experts = true;
  return AddLaidOut(name, name + "_bias", layouts::GroupsTransposed{.first = first, .count = out},
                    {experts, spec_.in, columns}, {experts, columns}, experts * out);
}

Stack& Stack::AddPairs(const std::string& name, int32_t heads, int32_t head_dim) {
  const int32_t out = heads * head_dim;
  return AddLaidOut(name + ".weight", name + ".bias",
                    layouts::HeadsOutermost{.parts = 2, .first_row = spec_.out, .blocks = heads}, {out, spec_.in},
                    {out}, out);
}

Stack& Stack::AddLaidOut(const std::string& weight, const std::string& bias, const Layout& layout,
                         std::vector<int64_t> shape, std::vector<int64_t> bias_shape, int32_t out) {
  for (const bool is_bias : {false, true}) {
    tensors_.push_back({.parameter = {is_bias ? ParameterId::Kind::kBias : ParameterId::Kind::kWeight},
                        .layout = layout,
                        .names = {is_bias ? bias : weight},
                        .shape = is_bias ? bias_shape : shape});
  }
  spec_.out += out;
  return *this;
}

Stack& Stack::AddTaps(const std::string& name, int32_t out, int32_t taps) {
  tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                      .layout = layouts::RowsOfTaps{spec_.out},
                      .names = {name},
                      .shape = {out, spec_.in, taps}});
  spec_.out += out * taps;
  return *this;
}

void Build::DeclareTensor(ParameterTensor tensor) {
  tensor.head = head_;
  for (std::string& name : tensor.names) name.insert(0, part_);
  for (std::string& name : tensor.if_has) name.insert(0, part_);
  parameters_.tensors.push_back(std::move(tensor));
}

LinearId Build::Declare(LinearSpec spec, const std::vector<ParameterTensor>& tensors) {
  spec.precision = LinearPrecision(spec.precision, spec);
  if (FormatOf(spec.precision).WidensInput(spec)) spec.wide_input = true;
  const LinearId id = {static_cast<int32_t>(parameters_.linears.size())};
  parameters_.linears.push_back(spec);
  for (ParameterTensor tensor : tensors) {
    tensor.parameter.number = id.id;
    DeclareTensor(std::move(tensor));
  }
  program_.linears.push_back(spec);
  return id;
}

Stack Build::ColumnsOf(const std::string& name, int32_t first, int32_t in, int32_t all, int32_t out) const {
  Stack stack = StackedF32(in);
  stack.spec_.out = out;
  stack.tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                            .layout = layouts::SomeColumns{first},
                            .names = {name + ".weight"},
                            .shape = {out, all}});
  return stack;
}

LinearId Build::GroupedWeights(const std::string& name, int32_t in, int32_t out, int32_t groups, bool wide_input) {
  Stack stack = Stacked(in);
  stack.spec_.wide_input = wide_input;
  if (groups == 1) return Weights(stack.Add(name, out));
  stack.spec_.groups = groups;
  stack.spec_.out = out;
  stack.tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                            .layout = layouts::GroupsTransposed{},
                            .names = {name + ".weight"},
                            .shape = {groups, in / groups, out / groups}});
  return Weights(stack.AddBias({name + ".bias"}, {out}, 0));
}

LinearId Build::Conv1dWeights(const std::string& name, int32_t in, int32_t out, int32_t groups, int32_t kernel_size) {
  Stack stack = Stacked(in * kernel_size);
  stack.spec_.groups = groups;
  stack.spec_.out = out;
  stack.tensors_.push_back({.parameter = {ParameterId::Kind::kWeight},
                            .layout = layouts::TapsOutermost{},
                            .names = {name + ".weight"},
                            .shape = {out, in / groups, kernel_size}});
  return Weights(stack.AddBias({name + ".bias"}, {out}, 0));
}

Value Build::NewConstant(int32_t rows, int32_t cols, ParameterTensor tensor) {
  const Value value = program_.NewValue({Domain::kOne, rows}, {Domain::kOne, cols});
  program_.info(value).constant = program_.constants++;
  parameters_.constants.push_back({rows, cols});
  tensor.parameter = {ParameterId::Kind::kConstant, program_.info(value).constant};
  DeclareTensor(std::move(tensor));
  return value;
}

Value Build::Constant(const std::string& name, int32_t rows, int32_t cols) {
  return NewConstant(rows, cols, {.names = {name}, .shape = {rows, cols}});
}

Value Build::TransposedConstant(const std::string& name, int32_t rows, int32_t cols) {
  return NewConstant(rows, cols, {.layout = layouts::Transposed{}, .names = {name}, .shape = {cols, rows}});
}

Value Build::TiledConstant(const std::string& name, int32_t rows, int32_t cols, int32_t copies) {
  return NewConstant(rows, cols,
                     {.layout = layouts::Repeated{copies}, .names = {name}, .shape = {rows, cols / copies}});
}

Value Build::DepthwiseTaps(const std::string& name, int32_t channels, int32_t kernel_size) {
  return NewConstant(kernel_size, channels,
                     {.layout = layouts::Transposed{}, .names = {name}, .shape = {channels, 1, kernel_size}});
}

Value Build::SoftmaxTaps(const std::string& name, int32_t heads, int32_t channels, int32_t kernel_size) {
  return NewConstant(kernel_size, channels,
                     {.layout = layouts::SoftmaxTaps{}, .names = {name}, .shape = {heads, kernel_size}});
}

NormArgs Build::Norm(const std::vector<std::string>& names, int32_t width, float eps, bool bias) {
  const auto part = [&](const char* suffix) {
    ParameterTensor tensor = {.names = names, .shape = {width}};
    for (std::string& name : tensor.names) name += suffix;
    return NewConstant(1, width, std::move(tensor));
  };
  const Value weight = part(".weight");
  return {weight, bias ? part(".bias") : Value(), eps};
}

TableId Build::FlatTable(const std::string& name, std::vector<int64_t> shape, int32_t cols) {
  const TableId id = {program_.tables++};
  parameters_.tables.push_back({static_cast<int32_t>(ElementCount(shape) / cols), cols});
  DeclareTensor({.parameter = {ParameterId::Kind::kTable, id.id}, .names = {name}, .shape = std::move(shape)});
  return id;
}

TableId Build::Table(const std::string& name, int32_t rows, int32_t cols, bool words) {
  const TableId id = {program_.tables++};
  parameters_.tables.push_back({rows, cols, words});
  DeclareTensor({.parameter = {ParameterId::Kind::kTable, id.id}, .names = {name}, .shape = {rows, cols}});
  return id;
}

Value Build::Embed(const std::vector<ops::Embed::Lookup>& lookups, float scale) {
  ops::Embed op = {.scale = scale};
  PERUSE_CHECK(lookups.size() >= 1 && lookups.size() <= op.lookups.size());
  std::copy(lookups.begin(), lookups.end(), op.lookups.begin());
  const TableSpec& table = parameters_.tables[static_cast<size_t>(op.lookups[0].table.id)];
  op.out = program_.NewValue({Domain::kTokens, 1}, {Domain::kOne, table.cols});
  program_.ops.push_back(op);
  return op.out;
}

Value Build::Linear(Value x, LinearId weight) {
  const LinearSpec& spec = parameters_.linears[static_cast<size_t>(weight.id)];
  PERUSE_CHECK(spec.in == cols(x));
  const Value out = NewLike(x, spec.out);
  program_.ops.push_back(ops::Linear{.x = x, .weight = weight, .out = out});
  return out;
}

Value Build::LinearPart(Value x, LinearId weight, int32_t first, int32_t count) {
  const LinearSpec& spec = parameters_.linears[static_cast<size_t>(weight.id)];
  PERUSE_CHECK(spec.in == cols(x) && first + count <= spec.out);
  const Value out = NewLike(x, count);
  program_.ops.push_back(
      ops::Linear{.x = x, .weight = weight, .out = out, .some_outputs = count < spec.out, .first = first});
  return out;
}

Value Build::LayerNorm(Value x, const NormArgs& norm) {
  PERUSE_CHECK(cols(norm.weight) == cols(x));
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::LayerNorm{.x = x, .norm = norm, .out = out});
  return out;
}

Value Build::RmsNorm(Value x, Value weight, float eps, float offset) {
  PERUSE_CHECK(cols(x) % cols(weight) == 0);
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::RmsNorm{x, weight, eps, offset, out});
  return out;
}

Value Build::Activate(Value x, Activation activation) {
  if (activation == Activation::kNone) return x;
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::Activate{x, activation, out});
  return out;
}

Value Build::Add(Value x, Value y) {
  PERUSE_CHECK(cols(x) == cols(y));
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::Add{x, y, out});
  return out;
}

Value Build::InputLike(Value x, int32_t number) {
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::Input{number, out, /*optional=*/true});
  return out;
}

Value Build::Multiply(Value x, Value y) {
  PERUSE_CHECK(cols(x) == cols(y));
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::Multiply{x, y, out});
  return out;
}

Value Build::Experts(ops::Experts args) {
  const int32_t outputs = parameters_.linears[static_cast<size_t>(args.weight.id)].out / cols(args.router);
  args.out = NewLike(args.x, args.sums ? outputs : args.chosen * outputs);
  program_.ops.push_back(args);
  return args.out;
}

Build::Attended Build::Attention(ops::Attention args) {
  PERUSE_CHECK(cols(args.query) % cols(args.key) == 0 && cols(args.query) % args.heads == 0);
  args.out = NewLike(args.query, cols(args.query));
  args.probabilities = program_.NewValue({Domain::kTokens, args.heads}, {Domain::kLongest, 1});
  program_.ops.push_back(args);
  return {args.out, args.probabilities};
}

Value Build::DepthwiseConv(Value x, Value taps) {
  PERUSE_CHECK(cols(x) == cols(taps));
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::DepthwiseConv{x, taps, out});
  return out;
}

Build::Convolved Build::SpanConv(Value logits, Value values, int32_t heads) {
  PERUSE_CHECK(cols(logits) % heads == 0 && cols(values) % heads == 0);
  ops::SpanConv op = {.logits = logits, .values = values, .heads = heads, .kernel_size = cols(logits) / heads};
  op.out = NewLike(values, cols(values));
  op.kernels = NewLike(logits, cols(logits));
  program_.ops.push_back(op);
  return {op.out, op.kernels};
}

Value Build::Conv1d(Value x, LinearId weight, int32_t kernel_size) {
  const LinearSpec& spec = parameters_.linears[static_cast<size_t>(weight.id)];
  PERUSE_CHECK(spec.in == kernel_size * cols(x));
  const Value out = NewLike(x, spec.out);
  program_.ops.push_back(ops::Conv1d{.x = x, .weight = weight, .kernel_size = kernel_size, .out = out});
  return out;
}

IndexId Build::IndexOf(const Index& index) {
  std::vector<Index>& indices = program_.indices;
  const auto found = std::find(indices.begin(), indices.end(), index);
  if (found != indices.end()) return {static_cast<int32_t>(found - indices.begin())};
  indices.push_back(index);
  return {static_cast<int32_t>(indices.size()) - 1};
}

Value Build::SelectRows(Value x, const Index& rows) {
  const Value out = program_.NewValue(rows.extent(), program_.info(x).cols);
  program_.ops.push_back(ops::SelectRows{x, IndexOf(rows), out});
  return out;
}

Value Build::PoolRows(Value x, const Index& begins, const Index& counts, const Pooling& pooling) {
  const int32_t width = pooling.width > 0 ? pooling.width : cols(x);
  PERUSE_CHECK(cols(x) % width == 0);
  const Value out = program_.NewValue(begins.extent(), {Domain::kOne, width});
  const IndexId first = IndexOf(begins);
  program_.ops.push_back(ops::PoolRows{x, first, IndexOf(counts), pooling.stride, pooling.kind, out});
  return out;
}

Value Build::CrossAttention(ops::CrossAttention args) {
  PERUSE_CHECK(cols(args.query) == cols(args.key));
  args.out = program_.NewValue(program_.info(args.query).rows, program_.info(args.value).cols);
  program_.ops.push_back(args);
  return args.out;
}

Value Build::Normalize(Value x, float eps) {
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::Normalize{x, eps, out});
  return out;
}

Value Build::Input(int32_t number, Extent rows, int32_t width) {
  const Value out = program_.NewValue(rows, {Domain::kOne, width});
  program_.ops.push_back(ops::Input{number, out});
  return out;
}

Value Build::Named(OutputId id) const {
  const auto found = std::find_if(program_.outputs.begin(), program_.outputs.end(),
                                  [&](const ProgramOutput& output) { return output.id == id; });
  PERUSE_CHECK(found != program_.outputs.end());
  return found->value;
}

Value Build::Concat(Value x, Value y) {
  const Value out = NewLike(x, cols(x) + cols(y));
  program_.ops.push_back(ops::Concat{x, y, out});
  return out;
}

Value Build::AlibiBias(int32_t max, int32_t heads) {
  const ops::AlibiBias op = {max - 1, program_.NewValue({Domain::kOne, 2 * max - 1}, {Domain::kOne, heads})};
  program_.ops.push_back(op);
  return op.out;
}

Value Build::RotaryAngles(ops::RotaryAngles args, int32_t head_dim) {
  args.positions = IndexOf(indices::Positions{});
  args.out = program_.NewValue({Domain::kTokens, 1}, {Domain::kOne, head_dim});
  program_.ops.push_back(args);
  return args.out;
}

Value Build::Rotate(Value x, Value angles) {
  PERUSE_CHECK(cols(x) % cols(angles) == 0);
  const Value out = NewLike(x, cols(x));
  program_.ops.push_back(ops::Rotate{x, angles, out});
  return out;
}

Value Build::MatMul(Value x, Value y) {
  PERUSE_CHECK(cols(x) == cols(y));
  const Value out = program_.NewValue(program_.info(x).rows, program_.info(y).rows);
  program_.ops.push_back(ops::MatMul{x, y, out});
  return out;
}

Value Build::Lstm(Value gates, Value recurrent, Value bias, bool reverse) {
  const Value out = NewLike(gates, cols(gates) / 4);
  program_.ops.push_back(ops::Lstm{gates, recurrent, bias, reverse, out});
  return out;
}

Value Build::Columns(Value x, int32_t first, int32_t count) {
  PERUSE_CHECK(first >= 0 && count > 0 && first + count <= cols(x));
  ValueInfo info = program_.info(x);
  if (info.base < 0) info.base = x.id;
  info.first_col += first;
  info.cols.factor = count;
  info.constant = -1;
  program_.values.push_back(info);
  return {static_cast<int32_t>(program_.values.size()) - 1};
}

}  // namespace peruse
