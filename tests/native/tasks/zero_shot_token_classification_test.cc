#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

using testing::BackendsUnderTest;
using testing::Bytes;
using testing::ReadFixture;

constexpr const char* kVariants[] = {"markerV0",
                                     "markerV0-old",
                                     "markerV0-plain",
                                     "markerV0-rnn2",
                                     "marker",
                                     "width1",
                                     "last",
                                     "mean",
                                     "max",
                                     "bert",
                                     "token",
                                     "token-plain",
                                     "markerV1",
                                     "markerV2",
                                     "query",
                                     "mlp",
                                     "cat",
                                     "conv_conv",
                                     "conv_max",
                                     "conv_mean",
                                     "conv_sum",
                                     "conv_share",
                                     "bi",
                                     "bi-token",
                                     "bi-fused",
                                     "bi-fused-mean",
                                     "bi-plain",
                                     "bi-bert",
                                     "no-separator",
                                     "modernbert",
                                     "modernbert-token",
                                     "bi-modernbert",
                                     "bi-modernbert-token"};
// For probabilities; logits are exact to about 1e-5.
constexpr double kTolerance = 2e-5;

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string ConfigOf(const std::string& variant) {
  const std::string config = ReadFixture("gliner/" + variant + "/gliner_config.json");
  if (variant == "bi-plain") {
    return Replaced(config, "\"labels_encoder_config\": null",
                    "\"labels_encoder_config\": " + ReadFixture("gliner/labels/config.json"));
  }
  if (variant != "markerV0-old") return config;
  return Replaced(config, "\"encoder_config\": null", "\"encoder_config\": " + ReadFixture("gliner/old/config.json"));
}

// Removes the added token <<SEP>>, which is not the first.
std::string WithoutSeparator(std::string file) {
  const size_t at = file.find("\"<<SEP>>\"");
  if (at == std::string::npos) return file;
  const size_t begin = file.rfind(',', file.rfind('{', at));
  return file.erase(begin, file.find('}', at) + 1 - begin);
}

std::string Load(Session& session, const std::string& variant, const std::string& config) {
  const std::string tokenizer = variant == "markerV0-old" ? "gliner/old/" : "gliner/tokenizer/";
  Status status = session.AddFile("config.json", config);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    const std::string file = ReadFixture(tokenizer + name);
    if (status.ok()) status = session.AddFile(name, variant == "no-separator" ? WithoutSeparator(file) : file);
    if (status.ok() && variant.starts_with("bi") && variant != "bert") {
      status =
          session.AddFile(std::string("labels_tokenizer/") + name, ReadFixture(std::string("gliner/labels/") + name));
    }
  }
  if (status.ok()) status = session.Open(R"({"task":"zero-shot-token-classification"})");
  if (status.ok()) status = session.FeedWeights(Bytes(ReadFixture("gliner/" + variant + "/model.safetensors")));
  if (!status.ok()) return Describe(status);
  const Result<std::string> report = session.FinishWeights();
  return report.ok() ? "ok" : Describe(report.status());
}

std::string Quote(std::string_view text) {
  std::string json;
  JsonWriter(&json).String(text);
  return json;
}

std::string Request(std::string_view text, const std::string& labels, JsonValue options) {
  std::string json = "{\"inputs\":[{\"text\":" + Quote(text) + "}],\"options\":{\"labels\":" + labels;
  for (size_t i = 0; i < options.size(); ++i) {
    json += ",\"" + std::string(options.MemberName(i)) + "\":" + options.MemberValue(i).ToString();
  }
  return json + "}}";
}

void ExpectEntities(const std::string& result, JsonValue expected, const std::string& what) {
  const std::string parts = LastParts(result);
  const Result<JsonDocument> document = JsonDocument::Parse(parts);
  ASSERT_TRUE(document.ok()) << result;
  const JsonValue found = document->root()[0].FindMember("value");
  ASSERT_EQ(found.size(), expected.size()) << what << "\n" << result << "\n" << expected.ToString();
  for (size_t i = 0; i < found.size(); ++i) {
    for (const char* name : {"label", "text", "start", "end"}) {
      EXPECT_EQ(found[i].FindMember(name).ToString(), expected[i].FindMember(name).ToString()) << what;
    }
    EXPECT_NEAR(*found[i].FindMember("score").GetDouble(), *expected[i].FindMember("score").GetDouble(), kTolerance)
        << what;
  }
}

class GlinerTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GlinerTest, FindsTheEntitiesOfThePackage) {
  const std::string variant = GetParam();
  const std::string file = ReadFixture("gliner/" + variant + "/expected.json");
  const Result<JsonDocument> expected = JsonDocument::Parse(file);
  ASSERT_TRUE(expected.ok());
  const std::string labels = expected->root().FindMember("labels").ToString();
  for (const auto& backend : BackendsUnderTest()) {
    Session session(backend.create());
    ASSERT_EQ(Load(session, variant, ConfigOf(variant)), "ok") << backend.name;
    for (const JsonValue request : expected->root().FindMember("requests")) {
      const std::string json = Request(*request.FindMember("text").GetString(), labels, request.FindMember("options"));
      ExpectEntities(RunToEnd(session, json), request.FindMember("entities"), backend.name + " " + json);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, GlinerTest, ::testing::ValuesIn(kVariants), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The configuration leaves the markers and the vocabulary to the tokenizer, which has all of them.
TEST(Gliner, FindsItsMarkersInTheTokenizer) {
  std::string config = ConfigOf("markerV0");
  for (const char* field : {"\"class_token_index\": ", "\"vocab_size\": "}) {
    const size_t at = config.rfind(field) + std::string_view(field).size();
    config.replace(at, config.find_first_of(",\n}", at) - at, "-1");
  }
  const Result<JsonDocument> expected = JsonDocument::Parse(ReadFixture("gliner/markerV0/expected.json"));
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "markerV0", config), "ok");
  const JsonValue request = expected->root().FindMember("requests")[0];
  const std::string json = Request(*request.FindMember("text").GetString(),
                                   expected->root().FindMember("labels").ToString(), request.FindMember("options"));
  ExpectEntities(RunToEnd(session, json), request.FindMember("entities"), json);
}

std::string Found(Session& session, std::string_view text, std::string_view options) {
  const Result<JsonDocument> parsed = JsonDocument::Parse(options);
  const std::string result = RunToEnd(session, Request(text, R"(["person","date"])", parsed->root()));
  const std::string parts = LastParts(result);
  const Result<JsonDocument> document = JsonDocument::Parse(parts);
  if (!document.ok()) return result;
  std::string found;
  for (const JsonValue part : document->root()) {
    for (const JsonValue entity : part.FindMember("value")) {
      found += entity.FindMember("start").ToString() + "-" + entity.FindMember("end").ToString() + " ";
    }
  }
  return found;
}

// A threshold of 0, overlaps and several labels: finds every span, whatever the number of windows.
TEST(Gliner, ReadsLongTextsInWindowsThatCutNoSpan) {
  const std::string text = "Anna met a bee in the old mill behind the oak on Monday";  // 13 words
  for (const char* words : {"384", "9", "5"}) {
    Session session(CreateReferenceBackend());
    const std::string config = Replaced(ConfigOf("markerV0"), "\"max_len\": 384", std::string("\"max_len\": ") + words);
    ASSERT_EQ(Load(session, "markerV0", config), "ok");
    const std::string found = Found(session, text, R"({"threshold":0,"flat_ner":false,"multi_label":true})");
    const size_t count = static_cast<size_t>(std::count(found.begin(), found.end(), ' '));
    EXPECT_GE(count, 26u) << words << ": " << found;  // at least every word with both labels
  }
}

TEST(Gliner, TakesEmptyTextsAndRefusesWhatItCannotRead) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "markerV0", ConfigOf("markerV0")), "ok");
  EXPECT_EQ(RunToEnd(session, R"({"inputs":[{"text":" \n"},{"text":""}],"options":{"labels":["a"]}})"),
            R"([{"input":0,"value":[]},{"input":1,"value":[]}])");
  EXPECT_EQ(RunToEnd(session, R"({"inputs":[{"text":"a"}],"options":{"labels":[]}})"),
            "invalid_argument: option labels must name at least one label");
  EXPECT_EQ(RunToEnd(session, R"({"inputs":[{"text":"a"}],"options":{"labels":["x<<ENT>>y"]}})"),
            "invalid_argument: the label \"x<<ENT>>y\" contains a marker of the model");
  EXPECT_EQ(RunToEnd(session, R"({"inputs":[{"text":"a"}],"options":{"labels":["a"],"threshold":2}})"),
            "invalid_argument: option threshold must be a number from 0 to 1");
}

TEST(Gliner, RefusesOtherVariantsByName) {
  for (const auto& [from, to, what] :
       {std::tuple{"\"max_types\": 25", "\"fuse_layers\": true",
                   "a GLiNER with fuse_layers (it weighs all layers of its encoder)"},
        std::tuple{"\"max_types\": 25", R"("span_encoder_config": {"model_type": "rnn"})",
                   "a GLiNER with span_encoder_config (a second encoder reads the words)"},
        std::tuple{"\"max_types\": 25", "\"labels_decoder\": \"a/b\"", "a GLiNER with labels_decoder"},
        std::tuple{"\"max_types\": 25", "\"relations_layer\": \"dot\"", "a GLiNER with relations_layer"},
        std::tuple{"\"span_mode\": \"markerV0\"", "\"span_mode\": \"conv_normal\"", "span_mode \"conv_normal\""},
        std::tuple{"\"max_types\": 25", "\"words_splitter_type\": \"spacy\"", "words_splitter_type \"spacy\""},
        std::tuple{"\"max_types\": 25", "\"subtoken_pooling\": \"sum\"", "subtoken_pooling \"sum\""}}) {
    Session session(CreateReferenceBackend());
    EXPECT_EQ(Load(session, "markerV0", Replaced(ConfigOf("markerV0"), from, to)),
              std::string("unsupported: config.json: ") + what + " is not supported");
  }
}

// gliner reads represent_spans only for token-level models, and a span encoder only with it.
TEST(Gliner, ReadsFieldsOfSpansWhereTheReferenceDoes) {
  const std::string represents = "\"represent_spans\": true";
  const std::string encodes = R"("span_encoder_config": {"model_type": "rnn"})";
  const std::string types = "\"max_types\": 25";
  Session spans(CreateReferenceBackend());
  EXPECT_EQ(Load(spans, "markerV0", Replaced(ConfigOf("markerV0"), types, represents)), "ok");
  Session tokens(CreateReferenceBackend());
  EXPECT_EQ(Load(tokens, "token", Replaced(ConfigOf("token"), types, encodes)), "ok");
  Session refused(CreateReferenceBackend());
  EXPECT_EQ(
      Load(refused, "token", Replaced(ConfigOf("token"), types, represents)),
      "unsupported: config.json: a GLiNER with represent_spans (it scores each span a second time) is not supported");
}

TEST(Gliner, ReadsAConfigurationWithoutSizes) {
  Session session(CreateReferenceBackend());
  EXPECT_EQ(Load(session, "markerV0", Replaced(ConfigOf("markerV0"), "\"max_width\"", "\"unread\"")), "ok");
  Session other(CreateReferenceBackend());
  const std::string message = Load(other, "markerV0", Replaced(ConfigOf("markerV0"), "\"hidden_size\"", "\"unread\""));
  EXPECT_NE(message.find("512"), std::string::npos) << message;
}

// Label vectors are cached: a call with known labels only encodes the text.
TEST(Gliner, ReadsALabelOfABiEncoderOnce) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "bi", ConfigOf("bi")), "ok");
  const auto tokens = [&](const char* labels) {
    const int64_t before = session.tokens_read();
    const std::string result =
        RunToEnd(session, std::string(R"({"inputs":[{"text":"Tokyo"}],"options":{"labels":)") + labels + "}}");
    EXPECT_NE(result.find("value"), std::string::npos) << result;
    return session.tokens_read() - before;
  };
  const int64_t first = tokens(R"(["person","city"])");
  const int64_t again = tokens(R"(["city","person"])");
  const int64_t more = tokens(R"(["city","date","person"])");
  EXPECT_GT(first, again);
  EXPECT_GT(more, again);
  EXPECT_LT(more, first);
  EXPECT_EQ(tokens(R"(["date"])"), again);
}

TEST(Gliner, ReadsThousandsOfLabels) {
  std::string labels = "[\"label\"";
  for (int i = 0; i < 2500; ++i) labels += ",\"label " + std::to_string(i) + "\"";
  labels += "]";
  for (const char* variant : {"bi", "markerV0"}) {
    Session session(CreateCpuBackend(1).value());
    ASSERT_EQ(Load(session, variant, ConfigOf(variant)), "ok");
    const std::string result =
        RunToEnd(session, R"({"inputs":[{"text":"Tokyo"}],"options":{"threshold":0,"multi_label":true,"labels":)" +
                              labels + "}}");
    size_t found = 0;
    for (size_t at = result.find("\"label\":"); at != std::string::npos; at = result.find("\"label\":", at + 1))
      ++found;
    EXPECT_EQ(found, 2501u) << variant << " " << result.substr(0, 300);
  }
}

// More words times labels than kMostPairs: the rest is scored by a second reading.
TEST(Gliner, ScoresManyWordsByManyLabels) {
  std::string labels = "[\"label\"";
  for (int i = 0; i < 299; ++i) labels += ",\"label " + std::to_string(i) + "\"";
  labels += "]";
  std::string text;
  for (int i = 0; i < 40; ++i) text += "bees ";
  Session session(CreateCpuBackend(1).value());
  ASSERT_EQ(Load(session, "bi-token", ConfigOf("bi-token")), "ok");
  const auto found = [&](const std::string& of) {
    const std::string result = RunToEnd(
        session, R"({"inputs":[{"text":")" + of +
                     R"("}],"options":{"threshold":0,"flat_ner":false,"multi_label":true,"labels":)" + labels + "}}");
    size_t count = 0;
    for (size_t at = result.find("\"label\":"); at != std::string::npos; at = result.find("\"label\":", at + 1))
      ++count;
    return count;
  };
  const size_t of_ten = found(text.substr(0, 50));
  EXPECT_GE(of_ten, 10u * 300);
  EXPECT_GE(found(text), 4 * of_ten);
}

TEST(Gliner, ATextNeedsRoomBesideTheLabels) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "bert", ConfigOf("bert")), "ok");
  std::string word(4000, 'x');
  EXPECT_EQ(Found(session, word + " " + word + " " + word, "{}"),
            "text_too_long: the labels and words of input 0 leave no room: 160 tokens are read at once");
}

// The encoder of this model takes any number of tokens.
TEST(Gliner, ALongWordOrLabelIsRefusedInsteadOfRead) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "markerV0-old", ConfigOf("markerV0-old")), "ok");
  const std::string letters(20000, 'x');
  const std::string refused =
      "text_too_long: the labels and words of input 0 leave no room: 4096 tokens are read at once";
  EXPECT_EQ(Found(session, letters, "{}"), refused);
  EXPECT_EQ(RunToEnd(session, R"({"inputs":[{"text":"Anna lives."}],"options":{"labels":["a )" + letters + "\"]}}"),
            refused);
}

TEST(Gliner, NeedsTheConfigurationOfItsEncoder) {
  Session session(CreateReferenceBackend());
  EXPECT_EQ(Load(session, "markerV0-old", ReadFixture("gliner/markerV0-old/gliner_config.json")),
            "not_found: gliner_config.json has no encoder_config, and the configuration of its encoder "
            "(microsoft/deberta-v3-small) was not given");
}

TEST(Gliner, OfABiEncoderNeedsTheLabelsTokenizer) {
  Session session(CreateReferenceBackend());
  ASSERT_TRUE(session.AddFile("config.json", ConfigOf("bi")).ok());
  ASSERT_TRUE(session.AddFile("tokenizer.json", ReadFixture("gliner/tokenizer/tokenizer.json")).ok());
  EXPECT_EQ(Describe(session.Open(R"({"task":"zero-shot-token-classification"})")),
            "not_found: the model reads labels by an encoder of their own, and that one's tokenizer was not given");
}

TEST(Gliner, RefusesLayersThatItsConfigurationHasNot) {
  Session fused(CreateReferenceBackend());
  EXPECT_EQ(
      Load(fused, "markerV0", Replaced(ConfigOf("markerV0"), "\"num_rnn_layers\": 1", "\"num_rnn_layers\": 0")),
      "unsupported: the checkpoint has tensors \"rnn.lstm.weight_ih_l0...\" of which its configuration does not tell");
}

TEST(Gliner, OfTooManyTokensForItsPositionsItReadsWindows) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "bert", ConfigOf("bert")), "ok");
  std::string text;
  for (int i = 0; i < 300; ++i) text += "bees ";
  EXPECT_NE(Found(session, text, R"({"threshold":0,"flat_ner":false,"multi_label":true})").find("1495-1499"),
            std::string::npos);
}

}  // namespace
}  // namespace peruse
