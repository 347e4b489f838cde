// Whichever single allocation of a load or a call fails: there is a result or one typed error, nothing leaks, and the next call works. Only
// in WebAssembly, like memory_end.h.
#include "tests/native/memory/memory_end.h"

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)

#include <gtest/gtest.h>

#include "core/api/session.h"
#include "core/backend/cpu/cpu_backend.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

struct Case {
  const char* model;
  const char* open;
  const char* call;
};

constexpr Case kCases[] = {
    {"convbert-sequence", R"({"task":"text-classification"})", R"({"inputs":[{"text":"a1 a2"},{"text":"a3"}]})"},
    {"convbert-sequence", R"({"task":"text-classification","dtype":"q8"})", R"({"inputs":[{"text":"a1"}]})"},
    {"bert-question", R"({"task":"question-answering"})",
     R"({"inputs":[{"question":"a1 a2","context":"a3 a4 a5 a6"}]})"},
    {"electra-token", R"({"task":"token-classification"})", R"({"inputs":[{"text":"a1 a2 a3"}]})"},
    {"deberta-v2-buckets64", R"({"task":"question-answering","dtype":"f16"})",
     R"({"inputs":[{"question":"a1 a2","context":"a3 a4 a5 a6"}]})"},
    {"convbert-bare", R"({"task":"feature-extraction","dtype":"f16"})",
     R"({"inputs":[{"text":"a1 a2"}],"options":{"pooling":"mean"}})"},
};

struct Files {
  explicit Files(const Case& c)
      : config(ReadFixture(std::string("tiny/") + c.model + "/config.json")),
        weights(ReadFixture(std::string("tiny/") + c.model + "/model.safetensors")) {
    for (int i = 0; i < 30; ++i) vocabulary += "a" + std::to_string(i) + "\n";
  }
  std::string config, weights;
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
};

Status Load(Session& session, const Case& c, const Files& files) {
  PERUSE_RETURN_IF_ERROR(session.AddFile("config.json", files.config));
  PERUSE_RETURN_IF_ERROR(session.AddFile("vocab.txt", files.vocabulary));
  PERUSE_RETURN_IF_ERROR(session.AddFile("tokenizer_config.json", R"({"tokenizer_class":"BertTokenizer"})"));
  PERUSE_RETURN_IF_ERROR(session.Open(c.open));
  PERUSE_RETURN_IF_ERROR(session.FeedWeights(Bytes(files.weights)));
  return session.FinishWeights().status();
}

Result<std::string> Call(Session& session, const Case& c) {
  PERUSE_RETURN_IF_ERROR(session.Start(c.call));
  for (bool more = true; more;) {
    PERUSE_ASSIGN_OR_RETURN(more, session.Step());
  }
  return session.Take();
}

void ExpectOkOrNoMemory(const Status& status, bool is_last) {
  if (status.ok()) return;
  ASSERT_EQ(status.code(), StatusCode::kOutOfMemory) << status.message();
  ASSERT_FALSE(is_last);
}

class SessionMemory : public ::testing::TestWithParam<Case> {};

TEST_P(SessionMemory, EveryAllocationOfALoadMayFailOnce) {
  const Files files(GetParam());
  {
    Session first(CreateCpuBackend(1).value());  // allocates what a program allocates once
    ASSERT_TRUE(Load(first, GetParam(), files).ok());
  }
  const size_t failed = LetEveryAllocationFail(
      [&](bool is_last) {
        {
          Session session(CreateCpuBackend(1).value());
          ExpectOkOrNoMemory(Load(session, GetParam(), files), is_last);
        }
        ASSERT_EQ(MemoryEnd::LeftBehind(), 0);
      },
      true);
  EXPECT_GT(failed, 100u);
}

// The first call allocates the session's workspace. A call that fails, or is abandoned after a step, does not affect the next.
TEST_P(SessionMemory, EveryAllocationOfACallMayFailOnce) {
  const Files files(GetParam());
  std::string right;
  size_t count = 0;
  for (bool reached = true; reached && !HasFailure(); ++count) {
    Session session(CreateCpuBackend(1).value());
    ASSERT_TRUE(Load(session, GetParam(), files).ok());
    for (const size_t calls_before : {0, 1}) {
      if (calls_before == 1) ASSERT_TRUE(Call(session, GetParam()).ok());
      {
        const MemoryEnd end(count, true);
        if (session.Start(GetParam().call).ok()) ExpectOkOrNoMemory(session.Step().status(), false);
        const Result<std::string> answer = Call(session, GetParam());
        ExpectOkOrNoMemory(answer.status(), false);
        reached = MemoryEnd::was_reached() || (calls_before == 1 && reached);
      }
      const Result<std::string> next = Call(session, GetParam());
      ASSERT_TRUE(next.ok()) << next.status().message();
      if (right.empty()) right = *next;
      ASSERT_EQ(*next, right);
    }
  }
  EXPECT_GT(count, 20u);
}

INSTANTIATE_TEST_SUITE_P(Cases, SessionMemory, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

}  // namespace
}  // namespace peruse::testing

#endif
