#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"
#include "tests/native/weights/safetensors_writer.h"

namespace peruse {
namespace {

using testing::BackendsUnderTest;
using testing::Bytes;
using testing::ReadFixture;

constexpr std::string_view kOpenClassifier = R"({"task":"text-classification"})";
constexpr std::string_view kClassify = R"({"inputs":[{"text":"t1 t7 t3"}],"options":{"top_k":null}})";

std::unique_ptr<Session> Open(const std::string& config, const std::string& adapter = "",
                              std::string_view request = kOpenClassifier) {
  auto session = std::make_unique<Session>(CreateReferenceBackend());
  EXPECT_TRUE(session->AddFile("config.json", config).ok());
  EXPECT_TRUE(session->AddFile("tokenizer.json", ReadFixture("sharded/tokenizer.json")).ok());
  if (!adapter.empty()) EXPECT_TRUE(session->AddFile("adapter_config.json", adapter).ok());
  const Status opened = session->Open(request);
  EXPECT_TRUE(opened.ok()) << opened.message();
  return session;
}

std::string FinishAndRun(Session& session) {
  const Result<std::string> report = session.FinishWeights();
  return report.ok() ? RunToEnd(session, kClassify) : Describe(report.status());
}

std::map<std::string, double> Scores(const std::string& results) {
  std::map<std::string, double> scores;
  const auto document = JsonDocument::Parse(results);
  EXPECT_TRUE(document.ok()) << results;
  if (!document.ok()) return scores;
  for (JsonValue item : document->root()[0].FindMember("value")) {
    scores[std::string(*item.FindMember("label").GetString())] = *item.FindMember("score").GetDouble();
  }
  return scores;
}

const std::string kWhole = "tiny/deberta-v2-sequence/";

std::string ResultOfWhole() {
  auto session = Open(ReadFixture(kWhole + "config.json"));
  EXPECT_TRUE(session->FeedWeights(Bytes(ReadFixture(kWhole + "model.safetensors"))).ok());
  return FinishAndRun(*session);
}

TEST(SessionLoading, ShardsAreTheWholeFile) {
  auto session = Open(ReadFixture("sharded/config.json"));
  const Result<std::string> files = session->SetShardIndex(ReadFixture("sharded/model.safetensors.index.json"));
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_EQ(
      *files,
      R"(["model-00001-of-00003.safetensors","model-00002-of-00003.safetensors","model-00003-of-00003.safetensors"])");
  for (const char* number : {"1", "2", "3"}) {
    const std::string shard = ReadFixture("sharded/model-0000" + std::string(number) + "-of-00003.safetensors");
    ASSERT_TRUE(session->FeedWeights(Bytes(shard)).ok());
    ASSERT_TRUE(session->EndShard().ok());
  }
  EXPECT_EQ(FinishAndRun(*session), ResultOfWhole());
}

TEST(SessionLoading, ShardsThatDoNotFitAreRefused) {
  const std::string config = ReadFixture("sharded/config.json");
  EXPECT_EQ(Open(config)->SetShardIndex("{}").status().code(), StatusCode::kMalformedFile);

  auto cut = Open(config);  // the first shard is incomplete
  ASSERT_TRUE(cut->SetShardIndex(ReadFixture("sharded/model.safetensors.index.json")).ok());
  const std::string shard = ReadFixture("sharded/model-00001-of-00003.safetensors");
  ASSERT_TRUE(cut->FeedWeights(Bytes(shard).first(shard.size() - 1)).ok());
  EXPECT_EQ(cut->EndShard().code(), StatusCode::kTruncatedFile);
  EXPECT_EQ(cut->FeedWeights({}).code(), StatusCode::kInvalidArgument) << "a session whose loading failed goes on";

  auto missing = Open(config);  // two shards of three
  ASSERT_TRUE(missing->SetShardIndex(ReadFixture("sharded/model.safetensors.index.json")).ok());
  for (const char* number : {"1", "2"}) {
    ASSERT_TRUE(
        missing->FeedWeights(Bytes(ReadFixture("sharded/model-0000" + std::string(number) + "-of-00003.safetensors")))
            .ok());
    ASSERT_TRUE(missing->EndShard().ok());
  }
  EXPECT_FALSE(missing->FinishWeights().ok());

  Session early(CreateReferenceBackend());
  EXPECT_EQ(early.SetShardIndex("{}").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(early.EndShard().code(), StatusCode::kInvalidArgument);
}

TEST(SessionLoading, AnAdapterIsMergedAsPeftMergesIt) {
  const std::string config = ReadFixture(kWhole + "config.json"), folder = "adapters/linear/";
  auto merged = Open(config);
  ASSERT_TRUE(merged->FeedWeights(Bytes(ReadFixture(folder + "merged.safetensors"))).ok());
  const std::map<std::string, double> wanted = Scores(FinishAndRun(*merged));
  ASSERT_FALSE(wanted.empty());

  const std::string adapter = ReadFixture(folder + "adapter_model.safetensors");
  const std::string weights = ReadFixture(kWhole + "model.safetensors");
  for (const size_t chunk : {size_t{1} << 20, size_t{101}}) {
    auto session = Open(config, ReadFixture(folder + "adapter_config.json"));
    for (size_t at = 0; at < adapter.size(); at += chunk) {
      ASSERT_TRUE(session->FeedAdapter(Bytes(adapter).subspan(at, std::min(chunk, adapter.size() - at))).ok());
    }
    EXPECT_EQ(session->FeedWeights(Bytes(weights)).code(), StatusCode::kInvalidArgument) << "the adapter is not whole";
    ASSERT_TRUE(session->FinishAdapter().ok());
    EXPECT_EQ(session->FinishAdapter().code(), StatusCode::kInvalidArgument) << "finished twice";
    ASSERT_TRUE(session->FeedWeights(Bytes(weights)).ok());
    const std::map<std::string, double> found = Scores(FinishAndRun(*session));
    ASSERT_EQ(found.size(), wanted.size());
    for (const auto& [label, score] : wanted) EXPECT_NEAR(found.at(label), score, 1e-5) << label;
  }
  double moved = 0;
  for (const auto& [label, score] : Scores(ResultOfWhole()))
    moved = std::max(moved, std::fabs(score - wanted.at(label)));
  EXPECT_GT(moved, 1e-3) << "the adapter changes nothing";
}

// An adapter for five labels; the base does not have a head, and its config.json does not mention labels.
TEST(SessionLoading, AnAdapterHasItsOwnNumberOfLabels) {
  const std::string base = "tiny/deberta-v2-bare/", folder = "adapters/labels/";
  std::string config = ReadFixture(base + "config.json");
  const auto load = [&](std::string_view request) {
    auto session = Open(config, ReadFixture(folder + "adapter_config.json"), request);
    EXPECT_TRUE(session->FeedAdapter(Bytes(ReadFixture(folder + "adapter_model.safetensors"))).ok());
    return session;
  };
  const auto run = [](Session& session) {
    const Result<std::string> report = session.FinishWeights();
    const std::string all = R"({"inputs":[{"text":"t1 t7 t3"}],"options":{"ignore_labels":[]}})";
    return report.ok() ? RunToEnd(session, all) : Describe(report.status());
  };
  const auto adapted = [&](std::string_view request) {
    auto session = load(request);
    const Status finished = session->FinishAdapter();
    EXPECT_TRUE(finished.ok()) << finished.message();
    const Status fed = session->FeedWeights(Bytes(ReadFixture(base + "model.safetensors")));
    EXPECT_TRUE(fed.ok()) << fed.message();
    return run(*session);
  };
  const std::string found = adapted(R"({"task":"token-classification"})");
  EXPECT_NE(found.find("\"LABEL_"), std::string::npos) << found;
  const std::string named = adapted(R"({"task":"token-classification","id2label":["A","B","C","D","E"]})");
  EXPECT_EQ(named.find("LABEL_"), std::string::npos) << named;

  auto fewer = load(R"({"task":"token-classification","id2label":["A","B"]})");
  const Status refused = fewer->FinishAdapter();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("Option id2label names 2 labels, and the adapter's classifier has 5."),
            std::string::npos)
      << refused.message();

  config.insert(config.find('{') + 1, R"("id2label":{"0":"A","1":"B","2":"C","3":"D","4":"E"},)");
  auto merged = Open(config, "", R"({"task":"token-classification"})");
  ASSERT_TRUE(merged->FeedWeights(Bytes(ReadFixture(folder + "merged.safetensors"))).ok());
  const std::string wanted = run(*merged);
  const auto digits = [](std::string text) {  // drops the last digits of scores
    std::string kept;
    size_t run_of_digits = 0;
    for (const char c : text) {
      run_of_digits = c >= '0' && c <= '9' ? run_of_digits + 1 : 0;
      if (run_of_digits < 5) kept.push_back(c);
    }
    return kept;
  };
  EXPECT_EQ(digits(named), digits(wanted));
}

// The numbers in a result, in order.
std::vector<double> Numbers(const std::string& json) {
  std::vector<double> numbers;
  for (const char* at = json.c_str(); *at != '\0';) {
    char* end = nullptr;
    const double number = *at == '-' || (*at >= '0' && *at <= '9') ? std::strtod(at, &end) : 0;
    if (end == nullptr || end == at) {
      ++at;
      continue;
    }
    numbers.push_back(number);
    at = end;
  }
  return numbers;
}

// The base model has embeddings for three tokens fewer than the adapter was trained with (resize_token_embeddings).
TEST(SessionLoading, AnAdapterThatWasTrainedAfterTokensWereAdded) {
  struct Form {
    const char* adapter;
    const char* base;
    const char* task;
    int tokens;  // of the base
  };
  constexpr char kTokens[] = R"({"task":"token-classification"})", kFill[] = R"({"task":"fill-mask"})";
  const Form forms[] = {
      {"resized", "bert-token", kTokens, 48},
      {"resized-module", "bert-token", kTokens, 48},
      {"resized-factors", "electra-sequence", R"({"task":"text-classification"})", 48},
      {"resized-tied", "bert-masked-lm", kFill, 48},
      {"resized-untied", "bert-masked-lm-untied", kFill, 24},
  };
  for (const Form& form : forms) {
    SCOPED_TRACE(form.adapter);
    const std::string base = "tiny/" + std::string(form.base) + "/",
                      folder = "adapters/" + std::string(form.adapter) + "/";
    const auto open = [&](const std::string& config, bool adapted) {
      std::string vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
      for (int i = 5; i < form.tokens + 3; ++i) vocab += "a" + std::to_string(i) + "\n";
      auto session = std::make_unique<Session>(CreateReferenceBackend());
      EXPECT_TRUE(session->AddFile("config.json", config).ok());
      EXPECT_TRUE(session->AddFile("vocab.txt", vocab).ok());
      EXPECT_TRUE(session->AddFile("tokenizer_config.json", "{}").ok());
      if (adapted) {
        EXPECT_TRUE(session->AddFile("adapter_config.json", ReadFixture(folder + "adapter_config.json")).ok());
      }
      const Status opened = session->Open(form.task);
      EXPECT_TRUE(opened.ok()) << opened.message();
      return session;
    };
    const auto run = [&](Session& session) {
      const std::string all = std::string(form.task) == kFill     ? R"("options":{"top_k":50})"
                              : std::string(form.task) == kTokens ? R"("options":{"ignore_labels":[]})"
                                                                  : R"("options":{"top_k":null})";
      const Result<std::string> report = session.FinishWeights();
      const std::string last = "a" + std::to_string(form.tokens + 2);
      return report.ok() ? RunToEnd(session, R"({"inputs":[{"text":"a5 )" + last + " [MASK] a7\"}]," + all + "}")
                         : Describe(report.status());
    };
    const std::string config = ReadFixture(base + "config.json");
    auto session = open(config, true);
    ASSERT_TRUE(session->FeedAdapter(Bytes(ReadFixture(folder + "adapter_model.safetensors"))).ok());
    const Status finished = session->FinishAdapter();
    ASSERT_TRUE(finished.ok()) << finished.message();
    const Status fed = session->FeedWeights(Bytes(ReadFixture(base + "model.safetensors")));
    ASSERT_TRUE(fed.ok()) << fed.message();
    const std::string found = run(*session);

    std::string resized = config;
    const size_t at = resized.find("\"vocab_size\": ") + 14;
    resized.replace(at, 2, std::to_string(form.tokens + 3));
    auto merged = open(resized, false);
    const Status whole = merged->FeedWeights(Bytes(ReadFixture(folder + "merged.safetensors")));
    ASSERT_TRUE(whole.ok()) << whole.message();
    const std::string wanted = run(*merged);
    const std::vector<double> numbers = Numbers(found), expected = Numbers(wanted);
    ASSERT_GT(expected.size(), 3u) << wanted;
    ASSERT_EQ(numbers.size(), expected.size()) << found << wanted;
    for (size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], 1e-4) << found << wanted;
  }
}

TEST(SessionLoading, AnAdapterWithoutTheEmbeddingsOfItsTokensIsRefused) {
  auto session = std::make_unique<Session>(CreateReferenceBackend());
  ASSERT_TRUE(session->AddFile("config.json", ReadFixture("tiny/bert-token/config.json")).ok());
  std::string vocab = Vocabulary() + "one\ntwo\n";
  ASSERT_TRUE(session->AddFile("vocab.txt", vocab).ok());
  ASSERT_TRUE(session->AddFile("tokenizer_config.json", "{}").ok());
  ASSERT_TRUE(session->AddFile("adapter_config.json", ReadFixture("adapters/patterns/adapter_config.json")).ok());
  ASSERT_TRUE(session->Open(R"({"task":"token-classification"})").ok());
  ASSERT_TRUE(session->FeedAdapter(Bytes(ReadFixture("adapters/patterns/adapter_model.safetensors"))).ok());
  const Status refused = session->FinishAdapter();
  EXPECT_EQ(refused.code(), StatusCode::kShapeMismatch);
  EXPECT_NE(refused.message().find("the tokenizer gives ids up to 49"), std::string::npos) << refused.message();
}

TEST(SessionLoading, AnAdapterThatPartsTiedEmbeddingsIsRefused) {
  for (const char* name : {"base_model.model.bert.embeddings.word_embeddings.modules_to_save.weight",
                           "base_model.model.cls.predictions.decoder.weight"}) {
    testing::SafetensorsWriter writer;
    writer.Add(name, {48, 32}, std::vector<float>(48 * 32, 1));
    auto session = Open(ReadFixture("tiny/bert-masked-lm/config.json"), R"({"peft_type":"LORA","lora_alpha":1,"r":1})",
                        R"({"task":"fill-mask"})");
    ASSERT_TRUE(session->FeedAdapter(Bytes(writer.File())).ok());
    const Status refused = session->FinishAdapter();
    EXPECT_EQ(refused.code(), StatusCode::kUnsupported) << refused.message();
    EXPECT_NE(refused.message().find("tie_word_embeddings"), std::string::npos) << refused.message();
  }
}

TEST(SessionLoading, AdaptersOutOfPlaceAreRefused) {
  auto without = Open(ReadFixture(kWhole + "config.json"));
  EXPECT_EQ(without->FeedAdapter({}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(without->FinishAdapter().code(), StatusCode::kInvalidArgument);
  auto broken = Open(ReadFixture(kWhole + "config.json"), ReadFixture("adapters/linear/adapter_config.json"));
  const std::string adapter = ReadFixture("adapters/linear/adapter_model.safetensors");
  ASSERT_TRUE(broken->FeedAdapter(Bytes(adapter).first(adapter.size() / 2)).ok());
  EXPECT_EQ(broken->FinishAdapter().code(), StatusCode::kTruncatedFile);
  auto foreign = Open(ReadFixture(kWhole + "config.json"), ReadFixture("adapters/linear/adapter_config.json"));
  EXPECT_EQ(foreign->FeedAdapter(Bytes("<!doctype html>")).code(), StatusCode::kMalformedFile);
  EXPECT_EQ(foreign->FinishAdapter().message(), "finishAdapter was called on a session whose loading failed");
}

TEST(SessionLoading, AHeadMaskHasANumberForEachHead) {
  auto session = Open(ReadFixture(kWhole + "config.json"));
  ASSERT_TRUE(session->FeedWeights(Bytes(ReadFixture(kWhole + "model.safetensors"))).ok());
  const std::string plain = FinishAndRun(*session);
  const auto with = [&](const std::string& mask) {
    return RunToEnd(*session, R"({"inputs":[{"text":"t1 t7 t3"}],"options":{"top_k":null,"head_mask":)" + mask + "}}");
  };
  EXPECT_EQ(with("[[1,1,1,1],[1,1,1,1]]"), plain);
  const std::string first = with("[[0,1,1,1],[1,1,1,1]]"), second = with("[[1,1,1,1],[0,1,1,1]]");
  EXPECT_TRUE(first.starts_with("[{\"input\":0")) << first;
  EXPECT_NE(first, plain);
  EXPECT_NE(second, plain);
  EXPECT_NE(first, second);
  // The first list belongs to the first layer. A mask of the second layer does not change the first layer's result.
  const auto hidden = [&](const std::string& mask, size_t layer) {
    EXPECT_TRUE(ToEnd(*session, session->StartInspection(R"({"inputs":[{"text":"t1 t7 t3"}],"options":{"head_mask":)" +
                                                         mask + R"(,"output_hidden_states":true}})"))
                    .starts_with("[{"));
    const std::span<const float> values = session->array(layer);
    return std::vector<float>(values.begin(), values.end());
  };
  const std::string ones = "[[1,1,1,1],[1,1,1,1]]", of_second = "[[1,1,1,1],[0,1,1,1]]";
  EXPECT_FALSE(hidden(ones, 1).empty());
  EXPECT_EQ(hidden(of_second, 1), hidden(ones, 1));
  EXPECT_NE(hidden(of_second, 2), hidden(ones, 2));
  for (const char* mask : {"[[1,1,1,1]]", "[[1,1,1,1],[1,1,1]]", "[[1,1,1,1],[1,1,1,1],[1,1,1,1]]", "[]"}) {
    EXPECT_TRUE(
        with(mask).starts_with("invalid_argument: option head_mask must be a list for each of the model's 2 layers"))
        << with(mask);
  }
  EXPECT_EQ(with(R"([["x"]])"), R"(invalid_argument: option head_mask holds "x", which is no number)");
  EXPECT_EQ(RunToEnd(*session, kClassify), plain) << "a mask is of its own request alone";
}

class Linears : public RunObserver {
 public:
  void Begin(const Program& program, const RunInputs& inputs) override {
    program_ = &program;
    tokens = inputs.batch.rows();
    found.clear();
  }
  void Ran(const Op& op) override {
    if (const LinearId id = LinearOf(op); id.valid()) found.push_back(program_->linears[static_cast<size_t>(id.id)]);
  }
  std::vector<LinearSpec> found;
  int32_t tokens = 0;

 private:
  const Program* program_ = nullptr;
};

TEST(SpeedProbe, RunsLayersOfTheModelsOwnSize) {
  for (const char* name : {"bert-sequence", "convbert-sequence", "deberta-v2-sequence", "deberta-v1-sequence",
                           "electra-sequence", "distilbert-sequence", "mpnet-sequence", "roberta-sequence"}) {
    for (const auto& backend : BackendsUnderTest()) {
      for (const auto& [dtype, precision] :
           {std::pair{"auto", Precision::kF32}, std::pair{"f16", Precision::kF16}, std::pair{"q8", Precision::kQ8}}) {
        SCOPED_TRACE(std::string(name) + " " + backend.name + " " + dtype);
        std::unique_ptr<Backend> made = backend.create();
        Linears linears;
        made->set_observer(&linears);
        Session session(std::move(made));
        ASSERT_TRUE(session.AddFile("config.json", ReadFixture("tiny/" + std::string(name) + "/config.json")).ok());
        std::vector<size_t> counts;
        for (const int32_t layers : {1, 2, 3, 0}) {
          const Result<int32_t> probed = session.Probe(layers, dtype);
          ASSERT_TRUE(probed.ok()) << probed.status().message();
          EXPECT_EQ(*probed, 2) << "the model's own layers";
          EXPECT_EQ(linears.tokens, 64);
          for (const LinearSpec& spec : linears.found) EXPECT_EQ(spec.precision, precision);
          counts.push_back(linears.found.size());
        }
        EXPECT_GE(counts[1] - counts[0], 4u) << "linears of a layer";
        EXPECT_EQ(counts[2] - counts[1], counts[1] - counts[0]);
        EXPECT_EQ(counts[3], counts[1]) << "0: as many as the model has";
        EXPECT_EQ(session.Open(kOpenClassifier).code(), StatusCode::kInvalidArgument);
      }
    }
  }
}

TEST(SpeedProbe, NeedsAConfigurationAndAKnownPrecision) {
  Session session(CreateReferenceBackend());
  EXPECT_EQ(session.Probe(1, "auto").status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(session.AddFile("config.json", ReadFixture(kWhole + "config.json")).ok());
  EXPECT_EQ(session.Probe(1, "q3").status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(session.Probe(1, "auto").ok());
  Session foreign(CreateReferenceBackend());
  ASSERT_TRUE(foreign.AddFile("config.json", R"({"model_type":"llama"})").ok());
  EXPECT_EQ(foreign.Probe(1, "auto").status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace peruse
