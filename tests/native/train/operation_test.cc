// Compares forward and backward passes of every operation with the reference in double precision, on the list of cases and on random
// shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "core/train/memory/tape.h"
#include "tests/native/ops/gradient_case.h"
#include "tests/native/ops/random_case.h"
#include "tests/native/train/threads_here.h"

namespace peruse::train {
namespace {

using peruse::testing::GradientCase;
using peruse::testing::OpCase;

class CaseTape : public Tape {
 public:
  CaseTape(GradientCase& c, int32_t threads) : all_workers_(Workers::Create(ThreadsHere(threads)).value()) {
    program_ = &c.program();
    batch_ = &c.batch();
    indices_ = c.indices();
    inputs_ = c.inputs();
    parameters_.workers = all_workers_.get();
    PlaceValues(c);
    PlaceParameters(c);
    scratch_ = New(1, Scratch(c.op(), c.program(), parameters_, c.batch(), c.sizes(), c.indices()) + 1).data;
  }

  Block gradient_of(Value value) { return gradients_[static_cast<size_t>(value.id)]; }
  bool started(Value value) { return started_[static_cast<size_t>(program_->Root(value).id)] != 0; }
  const PackedParameters& parameters() const { return parameters_; }
  void SetGradient(Value value, const ops::Matrix& from) {
    const Block to = Accumulator(value);
    for (int64_t r = 0; r < to.rows; ++r) std::copy_n(&from(r, 0), to.cols, to.row(r));
  }

 private:
  // Filled with NaN, which must not be read.
  Block New(int64_t rows, int64_t cols) {
    memory_.emplace_back(static_cast<size_t>(rows * cols), std::nanf(""));
    return {memory_.back().data(), rows, cols, cols};
  }
  Block Copy(const double* from, int64_t rows, int64_t cols, int64_t stride) {
    const Block block = New(rows, cols);
    for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * stride, cols, block.row(r));
    return block;
  }

  void PlaceValues(GradientCase& c) {
    for (size_t i = 0; i < c.program().values.size(); ++i) {
      const ValueInfo& info = c.program().values[i];
      const ops::Matrix& m = c.numbers().values[i];
      started_.push_back(0);
      if (info.base >= 0) {
        const auto base = static_cast<size_t>(info.base);
        values_.push_back(values_[base].Columns(info.first_col, m.cols));
        gradients_.push_back(gradients_[base].Columns(info.first_col, m.cols));
        continue;
      }
      values_.push_back(Copy(m.data, m.rows, m.cols, m.stride));
      gradients_.push_back(New(m.rows, m.cols));
    }
  }

  void PlaceParameters(GradientCase& c) {
    for (const ops::LinearValues* linear : c.numbers().linears) {
      const LinearSpec& spec = linear->spec;
      LinearParameter p;
      p.spec = spec;
      const int64_t in = spec.in / spec.groups;
      p.weight = Copy(linear->weight.get(), spec.out, in, in).data;
      p.bias = Copy(linear->bias.get(), 1, spec.out, spec.out).data;
      const Block weight = New(spec.out, in), bias = New(1, spec.out);
      Fill(weight, 0);
      Fill(bias, 0);
      p.weight_gradient = weight.data;
      p.bias_gradient = bias.data;
      parameters_.linears.push_back(p);
    }
    for (GradientCase::Operand& operand : c.operands()) {
      if (operand.table_id < 0) continue;
      const ops::Matrix& m = operand.values;
      parameters_.tables.push_back({Copy(m.data, m.rows, m.cols, m.stride), New(m.rows, m.cols)});
      Fill(parameters_.tables.back().gradient, 0);
    }
    packed_ = &parameters_;
  }

  std::shared_ptr<Workers> all_workers_;
  PackedParameters parameters_;
  std::deque<std::vector<float>> memory_;
};

double Largest(const ops::Matrix& m) {
  double largest = 0;
  for (int32_t r = 0; r < m.rows; ++r) {
    for (int32_t c = 0; c < m.cols; ++c) largest = std::max(largest, std::fabs(m(r, c)));
  }
  return largest;
}

// Additional error of an RMS norm in float32, of the size of the gradient: if a block has one column, the rest cancels.
double RmsSlack(GradientCase& c, const ops::RmsNorm& norm) {
  const ops::Matrix &x = c.numbers()(norm.x), &weight = c.numbers()(norm.weight), &out = c.gradients()(norm.out);
  double slack = 0;
  for (int32_t r = 0; r < x.rows; ++r) {
    for (int32_t i = 0; i < x.cols; ++i) {
      const int32_t first = i / weight.cols * weight.cols;
      const double squares = ops::Dot(&x(r, first), &x(r, first), weight.cols);
      const double inverse = 1 / std::sqrt(squares / weight.cols + static_cast<double>(norm.eps));
      const double factor = weight(0, i % weight.cols) + static_cast<double>(norm.offset);
      slack = std::max(slack, 1e-5 * std::fabs(out(r, i) * factor) * inverse);
    }
  }
  return slack;
}

// Additional error of a layer norm in float32: of the size of x, because the mean is subtracted, and of the size of the gradient.
double NormSlack(GradientCase& c) {
  if (const auto* rms = std::get_if<ops::RmsNorm>(&c.op())) return RmsSlack(c, *rms);
  const auto* norm = std::get_if<ops::LayerNorm>(&c.op());
  if (norm == nullptr) return 0;
  const ops::Matrix& x = c.numbers()(norm->x);
  double slack = 0;
  for (int32_t r = 0; r < x.rows; ++r) {
    double mean = 0, variance = 0, largest = 0;
    for (int32_t i = 0; i < x.cols; ++i) mean += x(r, i) / x.cols;
    for (int32_t i = 0; i < x.cols; ++i) {
      variance += (x(r, i) - mean) * (x(r, i) - mean) / x.cols;
      largest = std::max(largest, std::fabs(x(r, i)));
    }
    const double inverse = 1 / std::sqrt(variance + norm->norm.eps);
    const ops::Matrix& out = c.gradients()(norm->out);
    for (int32_t i = 0; i < x.cols; ++i) {
      const double weighted = std::fabs(out(r, i) * c.numbers()(norm->norm.weight)(0, i));
      slack =
          std::max({slack, 1e-5 * weighted * inverse, ops::kEpsilon * ops::kDot * largest * inverse * (1 + inverse)});
    }
  }
  return slack;
}

void ExpectNear(const Block& got, const ops::Matrix& want, const std::string& what, double slack = 0) {
  const double largest = Largest(want);
  for (int32_t r = 0; r < want.rows; ++r) {
    for (int32_t c = 0; c < want.cols; ++c) {
      ASSERT_NEAR(got.row(r)[c], want(r, c), 1e-5 * largest + slack + 1e-30)
          << what << ", row " << r << ", column " << c;
    }
  }
}

const std::vector<OpCase>& Cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> found;
    for (const OpCase& c : peruse::testing::AllCases()) {
      // Only the fusing pass creates a norm with a residual.
      if (peruse::testing::HasGradient(c) && std::string(c.operation) != "AddNorm") found.push_back(c);
    }
    return found;
  }();
  return cases;
}

class Operations : public ::testing::TestWithParam<size_t> {};

void ExpectAgreement(GradientCase& c, int32_t threads) {
  CaseTape tape(c, threads);
  const Value result = c.results()[0];
  std::visit([&](const auto& op) { Forward(op, tape); }, c.op());
  ExpectNear(tape.value(result), c.numbers()(result), "result", NormSlack(c));
  tape.SetGradient(result, c.gradients()(result));
  std::visit([&](const auto& op) { Backward(op, tape); }, c.op());
  for (const Value* operand : InputsOf(c.op())) {
    ASSERT_TRUE(tape.started(*operand));
    ExpectNear(tape.gradient_of(*operand), c.gradients()(*operand), "operand " + std::to_string(operand->id),
               NormSlack(c));
  }
  for (size_t i = 0; i < tape.parameters().linears.size(); ++i) {
    const LinearParameter& p = tape.parameters().linears[i];
    const int32_t in = p.spec.in / p.spec.groups;
    const ops::Gradients::Linear& want = c.gradients().linears[i];
    ExpectNear({p.weight_gradient, p.spec.out, in, in}, {want.weight, p.spec.out, in, in}, "weight");
    ExpectNear({p.bias_gradient, 1, p.spec.out, p.spec.out}, {want.bias, 1, p.spec.out, p.spec.out}, "bias");
  }
  for (size_t i = 0; i < tape.parameters().tables.size(); ++i) {
    ExpectNear(tape.parameters().tables[i].gradient, c.gradients().tables[i], "table");
  }
}

void ExpectAgreement(const OpCase& oc) {
  GradientCase c(oc, /*extra=*/false);
  c.Loss();
  c.Differentiate();
  for (const int32_t threads : {1, 3}) {
    SCOPED_TRACE(threads);
    ExpectAgreement(c, threads);
  }
}

TEST_P(Operations, AgreeWithTheReferenceForwardAndBack) { ExpectAgreement(Cases()[GetParam()]); }

TEST(RandomOperationsOfTraining, AgreeWithTheReferenceForwardAndBack) {
  peruse::testing::ForRandomCases(Cases(), [](const OpCase& c) { ExpectAgreement(c); });
}

INSTANTIATE_TEST_SUITE_P(Train, Operations, ::testing::Range(size_t{0}, Cases().size()),
                         [](const ::testing::TestParamInfo<size_t>& info) {
                           return std::to_string(info.param) + "_" + Cases()[info.param].name();
                         });

}  // namespace
}  // namespace peruse::train
