#include "tests/native/ops/case_program.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/backend/reference/reference_backend.h"
#include "core/base/half.h"
#include "core/formats/quantize.h"
#include "tests/native/ops/run_program.h"

namespace peruse::testing {
namespace {

constexpr int32_t kMarginBefore = 5;  // columns around a strided matrix
constexpr int32_t kMarginAfter = 8;
constexpr float kSentinel = -12345.678f;
constexpr Extent kTokenRows = {Domain::kTokens, 1};

// FNV-1a of the name, so that each case has its own random numbers.
uint32_t Seed(const OpCase& c) {
  uint32_t hash = 2166136261u;
  for (char letter : c.name()) hash = (hash ^ static_cast<uint8_t>(letter)) * 16777619u;
  return hash;
}

std::vector<float> Filled(int64_t rows, int64_t cols, float value) {
  return std::vector<float>(static_cast<size_t>(rows * cols), value);
}

}  // namespace

CaseProgram::CaseProgram(const OpCase& c, const std::vector<HostMatrix>* given)
    : case_(c), given_(given), random_(Seed(c)) {}

HostMatrix CaseProgram::Take(HostMatrix made) {
  operands_.push_back(given_ != nullptr ? (*given_)[operands_.size()] : std::move(made));
  return operands_.back();
}

HostMatrix CaseProgram::Random(int32_t rows, int32_t cols, bool by_token, float scale, float offset) {
  HostMatrix matrix{rows, cols, Filled(rows, cols, 0), by_token};
  if (given_ != nullptr) return matrix;
  // Uniform in [-1, 1), the same on every platform.
  for (float& value : matrix.values) {
    const float uniform = static_cast<float>(static_cast<int32_t>(random_() >> 8) - (1 << 23)) / (1 << 23);
    value = uniform * scale + offset;
  }
  return matrix;
}

int32_t CaseProgram::Size(Extent extent) const {
  return extent.factor * (extent.domain == Domain::kTokens    ? case_.rows()
                          : extent.domain == Domain::kLongest ? case_.longest()
                          : extent.domain == Domain::kChosen  ? static_cast<int32_t>(indices_[0].size())
                                                              : 1);
}

Value CaseProgram::Input(Extent rows, Extent cols, std::vector<float> values) {
  const Value value = program_.NewValue(rows, cols);
  program_.ops.push_back(ops::Input{static_cast<int32_t>(inputs_.size()), value});
  inputs_.push_back(std::move(values));
  return value;
}

Value CaseProgram::Columns(Value x, int32_t first, Extent cols) {
  program_.values.push_back({program_.info(x).rows, cols, x.id, first});
  return {static_cast<int32_t>(program_.values.size()) - 1};
}

HostMatrix CaseProgram::Operand(int32_t cols) { return Take(Random(case_.rows(), cols, true, 1, case_.offset)); }

Value CaseProgram::Tokens(int32_t cols, float scale) {
  return Tokens(Random(case_.rows(), cols, true, scale, case_.offset));
}

Value CaseProgram::Tokens(HostMatrix made) {
  const HostMatrix matrix = Take(std::move(made));
  if (!case_.strided_in) return Input(kTokenRows, {Domain::kOne, matrix.cols}, matrix.values);
  // NaN around strided inputs reveals any use of it.
  const int32_t width = matrix.cols + kMarginBefore + kMarginAfter;
  std::vector<float> wide = Filled(matrix.rows, width, std::numeric_limits<float>::quiet_NaN());
  for (int64_t r = 0; r < matrix.rows; ++r) {
    std::copy_n(matrix.values.begin() + r * matrix.cols, matrix.cols, wide.begin() + r * width + kMarginBefore);
  }
  return Columns(Input(kTokenRows, {Domain::kOne, width}, std::move(wide)), kMarginBefore, {Domain::kOne, matrix.cols});
}

Value CaseProgram::Constant(int32_t rows, int32_t cols, float offset, float scale) {
  constants_.push_back(Take(Random(rows, cols, false, scale, offset)));
  const Value value = program_.NewValue({Domain::kOne, rows}, {Domain::kOne, cols});
  program_.info(value).constant = program_.constants++;
  return value;
}

LinearId CaseProgram::Linear(int32_t in, int32_t out) {
  HostMatrix weight = Random(out, in / case_.groups, false, 1, 0);
  if (case_.half_weights) {
    for (float& value : weight.values) value = HalfToFloat(FloatToHalf(value));
  }
  weight = Take(std::move(weight));
  linears_.emplace_back(std::move(weight), Take(Random(1, out, false, 1, 0)));
  const Precision precision = case_.q8 ? Precision::kQ8 : case_.half_weights ? Precision::kF16 : Precision::kF32;
  program_.linears.push_back({in, out, case_.groups, precision, case_.wide_input});
  return {static_cast<int32_t>(linears_.size()) - 1};
}

NormArgs CaseProgram::Norm(int32_t width) {
  const Value weight = Constant(1, width, 1);
  return {weight, Constant(1, width), 1e-7f};
}

ops::Embed::Lookup CaseProgram::Lookup(int32_t rows, int32_t cols, const std::vector<int32_t>& index) {
  tables_.push_back(Take(Random(rows, cols, false, 1, 0)));
  return {{program_.tables++}, Indices(indices::TokenIds{}, index)};
}

IndexId CaseProgram::Indices(const Index& index, std::vector<int32_t> values) {
  program_.indices.push_back(index);
  indices_.push_back(std::move(values));
  return {static_cast<int32_t>(indices_.size()) - 1};
}

void CaseProgram::WatchBlock() {
  watched_.push_back({Input(Extent{Domain::kOne, 1}, {Domain::kOne, 64}, Filled(1, 64, kSentinel)), 0, 0});
}

Value CaseProgram::Output(Extent rows, Extent cols) {
  WatchBlock();
  // If the width depends on the batch, so do the margins.
  Extent width = cols;
  if (case_.strided_out && cols.domain == Domain::kOne) width.factor += kMarginBefore + kMarginAfter;
  if (case_.strided_out && cols.domain != Domain::kOne) width.factor += 1;
  PERUSE_CHECK(!case_.strided_out || Size(width) >= Size(cols) + kMarginBefore);
  const Value wide = Input(rows, width, Filled(Size(rows), Size(width), kSentinel));
  const int32_t first = case_.strided_out ? kMarginBefore : 0;
  watched_.push_back({wide, first, Size(cols)});
  outputs_.push_back(watched_.size() - 1);
  WatchBlock();
  results_.push_back(case_.strided_out ? Columns(wide, first, cols) : wide);
  return results_.back();
}

struct CaseRun {
  CaseRun(const OpCase& c, const std::vector<HostMatrix>* operands) : oc(c), p(c, operands) { c.write(p, c); }

  void WriteLinear(Backend& backend, size_t i) {
    const auto& [weight, bias] = p.linears_[i];
    Result<Weight> linear = backend.CreateLinear(p.program_.linears[i]);
    PERUSE_CHECK(linear.ok());
    // Writes pieces of three rows, the bias last.
    EncodedBuffer buffer;
    const auto width = static_cast<size_t>(weight.cols);
    for (int32_t row = 0; row < weight.rows; row += 3) {
      const auto count = static_cast<size_t>(std::min(3, weight.rows - row));
      const auto rows = std::span<const float>(weight.values).subspan(static_cast<size_t>(row) * width, count * width);
      PERUSE_CHECK(WriteFloats(backend, *linear, p.program_.linears[i], row, rows, &buffer).ok());
    }
    PERUSE_CHECK(backend.WriteBias(*linear, 0, bias.values).ok());
    weights.linears.push_back(*linear);
  }

  void WriteConstant(Backend& backend, const HostMatrix& matrix) {
    Result<Tensor> constant = backend.CreateConstant(matrix.rows, matrix.cols);
    PERUSE_CHECK(constant.ok());
    // Writes two pieces, as a file arrives.
    const size_t first = static_cast<size_t>(matrix.rows / 2) * static_cast<size_t>(matrix.cols);
    const std::span<const float> values(matrix.values);
    PERUSE_CHECK(backend.WriteConstant(*constant, 0, values.first(first)).ok());
    PERUSE_CHECK(backend.WriteConstant(*constant, matrix.rows / 2, values.subspan(first)).ok());
    weights.constants.push_back(*constant);
  }

  ProgramResult Run(Backend& backend) {
    for (size_t i = 0; i < p.linears_.size(); ++i) WriteLinear(backend, i);
    for (const HostMatrix& constant : p.constants_) WriteConstant(backend, constant);
    weights.tables.resize(p.tables_.size());
    for (size_t i = 0; i < p.tables_.size(); ++i) {
      PERUSE_CHECK(weights.tables[i].Allocate(p.tables_[i].rows, p.tables_[i].cols, DType::kF32).ok());
      PERUSE_CHECK(weights.tables[i].WriteRows(0, p.tables_[i].values).ok());
    }
    inputs.batch = BatchOf(oc.lengths);
    if (oc.keys > 0) inputs.batch.SetKeyLimit(oc.keys);
    for (const auto& values : p.inputs_) inputs.matrices.emplace_back(values);
    for (const auto& values : p.indices_) inputs.indices.emplace_back(values);
    if (!p.indices_.empty()) inputs.chosen = static_cast<int64_t>(p.indices_[0].size());
    return RunProgram(backend, p.program_, weights, inputs);
  }

  const OpCase& oc;
  CaseProgram p;
  Weights weights;
  ProgramInputs inputs;
};

std::vector<HostMatrix> MakeOperands(const OpCase& c) { return CaseRun(c, nullptr).p.operands_; }

Outcome RunCase(Backend& backend, const OpCase& c, const std::vector<HostMatrix>& operands) {
  CaseRun run(c, &operands);
  Program& program = run.p.program_;
  // Copies after the operation keep watched values alive until then.
  for (const auto& watched : run.p.watched_) {
    const Value copy = program.NewValue(program.info(watched.value).rows, program.info(watched.value).cols);
    program.ops.push_back(ops::Activate{watched.value, Activation::kNone, copy});
    program.outputs.push_back({{}, copy});
  }
  ProgramResult result = run.Run(backend);
  Outcome outcome{result.status, {}, {}};
  for (size_t i = 0; result.status.ok() && i < run.p.watched_.size(); ++i) {
    const auto& watched = run.p.watched_[i];
    const bool is_output = std::find(run.p.outputs_.begin(), run.p.outputs_.end(), i) != run.p.outputs_.end();
    const int32_t rows = run.p.Size(program.info(watched.value).rows);
    const int32_t cols = run.p.Size(program.info(watched.value).cols);
    HostMatrix matrix{rows, watched.cols, {}, true};
    const std::vector<float> values = ToVector(result.outputs[i]);
    for (int32_t r = 0; r < rows; ++r) {
      for (int32_t col = 0; col < cols; ++col) {
        const float value = values[static_cast<size_t>(r) * static_cast<size_t>(cols) + static_cast<size_t>(col)];
        if (col >= watched.first && col < watched.first + watched.cols) {
          matrix.values.push_back(value);
        } else if (value != kSentinel) {
          outcome.stray_write = "row " + std::to_string(r) + ", column " + std::to_string(col - watched.first);
        }
      }
    }
    if (is_output) outcome.outputs.push_back(std::move(matrix));
  }
  return outcome;
}

Expected RunReference(const OpCase& c, const std::vector<HostMatrix>& operands) {
  CaseRun run(c, &operands);
  for (const Value result : run.p.results_) run.p.program_.outputs.push_back({{}, result});
  const auto backend = CreateReferenceBackend();
  const ProgramResult result = run.Run(*backend);
  PERUSE_CHECK(result.status.ok());
  Expected expected;
  for (size_t i = 0; i < run.p.results_.size(); ++i) {
    const ValueInfo& info = run.p.program_.info(run.p.results_[i]);
    expected.outputs.push_back({run.p.Size(info.rows), run.p.Size(info.cols), ToVector(result.outputs[i]), true});
    expected.bounds.push_back(backend->ErrorBound(run.p.program_.ops.back(), run.p.results_[i]));
  }
  return expected;
}

}  // namespace peruse::testing
