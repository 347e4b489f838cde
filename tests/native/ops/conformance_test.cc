// Compares every backend with the reference backend, on the list of cases and on random shapes, and each text alone with the batch.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/ops/case_program.h"
#include "tests/native/ops/op_case.h"
#include "tests/native/ops/random_case.h"

namespace peruse::testing {
namespace {

struct Subject {
  std::string name;
  std::function<std::shared_ptr<Backend>()> create;
  bool mixes_experts = true;
};

// Shared by all cases: starting threads takes longer than a case.
[[maybe_unused]] std::shared_ptr<Backend> SharedCpuWithThreads() {
  static const std::shared_ptr<Backend> backend = CreateCpuBackend(3).value();
  return backend;
}

const std::vector<Subject>& Subjects() {
  static const std::vector<Subject> subjects = [] {
    std::vector<Subject> made;
    for (const BackendUnderTest& under_test : BackendsUnderTest()) {
      made.push_back({under_test.name, under_test.create, under_test.mixes_experts});
    }
#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)
    made.push_back({"cpu_3_threads", SharedCpuWithThreads});
#endif
    return made;
  }();
  return subjects;
}

// Describes the cell that exceeds its bound by most, or is nearest to it.
std::string WorstCell(const HostMatrix& got, const HostMatrix& want, const std::vector<double>& bounds, bool* passed) {
  double worst = -1;
  size_t cell = 0;
  for (size_t i = 0; i < want.values.size(); ++i) {
    // Equal infinities count as equal, because their difference is NaN.
    const bool equal = got.values[i] == want.values[i];
    const double error = equal ? 0 : std::fabs(double{got.values[i]} - want.values[i]);
    // The reference result is rounded to float32.
    const double bound = bounds[i] + std::fabs(want.values[i]) * 6e-8;
    double ratio = error == 0 ? 0 : error / bound;
    if (std::isnan(ratio)) ratio = std::numeric_limits<double>::infinity();
    if (ratio > worst) {
      worst = ratio;
      cell = i;
    }
  }
  *passed = worst <= 1;
  const size_t cols = static_cast<size_t>(want.cols);
  return "worst cell: row " + std::to_string(cell / cols) + ", column " + std::to_string(cell % cols) + ": got " +
         ::testing::PrintToString(got.values[cell]) + ", want " + ::testing::PrintToString(want.values[cell]) +
         ", which is " + std::to_string(worst) + " of the bound";
}

class Conformance : public ::testing::TestWithParam<std::tuple<size_t, size_t>> {
 public:
  static const std::vector<OpCase>& Cases() {
    static const std::vector<OpCase> cases = AllCases();
    return cases;
  }

 protected:
  const Subject& subject() const { return Subjects()[std::get<0>(GetParam())]; }
  const OpCase& operation_case() const { return Cases()[std::get<1>(GetParam())]; }
};

bool Runs(const Subject& subject, const OpCase& c) {
  const std::string_view operation = c.operation;
  return subject.mixes_experts || !(operation.starts_with("Experts") || operation.starts_with("Sink"));
}

void ExpectAgreement(const Subject& subject, const OpCase& c) {
  const std::vector<HostMatrix> operands = MakeOperands(c);
  const Expected want = RunReference(c, operands);
  const Outcome got = RunCase(*subject.create(), c, operands);
  if (!Runs(subject, c)) {
    EXPECT_EQ(got.status.code(), StatusCode::kUnsupported);
    return;
  }
  ASSERT_TRUE(got.status.ok()) << got.status.message();
  EXPECT_EQ(got.stray_write, "");
  ASSERT_EQ(got.outputs.size(), want.outputs.size());
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    ASSERT_EQ(got.outputs[i].values.size(), want.outputs[i].values.size());
    ASSERT_EQ(want.bounds[i].size(), want.outputs[i].values.size());
    bool passed = false;
    const std::string worst = WorstCell(got.outputs[i], want.outputs[i], want.bounds[i], &passed);
    EXPECT_TRUE(passed) << "output " << i << ": " << worst;
  }
}

TEST_P(Conformance, AgreesWithTheReference) { ExpectAgreement(subject(), operation_case()); }

TEST(RandomOperations, EveryBackendAgreesWithTheReference) {
  ForRandomCases(AllCases(), [](const OpCase& c) {
    for (const Subject& subject : Subjects()) {
      SCOPED_TRACE(subject.name);
      ExpectAgreement(subject, c);
    }
  });
}

OpCase Alone(const OpCase& c, size_t sequence, std::vector<HostMatrix>& operands) {
  OpCase one = c;
  one.lengths = {c.lengths[sequence]};
  one.extra_output = false;
  int32_t start = 0;
  for (size_t s = 0; s < sequence; ++s) start += c.lengths[s];
  for (HostMatrix& operand : operands) {
    if (!operand.by_token) continue;
    const auto first = operand.values.begin() + int64_t{start} * operand.cols;
    operand.values = std::vector<float>(first, first + int64_t{one.lengths[0]} * operand.cols);
    operand.rows = one.lengths[0];
  }
  return one;
}

TEST_P(Conformance, ATextsRowsDependOnThatTextAlone) {
  const OpCase& c = operation_case();
  if (c.lengths.size() < 2 || !c.by_text || !Runs(subject(), c)) return;
  const std::vector<HostMatrix> operands = MakeOperands(c);
  const Outcome batch = RunCase(*subject().create(), c, operands);
  size_t cell = 0;
  for (size_t s = 0; s < c.lengths.size(); ++s) {
    std::vector<HostMatrix> own = operands;
    const OpCase one = Alone(c, s, own);
    const Outcome alone = RunCase(*subject().create(), one, own);
    for (size_t i = 0; i < alone.outputs[0].values.size(); ++i, ++cell) {
      ASSERT_EQ(std::bit_cast<uint32_t>(alone.outputs[0].values[i]),
                std::bit_cast<uint32_t>(batch.outputs[0].values[cell]))
          << "sequence " << s << ", value " << i;
    }
  }
}

TEST_P(Conformance, NaNStaysInItsText) {
  const OpCase& c = operation_case();
  if (c.lengths.size() < 2 || !c.by_text) return;
  std::vector<HostMatrix> operands = MakeOperands(c);
  const Outcome clean = RunCase(*subject().create(), c, operands);
  const int64_t row = c.rows() - c.lengths.back();
  std::fill_n(operands[0].values.begin() + row * operands[0].cols, operands[0].cols,
              std::numeric_limits<float>::quiet_NaN());
  const Outcome poisoned = RunCase(*subject().create(), c, operands);
  const HostMatrix& before = clean.outputs[0];
  const HostMatrix& after = poisoned.outputs[0];
  for (int64_t r = 0; r < row; ++r) {
    for (int64_t i = 0; i < before.cols; ++i) {
      ASSERT_EQ(before.at(r, i), after.at(r, i)) << "row " << r << ", column " << i;
    }
  }
  for (int64_t i = 0; i < after.cols; ++i) ASSERT_TRUE(std::isnan(after.at(row, i))) << "column " << i;
}

std::string CaseName(const ::testing::TestParamInfo<std::tuple<size_t, size_t>>& info) {
  const size_t index = std::get<1>(info.param);
  return Subjects()[std::get<0>(info.param)].name + "_" + std::to_string(index) + "_" +
         Conformance::Cases()[index].name();
}

INSTANTIATE_TEST_SUITE_P(Backends, Conformance,
                         ::testing::Combine(::testing::Range(size_t{0}, Subjects().size()),
                                            ::testing::Range(size_t{0}, Conformance::Cases().size())),
                         CaseName);

}  // namespace
}  // namespace peruse::testing
