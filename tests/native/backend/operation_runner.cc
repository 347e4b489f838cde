#include "tests/native/backend/operation_runner.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>

#include "core/backend/quantize.h"
#include "core/base/half.h"

namespace peruse::testing {
namespace {

using Op = Operation;

constexpr int32_t kMarginBefore = 5;  // columns around a strided matrix
constexpr int32_t kMarginAfter = 8;
constexpr float kSentinel = -12345.678f;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  // Uniform in [-1, 1); the same on every platform.
  float Next() { return static_cast<float>(static_cast<int32_t>(engine_() >> 8) - (1 << 23)) / (1 << 23); }

 private:
  std::mt19937 engine_;
};

HostMatrix RandomMatrix(Random& random, int32_t rows, int32_t cols, bool by_token, float scale, float offset) {
  HostMatrix matrix{rows, cols, std::vector<float>(static_cast<size_t>(rows) * static_cast<size_t>(cols)), by_token};
  for (float& value : matrix.values) value = random.Next() * scale + offset;
  return matrix;
}

// Where activations are interesting: a fine sweep, and values from tiny to huge.
HostMatrix SweepMatrix(int32_t rows, int32_t cols) {
  HostMatrix matrix{rows, cols, {}, true};
  const float special[] = {0.0f,  -0.0f,  1e-30f, -1e-30f, 1e-4f, -1e-4f, 20.0f, -20.0f,
                           88.0f, -88.0f, 1e3f,   -1e3f,   1e30f, -1e30f, 3e38f, -3e38f};
  const int32_t count = rows * cols;
  for (int32_t i = 0; i < count; ++i) {
    matrix.values.push_back(i < 16 ? special[i] : -12.0f + 24.0f * static_cast<float>(i) / static_cast<float>(count));
  }
  return matrix;
}

// Builds a case's tensors on a backend and keeps watch over what surrounds its outputs.
class Bench {
 public:
  Bench(Backend& backend, const OperationCase& c) : backend_(backend), case_(c), slots_(MakeSlots(c)) {
    for (int32_t length : c.lengths) batch_.Append(length);
  }

  const RaggedBatch& batch() const { return batch_; }
  std::span<const int32_t> slots() const { return slots_; }

  Tensor Input(const HostMatrix& matrix) {
    if (!case_.strided_in) {
      const Tensor tensor = backend_.New(matrix.rows, matrix.cols);
      backend_.Upload(matrix.values, tensor);
      return tensor;
    }
    // What surrounds a strided input is NaN: to use it would show.
    const int32_t width = matrix.cols + kMarginBefore + kMarginAfter;
    const Tensor wide = backend_.New(matrix.rows, width);
    std::vector<float> fill(static_cast<size_t>(matrix.rows) * static_cast<size_t>(width),
                            std::numeric_limits<float>::quiet_NaN());
    backend_.Upload(fill, wide);
    const Tensor tensor = wide.Columns(kMarginBefore, matrix.cols);
    backend_.Upload(matrix.values, tensor);
    return tensor;
  }

  Tensor Constant(const HostMatrix& matrix) {
    Result<Tensor> constant = backend_.CreateConstant(matrix.rows, matrix.cols);
    PERUSE_CHECK(constant.ok());
    // In two pieces, as a file arrives.
    const size_t first = static_cast<size_t>(matrix.rows / 2) * static_cast<size_t>(matrix.cols);
    const std::span<const float> values(matrix.values);
    PERUSE_CHECK(backend_.WriteConstant(*constant, 0, values.first(first)).ok());
    PERUSE_CHECK(backend_.WriteConstant(*constant, matrix.rows / 2, values.subspan(first)).ok());
    return *constant;
  }

  Weight LinearWeight(const HostMatrix& weight, const HostMatrix& bias) {
    const LinearSpec spec{weight.cols * case_.groups, weight.rows, case_.groups,
                          case_.q8             ? Precision::kQ8
                          : case_.half_weights ? Precision::kF16
                                               : Precision::kF32,
                          case_.wide_input};
    Result<Weight> linear = backend_.CreateLinear(spec);
    PERUSE_CHECK(linear.ok());
    // In pieces of three rows, the bias last.
    const std::span<const float> values(weight.values);
    for (int32_t row = 0; row < weight.rows; row += 3) {
      const int32_t count = std::min(3, weight.rows - row);
      const size_t width = static_cast<size_t>(weight.cols);
      const auto rows = values.subspan(static_cast<size_t>(row) * width, static_cast<size_t>(count) * width);
      PERUSE_CHECK(
          (case_.q8 ? WriteQuantized(*linear, row, rows, width) : backend_.WriteLinear(*linear, row, rows)).ok());
    }
    PERUSE_CHECK(backend_.WriteBias(*linear, 0, bias.values).ok());
    return *linear;
  }

  Status WriteQuantized(Weight weight, int32_t first_row, std::span<const float> rows, size_t width) {
    std::vector<int8_t> integers(rows.size());
    std::vector<float> scales;
    for (size_t at = 0; at < rows.size(); at += width) {
      scales.push_back(QuantizeRow(rows.subspan(at, width), kWeightLevels, integers.data() + at));
    }
    PERUSE_RETURN_IF_ERROR(backend_.WriteScales(weight, first_row, scales));
    return backend_.WriteInt8(weight, first_row, integers);
  }

  Tensor Output(int32_t rows, int32_t cols) {
    Watch(backend_.New(1, 64), 0, 0);
    const bool strided = case_.strided_out;
    const Tensor wide = backend_.New(rows, cols + (strided ? kMarginBefore + kMarginAfter : 0));
    const Tensor output = strided ? wide.Columns(kMarginBefore, cols) : wide;
    Watch(wide, output.first_col, cols);
    Watch(backend_.New(1, 64), 0, 0);
    outputs_.push_back(watched_.size() - 2);
    return output;
  }

  Outcome Finish() {
    std::vector<std::vector<float>> values(watched_.size());
    for (size_t i = 0; i < watched_.size(); ++i) {
      const Tensor& tensor = watched_[i].tensor;
      values[i].resize(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols));
      backend_.Download(tensor, values[i]);
    }
    Outcome outcome;
    outcome.status = backend_.Submit();
    for (size_t i = 0; i < watched_.size(); ++i) CheckMargins(watched_[i], values[i], outcome);
    for (size_t index : outputs_) {
      const Watched& w = watched_[index];
      HostMatrix matrix{w.tensor.rows, w.cols, {}, true};
      for (int32_t r = 0; r < w.tensor.rows; ++r) {
        const auto row = values[index].begin() + int64_t{r} * w.tensor.cols + w.first;
        matrix.values.insert(matrix.values.end(), row, row + w.cols);
      }
      outcome.outputs.push_back(std::move(matrix));
    }
    return outcome;
  }

 private:
  // A tensor filled with the sentinel of which only columns [first, first + cols) may be written.
  struct Watched {
    Tensor tensor;
    int32_t first;
    int32_t cols;
  };

  void Watch(Tensor tensor, int32_t first, int32_t cols) {
    const std::vector<float> fill(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols), kSentinel);
    backend_.Upload(fill, tensor);
    watched_.push_back({tensor, first, cols});
  }

  static void CheckMargins(const Watched& w, const std::vector<float>& values, Outcome& outcome) {
    for (int32_t r = 0; r < w.tensor.rows; ++r) {
      for (int32_t c = 0; c < w.tensor.cols; ++c) {
        if (c >= w.first && c < w.first + w.cols) continue;
        if (values[static_cast<size_t>(r) * static_cast<size_t>(w.tensor.cols) + static_cast<size_t>(c)] == kSentinel)
          continue;
        outcome.stray_write = "row " + std::to_string(r) + ", column " + std::to_string(c - w.first);
      }
    }
  }

  Backend& backend_;
  const OperationCase& case_;
  RaggedBatch batch_;
  std::vector<int32_t> slots_;  // here because they must stay in place until Submit
  std::vector<Watched> watched_;
  std::vector<size_t> outputs_;
};

Norm MakeNorm(Bench& bench, const std::vector<HostMatrix>& operands) {
  const size_t n = operands.size();
  return {bench.Constant(operands[n - 2]), bench.Constant(operands[n - 1]), 1e-7f};
}

// FNV-1a of the name: every case has its own numbers, the same everywhere.
uint32_t Seed(const OperationCase& c) {
  uint32_t hash = 2166136261u;
  for (char letter : c.name()) hash = (hash ^ static_cast<uint8_t>(letter)) * 16777619u;
  return hash;
}

int32_t SlotCount(const OperationCase& c) { return 2 * Reach(c) + 1; }

void RunAttention(Backend& backend, Bench& bench, const OperationCase& c, const std::vector<HostMatrix>& operands) {
  AttentionArgs args;
  args.query = bench.Input(operands[0]);
  args.key = bench.Input(operands[1]);
  args.value = bench.Input(operands[2]);
  args.heads = c.heads;
  args.scale = 0.75f;
  const Tensor out = bench.Output(c.rows(), c.cols);
  if (c.extra_output) args.probabilities = bench.Output(c.rows() * c.heads, c.longest());
  if (c.operation == Op::kAttention) {
    backend.Attention(args, bench.batch(), out);
    return;
  }
  RelativePositions positions;
  if (c.position_key) positions.position_key = bench.Constant(operands[3]);
  if (c.position_query) positions.position_query = bench.Constant(operands[4]);
  positions.slots = bench.slots();
  positions.reach = Reach(c);
  backend.DisentangledAttention(args, positions, bench.batch(), out);
}

}  // namespace

int32_t Reach(const OperationCase&) { return 160; }

std::vector<int32_t> MakeSlots(const OperationCase& c) {
  const int32_t reach = Reach(c);
  std::vector<int32_t> slots;
  for (int32_t distance = -(reach - 1); distance < reach; ++distance) {
    int32_t bucket = distance;
    if (c.slots == Slots::kClamped) bucket = std::min(4, std::max(-5, distance));
    if (c.slots == Slots::kLogBucket) {
      const int32_t size = std::abs(distance);
      int32_t log = 0;
      while (size >> (log + 3) != 0) ++log;  // 0 below 8, then one more for each doubling
      bucket = (distance < 0 ? -1 : 1) * (size < 8 ? size : 7 + log);
    }
    if (c.slots == Slots::kScrambled) bucket = (distance + reach) * 7919 / 3 % (2 * reach) - reach;
    slots.push_back(bucket + reach);
  }
  return slots;
}

std::vector<int32_t> SelectedRows(const OperationCase& c) { return {c.rows() - 1, 0, 0, c.rows() / 2}; }

static std::vector<HostMatrix> RandomOperands(const OperationCase& c) {
  Random random(Seed(c));
  const int32_t rows = c.rows();
  const auto by_token = [&](int32_t cols, float scale = 1) {
    return RandomMatrix(random, rows, cols, true, scale, c.offset);
  };
  const auto fixed = [&](int32_t count, int32_t cols, float offset = 0) {
    return RandomMatrix(random, count, cols, false, 1, offset);
  };
  switch (c.operation) {
    case Op::kLinear:
      return {by_token(c.cols), fixed(c.out, c.cols / c.groups), fixed(1, c.out)};
    case Op::kLinearMultiply:
      return {by_token(c.cols), fixed(c.out, c.cols / c.groups), fixed(1, c.out), by_token(c.out)};
    case Op::kLinearAddNorm:
      return {by_token(c.cols), fixed(c.out, c.cols / c.groups), fixed(1, c.out), by_token(c.out), fixed(1, c.out, 1),
              fixed(1, c.out)};
    case Op::kLayerNorm:
      return {by_token(c.cols), fixed(1, c.cols, 1), fixed(1, c.cols)};
    case Op::kAddNorm:
      return {by_token(c.cols), by_token(c.cols), fixed(1, c.cols, 1), fixed(1, c.cols)};
    case Op::kAttention:
      return {by_token(c.cols), by_token(c.cols), by_token(c.cols)};
    case Op::kDisentangledAttention:
      return {by_token(c.cols), by_token(c.cols), by_token(c.cols), fixed(SlotCount(c), c.cols),
              fixed(SlotCount(c), c.cols)};
    case Op::kDepthwiseConv:
      return {by_token(c.cols), fixed(c.kernel, c.cols)};
    case Op::kSpanConv:
      return {by_token(c.heads * c.kernel, 4), by_token(c.cols)};
    case Op::kLinearSpanConv:
      return {by_token(c.cols), fixed(c.heads * c.kernel, c.cols), fixed(1, c.heads * c.kernel), by_token(c.cols)};
    case Op::kConv1d:
      return {by_token(c.cols), fixed(c.out, c.kernel * c.cols / c.groups), fixed(1, c.out)};
    case Op::kMultiply:
      return {by_token(c.cols), by_token(c.cols)};
    case Op::kAdd:
      return {by_token(c.cols), c.broadcast ? fixed(1, c.cols) : by_token(c.cols)};
    case Op::kActivate:
      return {SweepMatrix(rows, c.cols)};
    case Op::kSelectRows:
      return {by_token(c.cols)};
  }
  return {};
}

std::vector<HostMatrix> MakeOperands(const OperationCase& c) {
  std::vector<HostMatrix> operands = RandomOperands(c);
  if (c.half_weights) {
    for (float& value : operands[1].values) value = HalfToFloat(FloatToHalf(value));
  }
  return operands;
}

Outcome RunCase(Backend& backend, const OperationCase& c, const std::vector<HostMatrix>& operands) {
  backend.BeginRun();
  Bench bench(backend, c);
  const int32_t rows = c.rows();
  switch (c.operation) {
    case Op::kLinear: {
      const Weight weight = bench.LinearWeight(operands[1], operands[2]);
      backend.Linear(bench.Input(operands[0]), weight, c.activation, bench.Output(rows, c.out));
      break;
    }
    case Op::kLinearMultiply: {
      const Weight weight = bench.LinearWeight(operands[1], operands[2]);
      const Tensor x = bench.Input(operands[0]);
      backend.LinearMultiply(x, weight, bench.Input(operands[3]), bench.Output(rows, c.out));
      break;
    }
    case Op::kLinearAddNorm: {
      const Weight weight = bench.LinearWeight(operands[1], operands[2]);
      const Tensor x = bench.Input(operands[0]);
      backend.LinearAddNorm(x, weight, bench.Input(operands[3]), MakeNorm(bench, operands), bench.Output(rows, c.out));
      break;
    }
    case Op::kLayerNorm:
      backend.LayerNorm(bench.Input(operands[0]), MakeNorm(bench, operands), bench.Output(rows, c.cols));
      break;
    case Op::kAddNorm: {
      const Tensor x = bench.Input(operands[0]);
      backend.AddNorm(x, bench.Input(operands[1]), MakeNorm(bench, operands), bench.Output(rows, c.cols));
      break;
    }
    case Op::kAttention:
    case Op::kDisentangledAttention:
      RunAttention(backend, bench, c, operands);
      break;
    case Op::kDepthwiseConv: {
      const Tensor x = bench.Input(operands[0]);
      backend.DepthwiseConv(x, bench.Constant(operands[1]), bench.batch(), bench.Output(rows, c.cols));
      break;
    }
    case Op::kSpanConv: {
      const Tensor logits = bench.Input(operands[0]);
      const Tensor values = bench.Input(operands[1]);
      const Tensor out = bench.Output(rows, c.cols);
      const Tensor kernels = c.extra_output ? bench.Output(rows, c.heads * c.kernel) : Tensor();
      backend.SpanConv(logits, values, c.heads, bench.batch(), out, kernels);
      break;
    }
    case Op::kLinearSpanConv: {
      const Weight weight = bench.LinearWeight(operands[1], operands[2]);
      const Tensor x = bench.Input(operands[0]);
      const Tensor values = bench.Input(operands[3]);
      const Tensor out = bench.Output(rows, c.cols);
      const Tensor kernels = c.extra_output ? bench.Output(rows, c.heads * c.kernel) : Tensor();
      backend.LinearSpanConv(x, weight, values, c.heads, bench.batch(), out, kernels);
      break;
    }
    case Op::kConv1d: {
      const Weight weight = bench.LinearWeight(operands[1], operands[2]);
      const Tensor x = bench.Input(operands[0]);
      backend.Conv1d(x, weight, c.kernel, c.activation, bench.batch(), bench.Output(rows, c.out));
      break;
    }
    case Op::kMultiply: {
      const Tensor x = bench.Input(operands[0]);
      backend.Multiply(x, bench.Input(operands[1]), bench.Output(rows, c.cols));
      break;
    }
    case Op::kAdd: {
      const Tensor x = bench.Input(operands[0]);
      backend.Add(x, bench.Input(operands[1]), bench.Output(rows, c.cols));
      break;
    }
    case Op::kActivate:
      backend.Activate(bench.Input(operands[0]), c.activation, bench.Output(rows, c.cols));
      break;
    case Op::kSelectRows: {
      const std::vector<int32_t> selected = SelectedRows(c);
      const Tensor x = bench.Input(operands[0]);
      backend.SelectRows(x, selected, bench.Output(static_cast<int32_t>(selected.size()), c.cols));
      break;
    }
  }
  return bench.Finish();
}

}  // namespace peruse::testing
