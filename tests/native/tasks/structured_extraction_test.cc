#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/backend/reference/reference_backend.h"
#include "core/tasks/labels/gliner2_schema.h"
#include "core/tasks/text_span.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

using testing::BackendsUnderTest;
using testing::Bytes;
using testing::ReadFixture;

constexpr double kTolerance = 2e-5;  // for probabilities; logits are exact to about 1e-5

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// config.json, with the encoder's configuration as the host inserts it.
std::string ConfigOf(const std::string& variant) {
  std::string config = ReadFixture("gliner2/" + variant + "/config.json");
  return config.insert(
      config.find('{') + 1,
      "\"encoder_config\": " + ReadFixture("gliner2/" + variant + "/encoder_config/config.json") + ",");
}

std::string Load(Session& session, const std::string& variant, const std::string& config,
                 const std::string& task = "structured-extraction") {
  Status status = session.AddFile("config.json", config);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    if (status.ok()) status = session.AddFile(name, ReadFixture(std::string("gliner2/tokenizer/") + name));
  }
  if (status.ok()) status = session.Open("{\"task\":\"" + task + "\"}");
  if (status.ok()) status = session.FeedWeights(Bytes(ReadFixture("gliner2/" + variant + "/model.safetensors")));
  if (!status.ok()) return Describe(status);
  const Result<std::string> report = session.FinishWeights();
  return report.ok() ? "ok" : Describe(report.status());
}

std::string Request(JsonValue text, JsonValue schema, JsonValue threshold) {
  return "{\"inputs\":[{\"text\":" + text.ToString() + "}],\"options\":{\"schema\":" + schema.ToString() +
         ",\"threshold\":" + threshold.ToString() + "}}";
}

std::string RunSchema(Session& session, std::string_view text, std::string_view schema) {
  std::string json = "{\"inputs\":[{\"text\":";
  JsonWriter(&json).String(text);
  return RunToEnd(session, json + "}],\"options\":{\"schema\":" + std::string(schema) + "}}");
}

// Compares numbers with kTolerance if they are confidences, and everything else exactly.
void ExpectAlike(JsonValue found, JsonValue expected, const std::string& what) {
  ASSERT_EQ(found.type(), expected.type()) << what << "\n" << found.ToString() << "\n" << expected.ToString();
  ASSERT_EQ(found.size(), expected.size()) << what << "\n" << found.ToString() << "\n" << expected.ToString();
  for (size_t i = 0; found.IsArray() && i < found.size(); ++i) ExpectAlike(found[i], expected[i], what);
  for (size_t i = 0; found.IsObject() && i < found.size(); ++i) {
    const std::string_view name = found.MemberName(i);
    const JsonValue wanted = expected.FindMember(name);
    if (name == "confidence" && wanted.IsNumber()) {
      EXPECT_NEAR(*found.MemberValue(i).GetDouble(), *wanted.GetDouble(), kTolerance) << what;
    } else {
      ExpectAlike(found.MemberValue(i), wanted, what + " " + std::string(name));
    }
  }
  if (!found.IsArray() && !found.IsObject()) EXPECT_EQ(found.ToString(), expected.ToString()) << what;
}

class Gliner2Test : public ::testing::TestWithParam<const char*> {};

TEST_P(Gliner2Test, ExtractsWhatThePackageExtracts) {
  const std::string variant = GetParam();
  const std::string file = ReadFixture("gliner2/" + variant + "/expected.json");
  const Result<JsonDocument> expected = JsonDocument::Parse(file);
  ASSERT_TRUE(expected.ok());
  for (const auto& backend : BackendsUnderTest()) {
    Session session(backend.create());
    ASSERT_EQ(Load(session, variant, ConfigOf(variant)), "ok") << backend.name;
    for (const JsonValue request : expected->root().FindMember("requests")) {
      const JsonValue schema =
          expected->root().FindMember("schemas").FindMember(*request.FindMember("schema").GetString());
      const std::string json = Request(request.FindMember("text"), schema, request.FindMember("threshold"));
      const std::string result = RunToEnd(session, json);
      const std::string parts = LastParts(result);
      const Result<JsonDocument> document = JsonDocument::Parse(parts);
      ASSERT_TRUE(document.ok()) << json << "\n" << result;
      ExpectAlike(document->root()[0].FindMember("value"), request.FindMember("result"), backend.name + " " + json);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Gliner2Test, ::testing::Values("lstm", "lstm-v2", "mean", "max", "modernbert"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SplitSchemaText, FindsTheWordsOfThePackage) {
  const std::string file = ReadFixture("gliner2/words.json");
  const Result<JsonDocument> items = JsonDocument::Parse(file);
  ASSERT_TRUE(items.ok());
  ASSERT_GT(items->root().size(), 8u);
  for (const JsonValue item : items->root()) {
    const std::string text(*item.FindMember("text").GetString());
    const std::vector<text::Offset> found = SplitSchemaText(text);
    const JsonValue words = item.FindMember("words");
    ASSERT_EQ(found.size(), words.size()) << text;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].start, *words[i][0].GetInt64()) << text;
      EXPECT_EQ(found[i].end, *words[i][1].GetInt64()) << text;
      EXPECT_EQ(Lowered(Slice(text, found[i])), *words[i][2].GetString());
    }
  }
}

// An address is looked for at each word, but a run of its characters is read once.
TEST(SplitSchemaText, ReadsLongTextsInLinearTime) {
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += "a.";
  EXPECT_EQ(SplitSchemaText(text).size(), 1'000'000u);
}

// Several texts: their readings do not mix.
TEST(Gliner2, ReadsTextsInTurn) {
  const std::string file = ReadFixture("gliner2/lstm/expected.json");
  const Result<JsonDocument> expected = JsonDocument::Parse(file);
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "lstm", ConfigOf("lstm")), "ok");
  std::string inputs, wanted;
  for (const JsonValue request : expected->root().FindMember("requests")) {
    if (*request.FindMember("schema").GetString() != "all" || *request.FindMember("threshold").GetDouble() != 0.5)
      continue;
    inputs += (inputs.empty() ? "" : ",") + ("{\"text\":" + request.FindMember("text").ToString() + "}");
  }
  const std::string schema = expected->root().FindMember("schemas").FindMember("all").ToString();
  const std::string result = RunToEnd(session, "{\"inputs\":[" + inputs + "],\"options\":{\"schema\":" + schema + "}}");
  size_t parts = 0;
  for (size_t at = 0; (at = result.find("{\"input\":", at)) != std::string::npos; ++at) ++parts;
  EXPECT_EQ(parts, static_cast<size_t>(std::count(inputs.begin(), inputs.end(), '{'))) << result;
}

TEST(Gliner2, ServesTheZeroShotTasks) {
  Session entities(CreateReferenceBackend());
  ASSERT_EQ(Load(entities, "lstm", ConfigOf("lstm"), "zero-shot-token-classification"), "ok");
  const std::string found = RunToEnd(
      entities,
      R"({"inputs":[{"text":"Tim Cook runs Apple"},{"text":" "}],"options":{"labels":["person","city"],"threshold":0}})");
  EXPECT_NE(found.find("\"label\":\"city\""), std::string::npos) << found;
  EXPECT_NE(found.find("{\"input\":1,\"value\":[]}"), std::string::npos) << found;
  Session labels(CreateReferenceBackend());
  ASSERT_EQ(Load(labels, "lstm", ConfigOf("lstm"), "zero-shot-classification"), "ok");
  const std::string scores =
      RunToEnd(labels, R"({"inputs":[{"text":"Good"}],"options":{"candidate_labels":["happy","sad"]}})");
  EXPECT_NE(scores.find("\"scores\":["), std::string::npos) << scores;
  Session other(CreateReferenceBackend());
  EXPECT_EQ(Load(other, "lstm", ConfigOf("lstm"), "fill-mask"),
            "unsupported: the checkpoint is a GLiNER2, which reads a schema: it is not for fill-mask");
}

struct BadSchema {
  const char* schema;
  const char* message;
};

// gliner2 reads an empty text as ".".
TEST(Gliner2, FindsNothingInAnEmptyText) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "lstm", ConfigOf("lstm")), "ok");
  const std::string schema = R"({"entities":["a"],"classifications":[{"task":"b","labels":["c","d"]}]})";
  const std::string empty = RunSchema(session, "", schema);
  EXPECT_NE(empty.find("\"b\""), std::string::npos) << empty;
  EXPECT_EQ(empty.find("\"text\""), std::string::npos) << empty;
  EXPECT_EQ(empty, RunSchema(session, " \n", schema));
  EXPECT_EQ(empty, RunSchema(session, ".", schema));
}

TEST(Gliner2, RefusesSchemasThatItCannotRead) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "lstm", ConfigOf("lstm")), "ok");
  const BadSchema cases[] = {
      {"{}", "invalid_argument: option schema must name something to find"},
      {"7", "invalid_argument: option schema must be an object, not 7"},
      {R"({"entity":["a"]})", "invalid_argument: option schema has \"entity\", which is unknown"},
      {R"({"entities":["a"],"entity_attributes":{}})",
       "unsupported: option schema has \"entity_attributes\", which is not supported"},
      {R"({"entities":[]})",
       "invalid_argument: entities of the schema must be a list of names, or an object with names"},
      {R"({"entities":[7]})", "invalid_argument: entities of the schema must be names, not 7"},
      {R"({"entities":["a","a"]})", "invalid_argument: \"entities\" of the schema names \"a\" twice"},
      {R"({"entities":[" "]})", "invalid_argument: a field of the schema has no name"},
      {R"({"entities":["a [E] b"]})", "invalid_argument: the field \"a [E] b\" contains a marker of the model"},
      {R"({"entities":{"a":{"threshold":2}}})",
       "invalid_argument: the threshold of \"a\" must be a number from 0 to 1"},
      {R"({"entities":{"a":{"kind":2}}})", "invalid_argument: \"a\" of the schema has \"kind\", which is unknown"},
      {R"({"structures":{"a":{"fields":[{"name":"b"}],"mode":"natural"}}})",
       "unsupported: structure \"a\" has \"mode\", which is not supported"},
      {R"({"structures":{"a":{"fields":[]}}})", "invalid_argument: \"a\" of the schema has no fields"},
      {R"({"structures":{"entities":{"fields":[{"name":"b"}]}}})",
       "invalid_argument: the schema calls a part \"entities\", which the result uses itself"},
      {R"({"relations":["a"],"classifications":[{"task":"a","labels":["b"]}]})",
       "invalid_argument: the schema has two parts called \"a\""},
      {R"({"classifications":[{"task":"a","labels":["b","c"],"examples":[["x"]]}]})",
       "invalid_argument: examples of \"a\" must be pairs of a text and a label"},
      {R"({"classifications":[{"task":"a","labels":["b","c"],"class_act":"tanh"}]})",
       "invalid_argument: option class_act must be \"auto\", \"sigmoid\" or \"softmax\", not \"tanh\""},
  };
  for (const BadSchema& it : cases) EXPECT_EQ(RunSchema(session, "A text.", it.schema), it.message) << it.schema;
  EXPECT_EQ(RunSchema(session, std::string(20000, 'a'), R"({"entities":["a"]})"),
            "text_too_long: the schema and the words of input 0 leave no room: 4096 tokens are read at once");
}

// Spans of 64 words leave windows of 256 words.
TEST(Gliner2, LongTextsAreReadInWindows) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "lstm", Replaced(ConfigOf("lstm"), "\"max_width\": 4", "\"max_width\": 64")), "ok");
  const std::vector<std::string> some = {"Anna", "wrote", "to", "the", "bank", "in", "Berlin", "on", "Monday", "and"};
  std::string text;
  for (size_t i = 0; i < 600; ++i) text += some[(i * i + i / 7) % some.size()] + (i == 599 ? "." : " ");
  const std::string schema =
      R"({"entities":["person","city"],"classifications":[{"task":"kind","labels":["letter","note"]}]})";
  const std::string result = LastParts(RunSchema(session, text, schema));
  const auto document = JsonDocument::Parse(result);
  ASSERT_TRUE(document.ok()) << result.substr(0, 500);
  const JsonValue parts = document->root()[0].FindMember("value");
  size_t last_start = 0, found = 0;
  const std::function<void(JsonValue)> visit = [&](JsonValue value) {
    for (size_t i = 0; i < value.size(); ++i) visit(value.IsArray() ? value[i] : value.MemberValue(i));
    const std::optional<int64_t> start = value.FindMember("start").GetInt64(), end = value.FindMember("end").GetInt64();
    if (!start || !end) return;
    EXPECT_EQ(value.FindMember("text").GetString(),
              text.substr(static_cast<size_t>(*start), static_cast<size_t>(*end - *start)));
    last_start = std::max(last_start, static_cast<size_t>(*start));
    ++found;
  };
  visit(parts);
  EXPECT_GT(found, 10u) << result.substr(0, 500);
  EXPECT_GT(last_start, text.size() * 9 / 10) << "nothing was found in the last window";
  EXPECT_NE(result.find("kind"), std::string::npos);
}

// Files with wrong shapes, other architectures and missing parts.
TEST(Gliner2, RefusesFilesThatItCannotRun) {
  const auto opened = [](const std::string& config, const std::string& task = "structured-extraction") {
    Session session(CreateReferenceBackend());
    return Load(session, "lstm", config, task);
  };
  const std::string config = ConfigOf("lstm");
  const auto with = [&](const std::string& member) { return Replaced(config, "{", "{" + member + ","); };
  EXPECT_EQ(opened(ReadFixture("gliner2/lstm/config.json")),
            "not_found: config.json is that of a GLiNER2, and encoder_config/config.json was not given");
  EXPECT_EQ(opened(Replaced(config, "\"architecture\": \"span\"", "\"architecture\": \"boundary\"")),
            "unsupported: config.json: architecture \"boundary\" of a GLiNER2 (the architecture \"span\" is) is not "
            "supported");
  EXPECT_EQ(opened(Replaced(config, "\"count_lstm\"", "\"count_lstm_moe\"")),
            "unsupported: config.json: counting_layer \"count_lstm_moe\" is not supported");
  EXPECT_EQ(opened(with(R"("encoder_mode":"bi")")),
            "unsupported: config.json: a GLiNER2 with encoder_mode is not supported");
  EXPECT_EQ(opened(Replaced(config, "\"max_width\": 4,\n  \"span_mode\"", "\"max_width\": 0, \"span_mode\"")),
            "malformed_file: config.json: max_width is 0; it must be an integer from 1 to 65536");
  const std::string v2 = opened(Replaced(config, "\"count_lstm\"", "\"count_lstm_v2\""));
  EXPECT_NE(v2.find("count_embed.transformer"), std::string::npos) << v2;
  const std::string wide = opened(Replaced(Replaced(config, "\"hidden_size\": 16", "\"hidden_size\": 32"),
                                           "\"pooler_hidden_size\": 16", "\"pooler_hidden_size\": 32"));
  EXPECT_TRUE(wide.starts_with("shape_mismatch")) << wide;
  EXPECT_EQ(opened(Replaced(config, "\"model_type\": \"deberta-v2\"", "\"model_type\": \"extractor\"")),
            "not_found: config.json is that of a GLiNER2, and encoder_config/config.json was not given");
  EXPECT_EQ(opened(config, "question-answering"),
            "unsupported: the checkpoint is a GLiNER2, which reads a schema: it is not for question-answering");
}

}  // namespace
}  // namespace peruse
