// Two tasks of one checkpoint share weights, and are created and destroyed in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

using testing::BackendsUnderTest;
using testing::Bytes;
using testing::ReadFixture;

struct TaskCase {
  std::string open;
  std::string request;
};

const TaskCase kFeatures = {R"({"task":"feature-extraction"})", R"({"inputs":[{"text":"a1 a7 a3"}],"options":{}})"};
const TaskCase kQuestion = {R"({"task":"question-answering"})",
                            R"({"inputs":[{"question":"a1 a2","context":"a3 a4 a5 a6"}],"options":{}})"};
const TaskCase kFillMask = {R"({"task":"fill-mask"})", R"({"inputs":[{"text":"a1 [MASK] a3"}],"options":{}})"};
const TaskCase kRanking = {R"({"task":"text-ranking"})",
                           R"({"inputs":[{"query":"a1 a2","documents":["a3 a4","a5"]}],"options":{}})"};
const TaskCase kClassification = {R"({"task":"text-classification"})",
                                  R"({"inputs":[{"text":"a1 a7 a3"}],"options":{"top_k":null}})"};

struct SharedCase {
  const char* checkpoint;
  TaskCase tasks[2];
};

const SharedCase kCases[] = {
    {"tiny/deberta-v2-question", {kFeatures, kQuestion}},
    {"tiny/deberta-v1-masked-lm", {kFeatures, kFillMask}},
    {"tiny/convbert-masked-lm", {kFillMask, kFeatures}},
    {"tiny/convbert-sequence", {kClassification, kFeatures}},
    {"tiny/distilbert-sequence", {kFeatures, kClassification}},
};

std::string Fixture(const SharedCase& one, const char* file) { return ReadFixture(std::string(one.checkpoint) + file); }

Status Open(Session& session, const SharedCase& one, const TaskCase& task) {
  PERUSE_RETURN_IF_ERROR(session.AddFile("config.json", Fixture(one, "/config.json")));
  PERUSE_RETURN_IF_ERROR(session.AddFile("vocab.txt", Vocabulary()));
  PERUSE_RETURN_IF_ERROR(session.AddFile("tokenizer_config.json", R"({"tokenizer_class":"BertTokenizer"})"));
  return session.Open(task.open);
}

std::string Load(Session& session, const SharedCase& one, const TaskCase& task) {
  if (const Status status = Open(session, one, task); !status.ok()) return Describe(status);
  if (session.needs_weights()) {
    const std::string weights = Fixture(one, "/model.safetensors");
    if (const Status status = session.FeedWeights(Bytes(weights)); !status.ok()) return Describe(status);
  }
  const Result<std::string> report = session.FinishWeights();
  return report.ok() ? *report : Describe(report.status());
}

// Features are only returned as arrays, so this reads them too.
std::string Answer(Session& session, const TaskCase& task) {
  std::string answer = RunToEnd(session, task.request);
  for (const float value : session.array(0)) answer += " " + std::to_string(value);
  return answer;
}

TEST(SharedSession, AnswersAsAloneAndHoldsWeightsOnce) {
  for (const auto& backend_case : BackendsUnderTest()) {
    for (const SharedCase& one : kCases) {
      for (const bool swapped : {false, true}) {
        SCOPED_TRACE(std::string(one.checkpoint) + (swapped ? ", swapped" : ""));
        const TaskCase& a = one.tasks[swapped ? 1 : 0];
        const TaskCase& b = one.tasks[swapped ? 0 : 1];
        std::string alone[2], report_alone;
        int64_t bytes_alone = 0;
        {
          std::unique_ptr<Backend> owned = backend_case.create();
          const Backend& backend = *owned;
          Session session(std::move(owned));
          report_alone = Load(session, one, b);
          ASSERT_EQ(report_alone.front(), '{') << report_alone;
          alone[1] = Answer(session, b);
          bytes_alone = backend.WeightBytes();
        }
        std::unique_ptr<Backend> owned = backend_case.create();
        const Backend& backend = *owned;
        auto first = std::make_unique<Session>(std::move(owned));
        ASSERT_EQ(Load(*first, one, a).front(), '{');
        alone[0] = Answer(*first, a);
        const int64_t before = backend.WeightBytes();

        auto second = std::make_unique<Session>(*first);
        const std::string report = Load(*second, one, b);
        ASSERT_EQ(report.front(), '{') << report;
        EXPECT_LE(backend.WeightBytes(), std::max(before, bytes_alone) + before / 2);
        EXPECT_EQ(Answer(*second, b), alone[1]);
        EXPECT_EQ(Answer(*first, a), alone[0]);
        EXPECT_EQ(Answer(*second, b), alone[1]);

        const int64_t together = backend.WeightBytes();
        if (swapped) {
          second.reset();
          EXPECT_LE(backend.WeightBytes(), together);
          EXPECT_EQ(Answer(*first, a), alone[0]);
        } else {
          first.reset();
          EXPECT_LE(backend.WeightBytes(), together);
          EXPECT_EQ(Answer(*second, b), alone[1]);
        }
      }
    }
  }
}

TEST(SharedSession, ATaskWithoutAHeadOfItsOwnReadsNoWeights) {
  const SharedCase& one = kCases[0];
  Session first(CreateReferenceBackend());
  ASSERT_EQ(Load(first, one, kQuestion).front(), '{');
  Session second(first);
  ASSERT_TRUE(Open(second, one, kFeatures).ok());
  EXPECT_FALSE(second.needs_weights());
  const Result<std::string> report = second.FinishWeights();
  ASSERT_TRUE(report.ok()) << Describe(report.status());
  EXPECT_NE(report->find(R"("extraTensors":["qa_outputs.bias","qa_outputs.weight"])"), std::string::npos) << *report;
}

TEST(SharedSession, ComingAndGoingLeavesNothingBehind) {
  const SharedCase& one = kCases[1];
  std::unique_ptr<Backend> owned = CreateReferenceBackend();
  const Backend& backend = *owned;
  Session first(std::move(owned));
  ASSERT_EQ(Load(first, one, kFeatures).front(), '{');
  int64_t linears = 0;
  for (int i = 0; i < 4; ++i) {
    {
      Session second(first);
      ASSERT_EQ(Load(second, one, kFillMask).front(), '{');
    }
    // A head's matrices are freed; its few vectors stay as long as the backend.
    if (i == 1) linears = backend.WeightBytes();
  }
  EXPECT_LT(backend.WeightBytes() - linears, 4096);
}

TEST(SharedSession, ALoadThatFailsHarmsNobody) {
  const SharedCase& one = kCases[0];
  Session first(CreateReferenceBackend());
  ASSERT_EQ(Load(first, one, kFeatures).front(), '{');
  const std::string before = Answer(first, kFeatures);
  {
    Session second(first);
    ASSERT_TRUE(Open(second, one, kQuestion).ok());
    ASSERT_TRUE(second.needs_weights());
    std::string weights = Fixture(one, "/model.safetensors");
    weights.resize(weights.size() / 2);
    EXPECT_TRUE(second.FeedWeights(Bytes(weights)).ok());
    EXPECT_FALSE(second.FinishWeights().ok());
  }
  {
    Session second(first);
    ASSERT_TRUE(second.AddFile("config.json", Fixture(kCases[2], "/config.json")).ok());
    ASSERT_TRUE(second.AddFile("vocab.txt", Vocabulary()).ok());
    ASSERT_TRUE(second.AddFile("tokenizer_config.json", R"({"tokenizer_class":"BertTokenizer"})").ok());
    EXPECT_NE(Describe(second.Open(kFillMask.open)).find("config.json is not that of the session beside"),
              std::string::npos);
  }
  EXPECT_EQ(Answer(first, kFeatures), before);
}

}  // namespace
}  // namespace peruse
