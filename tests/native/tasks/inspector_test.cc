#include "core/tasks/inspector.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/backend/reference/reference_backend.h"
#include "core/backend/webgpu/webgpu_backend.h"
#include "core/model/attention_maps.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/session_testing.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

using testing::BackendsUnderTest;
using testing::Bytes;
using testing::ReadFixture;

std::unique_ptr<Session> Load(const std::string& name, std::unique_ptr<Backend> backend,
                              std::string_view open = R"({"task":"text-classification"})") {
  auto session = std::make_unique<Session>(std::move(backend));
  EXPECT_TRUE(session->AddFile("config.json", ReadFixture(name + "/config.json")).ok());
  EXPECT_TRUE(session->AddFile("vocab.txt", Vocabulary()).ok());
  EXPECT_TRUE(session->Open(open).ok());
  const std::string weights = ReadFixture(name + "/model.safetensors");
  EXPECT_TRUE(session->FeedWeights(Bytes(weights)).ok());
  const Result<std::string> report = session->FinishWeights();
  EXPECT_TRUE(report.ok()) << report.status().message();
  return session;
}

std::string Inspect(Session& session, std::string_view request) {
  return ToEnd(session, session.StartInspection(request));
}

constexpr std::string_view kAll =
    R"({"inputs":[{"text":"a1 a7 a3","text_pair":"a2 \u00e9 a9"}],)"
    R"("options":{"output_attentions":true,"output_span_kernels":true,"output_hidden_states":true}})";

TEST(InspectorTest, TokensSayWhereTheyComeFrom) {
  auto session = Load("tiny/convbert-sequence", CreateReferenceBackend());
  // An emoji has two UTF-16 units and four bytes.
  EXPECT_EQ(Inspect(*session, R"({"inputs":[{"text":"😀 a7","text_pair":"a9"}]})"),
            R"([{"input":0,"value":{"tokens":[)"
            R"({"token":"[CLS]","id":2,"start":0,"end":0,"special":true,"sequence":null},)"
            R"({"token":"[UNK]","id":1,"start":0,"end":2,"special":false,"sequence":0},)"
            R"({"token":"a7","id":12,"start":3,"end":5,"special":false,"sequence":0},)"
            R"({"token":"[SEP]","id":3,"start":0,"end":0,"special":true,"sequence":null},)"
            R"({"token":"a9","id":14,"start":0,"end":2,"special":false,"sequence":1},)"
            R"({"token":"[SEP]","id":3,"start":0,"end":0,"special":true,"sequence":null}]}}])");
  EXPECT_TRUE(session->array(0).empty());
}

TEST(InspectorTest, IdsReplaceTheText) {
  auto session = Load("tiny/bert-sequence", CreateReferenceBackend());
  const auto floats = [&](std::string_view request) {
    EXPECT_TRUE(Inspect(*session, request).starts_with("[{"));
    const auto array = session->array(0);
    return std::vector<float>(array.begin(), array.end());
  };
  const std::string options = R"("output_hidden_states":true,"layers":[-1]}})";
  const std::vector<float> of_text = floats(R"({"inputs":[{"text":"a7","text_pair":"a9"}],"options":{)" + options);
  EXPECT_EQ(floats(R"({"inputs":[{"ids":[2,12,3,14,3],"type_ids":[0,0,0,1,1]}],"options":{)" + options), of_text);
  EXPECT_FALSE(of_text.empty());
  for (const char* wrong :
       {R"("ids":[2,9999])", R"("ids":[2,-1])", R"("ids":[2,3],"type_ids":[0])", R"("ids":[2],"type_ids":[9])"}) {
    EXPECT_TRUE(Inspect(*session, R"({"inputs":[{)" + std::string(wrong) + R"(}],"options":{)" + options)
                    .starts_with("invalid_argument"))
        << wrong;
  }
}

// Floats of all arrays of an inspection, in the order of its steps.
std::vector<float> FloatsOf(Session& session, const std::string& request) {
  EXPECT_TRUE(session.StartInspection(request).ok()) << request;
  std::vector<float> all;
  for (bool more = true; more;) {
    more = session.Step().value();
    EXPECT_TRUE(session.Take().ok());
    for (size_t i = 0; !session.array(i).empty(); ++i) {
      all.insert(all.end(), session.array(i).begin(), session.array(i).end());
    }
  }
  return all;
}

TEST(InspectorTest, SeveralInputsGiveWhatEachGivesAlone) {
  const std::vector<std::string> inputs = {R"({"text":"a1 a7 a3 a9 a9"})", R"({"ids":[2,12,3]})",
                                           R"({"text":"a7","text_pair":"a9"})"};
  const std::string all = inputs[0] + "," + inputs[1] + "," + inputs[2];
  for (const auto& backend : BackendsUnderTest()) {
    for (const char* name : {"tiny/bert-sequence", "tiny/convbert-sequence"}) {
      auto session = Load(name, backend.create());
      for (const char* parts : {R"("output_hidden_states":true,"layers":[-1],"output_logits":true)",
                                R"("output_attentions":true,"output_hidden_states":true)"}) {
        const std::string options = R"(],"options":{)" + std::string(parts) + "}}";
        std::vector<float> expected;
        for (const std::string& input : inputs) {
          const std::vector<float> one = FloatsOf(*session, R"({"inputs":[)" + input + options);
          expected.insert(expected.end(), one.begin(), one.end());
        }
        const std::vector<float> found = FloatsOf(*session, R"({"inputs":[)" + all + options);
        ASSERT_EQ(found.size(), expected.size()) << name << " " << parts;
        for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << name << " " << parts;
      }
    }
  }
}

TEST(InspectorTest, SeveralInputsShareABatch) {
  FakeModel model(LabelConfig({}), true, [](const ModelInput& input) { return std::vector<float>(input.ids.size()); });
  auto tokenizer = WordTokenizer("the dog");
  Collecting<Inspector> inspector({*tokenizer, model});
  for (const char* text : {"the dog", "dog", "the"}) inspector.request.inputs.push_back({{text, std::nullopt}});
  inspector.request.output_hidden_states = true;
  ASSERT_TRUE(RunToEnd(inspector).ok());
  EXPECT_EQ(model.runs, 1);
}

TEST(InspectorTest, ArraysAreTheModelsOwn) {
  for (const auto& backend : BackendsUnderTest()) {
    auto session = Load("tiny/convbert-sequence", backend.create());
    const std::string json = Inspect(*session, kAll);
    const Result<JsonDocument> document = JsonDocument::Parse(json);
    ASSERT_TRUE(document.ok()) << json;
    const JsonValue result = document->root()[0].FindMember("value");
    const auto tokens = static_cast<int64_t>(result.FindMember("tokens").size());
    ASSERT_EQ(tokens, 9);

    std::vector<bool> seen(7);
    const auto check = [&](std::string_view key, size_t count, std::vector<int64_t> dims) {
      const JsonValue arrays = result.FindMember(key);
      ASSERT_EQ(arrays.size(), count) << json;
      for (const JsonValue entry : arrays) {
        int64_t size = 1;
        std::vector<int64_t> found;
        for (const JsonValue dim : entry.FindMember("dims")) {
          found.push_back(*dim.GetInt64());
          size *= found.back();
        }
        EXPECT_EQ(found, dims);
        const auto index = static_cast<size_t>(*entry.FindMember("array").GetInt64());
        EXPECT_FALSE(seen[index]);
        seen[index] = true;
        EXPECT_EQ(static_cast<int64_t>(session->array(index).size()), size) << key;
      }
    };
    check("attentions", 2, {2, tokens, tokens});
    check("span_kernels", 2, {tokens, 2, 9});
    check("hidden_states", 3, {tokens, 32});
    EXPECT_TRUE(session->array(7).empty());

    const std::span<const float> maps = session->array(1);
    const double expected = DiagonalConcentration(maps.last(9 * 9), 9, 9);
    double found = 0;
    for (const JsonValue layer : result.FindMember("diagonal_concentration")) {
      for (const JsonValue head : layer) found = *head.GetDouble();
    }
    EXPECT_DOUBLE_EQ(found, expected);
  }
}

TEST(InspectorTest, ShortMapsHaveNoConcentration) {
  auto session = Load("tiny/convbert-sequence", CreateReferenceBackend());
  const std::string json = Inspect(*session, R"({"inputs":[{"text":"a1"}],"options":{"output_attentions":true}})");
  EXPECT_NE(json.find(R"("diagonal_concentration":[[null,null],[null,null]])"), std::string::npos) << json;
}

TEST(InspectorTest, WhatAModelLacksIsRefusedByName) {
  const auto expect = [](const std::string& result, std::string_view code, std::string_view mention) {
    EXPECT_TRUE(result.starts_with(code)) << result;
    EXPECT_NE(result.find(mention), std::string::npos) << result;
  };
  auto bert = Load("tiny/bert-sequence", CreateReferenceBackend());
  expect(Inspect(*bert, kAll), "unsupported", "output_span_kernels: a model of type bert");
  auto light = Load("conv/lightconv-sequence", CreateReferenceBackend());
  expect(Inspect(*light, kAll), "unsupported", "output_attentions: a model of type lightconv");
  EXPECT_EQ(Inspect(*bert, R"({"inputs":[]})"), "[]");
  expect(Inspect(*bert, R"({"inputs":[{"text":"a1"},{}]})"), "invalid_argument", "lacks the string \"text\"");
  expect(Inspect(*bert, R"({"inputs":[{"text":"a1"},{"ids":[]}]})"), "empty_text", "input 1");
  expect(Inspect(*bert, R"({"inputs":[{"text":"a1"}],"options":{"output_attentions":1}})"), "invalid_argument",
         "output_attentions");
  expect(Inspect(*bert, R"({"inputs":[{"text":"a1"}],"options":{"output_attentions":true,"layers":[7]}})"),
         "invalid_argument", "option layers holds 7, and the model has the layers 0 to 1");
  std::string text;
  for (int i = 0; i < 100; ++i) text += "a1 ";
  const std::string input = R"({"inputs":[{"text":")" + text + R"("}],"options":{"output_attentions":true)";
  expect(Inspect(*bert, input + "}}"), "text_too_long", "truncation");
  expect(Inspect(*bert, input + R"(,"truncation":true}})"), "[{\"input\":0,\"value\":{\"tokens\"",
         R"("dims":[4,64,64])");
  EXPECT_TRUE(ToEnd(*bert, bert->Start(R"({"inputs":[{"text":"a1"}]})")).starts_with("[{\"input\":0,\"value\":["));
}

TEST(InspectorTest, AnInspectionAndARunDoNotMix) {
  auto session = Load("tiny/convbert-sequence", CreateReferenceBackend());
  constexpr std::string_view kRun = R"({"inputs":[{"text":"a1 a7 a3"}]})";
  const std::string plain = ToEnd(*session, session->Start(kRun));
  ASSERT_TRUE(Inspect(*session, kAll).starts_with("[{\"input\""));
  EXPECT_FALSE(session->array(0).empty());
  EXPECT_EQ(ToEnd(*session, session->Start(kRun)), plain);
  EXPECT_TRUE(session->array(0).empty()) << "the arrays are gone with the run";
}

TEST(InspectorTest, ALookInsideScoresNoVocabulary) {
  FakeModel model(LabelConfig({}), true, [](const ModelInput& input) { return std::vector<float>(input.ids.size()); });
  auto tokenizer = WordTokenizer("the dog");
  Collecting<Inspector> inspector({*tokenizer, model});
  inspector.request.inputs.push_back({{"the dog the dog", std::nullopt}});
  inspector.request.output_hidden_states = true;
  ASSERT_TRUE(inspector.Start().ok());
  ASSERT_TRUE(inspector.Step().ok());
  EXPECT_EQ(model.outputs_asked, (std::vector<OutputId>{{OutputKind::kHidden, 0}})) << "and not the logits";
}

// Number of command words of a run: they contain every dispatch, buffer and download.
size_t RecordedWords(Session& session, WebGpuBackend& backend, const Status& started) {
  EXPECT_TRUE(started.ok()) << started.message();
  EXPECT_TRUE(session.BeginStep().value());
  backend.EndRecording();
  const size_t words = backend.commands().size();
  backend.ClearCommands();
  backend.Replayed();
  (void)session.EndStep();  // the results are not computed, so they may be anything
  return words;
}

TEST(InspectorTest, CostsNothingUnlessAskedFor) {
  std::unique_ptr<WebGpuBackend> owned = CreateWebGpuBackend();
  WebGpuBackend& backend = *owned;
  auto session = Load("tiny/convbert-sequence", std::move(owned));
  backend.ClearCommands();
  backend.Replayed();
  const std::string inputs = R"({"inputs":[{"text":"a1 a7 a3","text_pair":"a2 a5 a9"}])";
  const std::string request = inputs + "}";
  const auto run = [&] { return RecordedWords(*session, backend, session->Start(request)); };
  const size_t cold = run();  // creates buffers and pipelines
  const size_t warm = run();
  const int32_t dispatches = backend.dispatches();
  EXPECT_LT(warm, cold);
  // Each part adds commands to those of a plain run.
  for (const char* part : {"output_attentions", "output_span_kernels", "output_hidden_states"}) {
    const std::string asked = inputs + R"(,"options":{")" + part + R"(":true}})";
    EXPECT_NE(RecordedWords(*session, backend, session->StartInspection(asked)), warm) << part;
    EXPECT_EQ(run(), warm) << "after " << part;
    EXPECT_EQ(backend.dispatches(), dispatches) << "after " << part;
  }
}

TEST(InspectorTest, TermsAddUpToTheAttention) {
  constexpr std::string_view kRequest =
      R"({"inputs":[{"text":"t1 t7 t3"}],"options":{"output_attentions":true,"output_attention_terms":true,"layers":[1]}})";
  for (const auto& backend : BackendsUnderTest()) {
    Session session(backend.create());
    ASSERT_TRUE(session.AddFile("config.json", ReadFixture("tiny/deberta-v2-sequence/config.json")).ok());
    ASSERT_TRUE(session.AddFile("tokenizer.json", ReadFixture("sharded/tokenizer.json")).ok());
    ASSERT_TRUE(session.Open(R"({"task":"text-classification"})").ok());
    ASSERT_TRUE(session.FeedWeights(Bytes(ReadFixture("tiny/deberta-v2-sequence/model.safetensors"))).ok());
    ASSERT_TRUE(session.FinishWeights().ok());
    const std::string json = Inspect(session, kRequest);
    for (const char* name : {"content_to_content", "content_to_position", "position_to_content"}) {
      EXPECT_NE(json.find("\"" + std::string(name) + "\""), std::string::npos) << json;
    }
    // Each [heads, tokens, tokens]: the map, then three terms.
    constexpr size_t kHeads = 4, kTokens = 3;
    for (size_t i = 0; i < 4; ++i) ASSERT_EQ(session.array(i).size(), kHeads * kTokens * kTokens) << i;
    EXPECT_TRUE(session.array(4).empty()) << "one layer was asked for";
    for (size_t row = 0; row < kHeads * kTokens * kTokens; row += kTokens) {
      double scores[kTokens], total = 0;
      for (size_t j = 0; j < kTokens; ++j) {
        scores[j] = 0;
        for (size_t term = 1; term < 4; ++term) scores[j] += double{session.array(term)[row + j]};
        total += std::exp(scores[j]);
      }
      for (size_t j = 0; j < kTokens; ++j) {
        EXPECT_NEAR(session.array(0)[row + j], std::exp(scores[j]) / total, 1e-5) << backend.name << " " << row + j;
      }
    }
  }
  auto convbert = Load("tiny/convbert-sequence", CreateReferenceBackend());
  EXPECT_EQ(Inspect(*convbert, R"({"inputs":[{"text":"a1"}],"options":{"output_attention_terms":true}})"),
            "unsupported: output_attention_terms: the scores of a model of type convbert are no sums of content and "
            "position; deberta and deberta-v2 have such");
}

}  // namespace
}  // namespace peruse
