#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "tests/native/text/fixture_files.h"

namespace peruse::text {
namespace {

constexpr std::string_view kWordPiece = R"({"type":"WordPiece","vocab":{"[UNK]":0,"a":1}})";

std::string WithModel(std::string_view model, std::string_view rest = "") {
  return "{\"version\":\"1.0\",\"model\":" + std::string(model) + std::string(rest) + "}";
}

Status LoadJson(std::string_view json) {
  const auto tokenizer = Tokenizer::Create({{"tokenizer.json", json}});
  return tokenizer.ok() ? OkStatus() : tokenizer.status();
}

StatusCode CodeOf(std::string_view json) { return LoadJson(json).code(); }

TEST(HostileFiles, TheBaseOfTheseTestsLoads) { EXPECT_EQ(LoadJson(WithModel(kWordPiece)).message(), ""); }

TEST(HostileFiles, NoVocabularyIsNotFound) {
  EXPECT_EQ(Tokenizer::Create({}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Tokenizer::Create({{"vocab.json", "{}"}}).status().code(), StatusCode::kNotFound);
}

TEST(HostileFiles, MalformedJson) {
  EXPECT_EQ(CodeOf(""), StatusCode::kMalformedFile);
  EXPECT_EQ(CodeOf("[]"), StatusCode::kMalformedFile);
  EXPECT_EQ(CodeOf("{\"model\":"), StatusCode::kMalformedFile);
  EXPECT_EQ(CodeOf(std::string(100000, '[')), StatusCode::kMalformedFile);
  EXPECT_EQ(CodeOf("{}"), StatusCode::kMalformedFile);
  EXPECT_EQ(CodeOf("{\"version\":\"2.0\"}"), StatusCode::kUnsupported);
}

TEST(HostileFiles, WrongTypesInModels) {
  for (const char* model : {"3",
                            R"({"type":"WordPiece"})",
                            R"({"type":"WordPiece","vocab":[]})",
                            R"({"type":"WordPiece","vocab":{"a":"b"}})",
                            R"({"type":"WordPiece","vocab":{"a":-1}})",
                            R"({"type":"WordPiece","vocab":{"a":1.5}})",
                            R"({"type":"WordPiece","vocab":{"a":99999999999}})",
                            R"({"type":"WordPiece","vocab":{"a":2000000000}})",
                            R"({"type":"WordPiece","vocab":{"a":0,"b":0}})",
                            R"({"type":"WordPiece","vocab":{"a":0},"max_input_chars_per_word":-3})",
                            R"({"type":"BPE","vocab":{"a":0}})",
                            R"({"type":"BPE","vocab":{"a":0},"merges":[3]})",
                            R"({"type":"BPE","vocab":{"a":0},"merges":["a"]})",
                            R"({"type":"BPE","vocab":{"a":0},"merges":["a a a"]})",
                            R"({"type":"BPE","vocab":{"a":0},"merges":["a b"]})",
                            R"({"type":"BPE","vocab":{"a":0},"merges":["a a"]})",
                            R"({"type":"BPE","vocab":{"a":0},"merges":[["a"]]})",
                            R"({"type":"Unigram","vocab":{}})",
                            R"({"type":"Unigram","vocab":[["a"]]})",
                            R"({"type":"Unigram","vocab":[[1,2]]})",
                            R"({"type":"Unigram","vocab":[["a",0.0]],"unk_id":1})",
                            R"({"type":"Unigram","vocab":[["a",0.0]],"unk_id":-1})"}) {
    EXPECT_EQ(CodeOf(WithModel(model)), StatusCode::kMalformedFile) << model;
  }
  EXPECT_EQ(CodeOf(WithModel(R"({"type":"WordLevel","vocab":[]})")), StatusCode::kMalformedFile);
  EXPECT_EQ(CodeOf(WithModel(R"({"type":"Surprise","vocab":{}})")), StatusCode::kUnsupported);
}

TEST(HostileFiles, BpeOptionsThatAreNotSupported) {
  const auto refused = [](const std::string& options) {
    const Status status = LoadJson(WithModel(R"({"type":"BPE","vocab":{"a":0},"merges":[],)" + options + "}"));
    return status.code() == StatusCode::kUnsupported ? status.message() : "not refused: " + status.message();
  };
  EXPECT_EQ(refused(R"("dropout":0.1)"), "tokenizer.json: model BPE with dropout is not supported");
  EXPECT_TRUE(refused(R"("dropout":0.0)").starts_with("not refused"));
  const std::string with_bytes = "BPE: byte_fallback together with continuing_subword_prefix or end_of_word_suffix";
  EXPECT_EQ(refused(R"("byte_fallback":true,"continuing_subword_prefix":"##")"), with_bytes);
  EXPECT_EQ(refused(R"("byte_fallback":true,"end_of_word_suffix":"</w>")"), with_bytes);
  EXPECT_TRUE(refused(R"("byte_fallback":true,"end_of_word_suffix":"")").starts_with("not refused"));
  const std::string longest(256, 'x');
  EXPECT_TRUE(refused("\"end_of_word_suffix\":\"" + longest + "\"").starts_with("not refused"));
  EXPECT_NE(refused("\"end_of_word_suffix\":\"" + longest + "x\"").find("more than 256 bytes"), std::string::npos);
}

TEST(HostileFiles, UnknownComponentsAreNamed) {
  for (const char* stage : {"normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
    const std::string rest = ",\"" + std::string(stage) + "\":{\"type\":\"Surprise\"}";
    const Status status = LoadJson(WithModel(kWordPiece, rest));
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << stage;
    EXPECT_NE(status.message().find("Surprise"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(stage), std::string::npos) << status.message();
  }
  const Status regex = LoadJson(WithModel(
      kWordPiece,
      R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?<name>x)+y"},"behavior":"Isolated","invert":false})"));
  EXPECT_EQ(regex.code(), StatusCode::kUnsupported);
  EXPECT_NE(regex.message().find("(?<name>x)+y"), std::string::npos);
}

TEST(HostileFiles, MalformedStages) {
  for (
      const char* rest :
      {R"(,"normalizer":{"type":"Sequence"})",
       R"(,"normalizer":{"type":"Strip"})",
       R"(,"normalizer":{"type":"Prepend"})",
       R"(,"normalizer":{"type":"Replace","pattern":{},"content":"x"})",
       R"(,"normalizer":{"type":"Precompiled"})",
       R"(,"normalizer":{"type":"Precompiled","precompiled_charsmap":"!"})",
       R"(,"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"})",
       R"(,"normalizer":{"type":"Precompiled","precompiled_charsmap":"/////w=="})",
       R"(,"pre_tokenizer":{"type":"Metaspace"})",
       R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"ab"})",
       R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"often"})",
       R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"always","add_prefix_space":false})",
       R"(,"pre_tokenizer":{"type":"Punctuation","behavior":"Odd"})",
       R"(,"pre_tokenizer":{"type":"Sequence"})",
       R"(,"post_processor":{"type":"BertProcessing","cls":["a",1],"sep":["b",2]})",
       R"(,"post_processor":{"type":"BertProcessing"})",
       R"(,"post_processor":{"type":"TemplateProcessing"})",
       R"(,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}}],"pair":[]})",
       R"(,"post_processor":{"type":"TemplateProcessing","single":[],"pair":[]})",
       R"(,"post_processor":{"type":"Sequence"})",
       R"(,"post_processor":{"type":"Sequence","processors":[{"type":"BertProcessing"}]})",
       R"(,"decoder":{"type":"Sequence"})",
       R"(,"decoder":{"type":"Strip"})",
       R"(,"added_tokens":{})",
       R"(,"added_tokens":[{"id":1}])"}) {
    EXPECT_EQ(CodeOf(WithModel(kWordPiece, rest)), StatusCode::kMalformedFile) << rest;
  }
}

// Files that would exhaust time or memory are rejected, at the latest when a text is encoded.
Status EncodeWith(std::string_view json, const std::string& text) {
  const auto tokenizer = Tokenizer::Create({{"tokenizer.json", json}});
  if (!tokenizer.ok()) return tokenizer.status();
  const auto windows = (*tokenizer)->Encode(text);
  return windows.ok() ? OkStatus() : windows.status();
}

std::string Steps(const char* list, const std::string& step, int count) {
  std::string json = std::string(R"({"type":"Sequence",")") + list + "\":[";
  for (int i = 0; i < count; ++i) json += (i > 0 ? "," : "") + step;
  return json + "]}";
}

TEST(HostileFiles, TextsThatGrowAreRefused) {
  const std::string doubling = R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})";
  const std::string text(1 << 16, 'a');
  const Status status =
      EncodeWith(WithModel(kWordPiece, ",\"normalizer\":" + Steps("normalizers", doubling, 20)), text);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("grows"), std::string::npos) << status.message();
  EXPECT_TRUE(EncodeWith(WithModel(kWordPiece, ",\"normalizer\":" + Steps("normalizers", doubling, 4)), text).ok());

  const std::string bytes = R"({"type":"ByteLevel","add_prefix_space":true,"use_regex":false})";
  EXPECT_EQ(
      EncodeWith(WithModel(kWordPiece, ",\"pre_tokenizer\":" + Steps("pretokenizers", bytes, 20)), text + "\u00e9")
          .code(),
      StatusCode::kUnsupported);

  const std::string prefix = R"(,"normalizer":{"type":"Prepend","prepend":")" + std::string(10000, 'p') + R"("})";
  const std::string tokens = R"(,"added_tokens":[{"id":9,"content":"#","special":true,"normalized":false}])";
  std::string pieces;
  for (int i = 0; i < 1 << 12; ++i) pieces += "#x";
  EXPECT_EQ(EncodeWith(WithModel(kWordPiece, prefix + tokens), pieces).code(), StatusCode::kUnsupported);

  EXPECT_EQ(CodeOf(WithModel(kWordPiece, ",\"decoder\":" + Steps("decoders", doubling, 20))), StatusCode::kUnsupported);
}

TEST(HostileFiles, TooManyStepsAreRefused) {
  const std::string nfc = R"({"type":"NFC"})", punctuation = R"({"type":"Punctuation"})";
  EXPECT_EQ(CodeOf(WithModel(kWordPiece, ",\"normalizer\":" + Steps("normalizers", nfc, 90))), StatusCode::kOk);
  EXPECT_EQ(CodeOf(WithModel(kWordPiece, ",\"normalizer\":" + Steps("normalizers", nfc, 101))),
            StatusCode::kUnsupported);
  EXPECT_EQ(CodeOf(WithModel(kWordPiece, ",\"pre_tokenizer\":" + Steps("pretokenizers", punctuation, 101))),
            StatusCode::kUnsupported);
}

TEST(HostileFiles, ExpressionsThatTakeLongAreRefused) {
  const auto split = [](const std::string& expression) {
    return WithModel(kWordPiece, R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":")" + expression +
                                     R"("},"behavior":"Isolated","invert":false})");
  };
  EXPECT_EQ(CodeOf(split("x{1000000}")), StatusCode::kUnsupported);
  EXPECT_EQ(CodeOf(split("((((x{100}){100}){100}){100})")), StatusCode::kUnsupported);
  EXPECT_EQ(CodeOf(split(std::string(100000, '('))), StatusCode::kUnsupported);
  EXPECT_EQ(EncodeWith(split("(a*)*b"), std::string(100, 'a')).code(), StatusCode::kOk);
  const Status status = EncodeWith(split("(a|aa)+b"), std::string(1 << 18, 'a'));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("too long"), std::string::npos) << status.message();
}

// The numbers of ranges in a set and of empty repetitions must not determine the time.
TEST(HostileFiles, ExpressionsOfManyPartsAreQuick) {
  const auto split = [](const std::string& expression) {
    return WithModel(kWordPiece, R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":")" + expression +
                                     R"("},"behavior":"Isolated","invert":false})");
  };
  std::string nothing;
  for (int depth = 0; depth < 6; ++depth) nothing = "(?:" + nothing + "){1000}";
  EXPECT_EQ(EncodeWith(split(nothing + "a"), "aaa").code(), StatusCode::kOk);
  std::string set = "[";
  for (int i = 0; i < 100000; ++i) set += i % 2 == 0 ? "c-e" : "m-z";
  EXPECT_EQ(EncodeWith(split(set + "]"), std::string(1 << 17, 'a')).code(), StatusCode::kOk);
  std::string classes = "[";
  for (int i = 0; i < 100; ++i) classes += R"(\\p{Lu})";
  EXPECT_EQ(CodeOf(split(classes + "]")), StatusCode::kUnsupported);
}

TEST(HostileFiles, PiecesThatTakeLongAreRefused) {
  const std::string text(1 << 18, 'a'), piece(1 << 14, 'a');
  EXPECT_EQ(
      EncodeWith(WithModel(R"({"type":"Unigram","unk_id":0,"vocab":[["a",0.0],[")" + piece + R"(b",0.0]]})"), text)
          .code(),
      StatusCode::kUnsupported);
  EXPECT_EQ(EncodeWith(WithModel(R"({"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"##a":2,"##)" + piece +
                                 R"(b":3},"max_input_chars_per_word":10000000})"),
                       text)
                .code(),
            StatusCode::kUnsupported);
  EXPECT_EQ(
      EncodeWith(WithModel(kWordPiece, R"(,"added_tokens":[{"id":9,"content":")" + piece + R"(b","special":true}])"),
                 text)
          .code(),
      StatusCode::kUnsupported);
  EXPECT_EQ(
      CodeOf(WithModel(R"({"type":"BPE","vocab":{"a":0},"merges":[],"continuing_subword_prefix":")" + piece + R"("})")),
      StatusCode::kUnsupported);
  const std::string pattern =
      R"(,"normalizer":{"type":"Replace","pattern":{"String":")" + piece + R"("},"content":"x"})";
  EXPECT_EQ(CodeOf(WithModel(kWordPiece, pattern)), StatusCode::kUnsupported);
}

// The space belongs to every match before it.
TEST(HostileFiles, WhiteSpaceOfAddedTokensCountsAsSteps) {
  const std::string text(40000, ' ');
  for (const char* strip : {"lstrip", "rstrip"}) {
    const std::string file =
        WithModel(kWordPiece, R"(,"added_tokens":[{"id":9,"content":" ","special":true,"normalized":false,")" +
                                  std::string(strip) + "\":true}]");
    const std::clock_t start = std::clock();
    const Status status = EncodeWith(file, text);
    EXPECT_EQ(status.code(), std::string(strip) == "rstrip" ? StatusCode::kUnsupported : StatusCode::kOk) << strip;
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 2) << strip;
    EXPECT_TRUE(EncodeWith(file, "    a    ").ok()) << strip;
  }
}

TEST(HostileFiles, ATemplateOfManySequencesIsRefused) {
  std::string parts;
  for (int i = 0; i < 5000; ++i) parts += R"({"Sequence":{"id":"A","type_id":0}},)";
  parts.pop_back();
  EXPECT_EQ(
      CodeOf(WithModel(kWordPiece, R"(,"post_processor":{"type":"TemplateProcessing","special_tokens":{},"single":[)" +
                                       parts + R"(],"pair":[]})")),
      StatusCode::kUnsupported);
}

TEST(HostileFiles, TextsOfMoreThan16MBAreRefused) {
  const Status status = EncodeWith(WithModel(kWordPiece), std::string((1 << 24) + 1, 'a'));
  EXPECT_EQ(status.code(), StatusCode::kTextTooLong);
  EXPECT_NE(status.message().find("16 MB"), std::string::npos);
}

TEST(HostileFiles, DeeplyNestedSequencesAreRefused) {
  std::string sequence = R"({"type":"NFC"})";
  for (int i = 0; i < 1000; ++i) sequence = R"({"type":"Sequence","normalizers":[)" + sequence + "]}";
  EXPECT_EQ(CodeOf(WithModel(kWordPiece, ",\"normalizer\":" + sequence)), StatusCode::kMalformedFile);
}

TEST(HostileFiles, EveryPrefixOfASentencePieceModelIsAnErrorOrLoads) {
  const std::string model = ReadFixtureFile("unigram.spm.model");
  ASSERT_GT(model.size(), 1000u);
  EXPECT_EQ(Tokenizer::Create({{"spm.model", ""}}).status().code(), StatusCode::kMalformedFile);
  for (size_t size = 1; size < model.size(); size = size * 5 / 4 + 1) {
    const auto tokenizer = Tokenizer::Create({{"spm.model", std::string_view(model).substr(0, size)}});
    EXPECT_TRUE(tokenizer.ok() || tokenizer.status().code() == StatusCode::kMalformedFile);
  }
}

// Unknown fields: eight bytes, which are skipped, and a group, which is an error.
TEST(HostileFiles, OtherFieldsOfASentencePieceModel) {
  const std::string model = ReadFixtureFile("unigram.spm.model");
  const std::string eight_bytes = "\xA1\x06" + std::string(8, 'x'), group = "\xA3\x06\xA4\x06";
  const auto with = Tokenizer::Create({{"spm.model", eight_bytes + model}});
  ASSERT_TRUE(with.ok()) << with.status().message();
  const auto without = Tokenizer::Create({{"spm.model", model}});
  EXPECT_EQ((*with)->Encode("Some text")->front().ids, (*without)->Encode("Some text")->front().ids);
  EXPECT_EQ(Tokenizer::Create({{"spm.model", group + model}}).status().code(), StatusCode::kMalformedFile);
  EXPECT_EQ(Tokenizer::Create({{"spm.model", eight_bytes.substr(0, 6)}}).status().code(), StatusCode::kMalformedFile);
}

TEST(HostileFiles, AGarbageCharsmapIsHarmless) {
  const std::string model = ReadFixtureFile("unigram.spm.model");
  for (int seed = 0; seed < 20; ++seed) {
    std::string broken = model;
    for (size_t i = broken.size() / 4 + static_cast<size_t>(seed); i < broken.size(); i += 61)
      broken[i] = static_cast<char>(broken[i] * 7 + seed);
    const auto tokenizer = Tokenizer::Create({{"spm.model", broken}});
    EXPECT_TRUE(!tokenizer.ok() || (*tokenizer)->Encode("Some text, \xEF\xBC\xA1\xCC\x81 \xE2\x84\xA2.").ok());
  }
}

TEST(HostileFiles, MissingUnknownTokenIsAnErrorWhenNeeded) {
  const auto tokenizer = Tokenizer::Create({{"tokenizer.json", WithModel(R"({"type":"WordPiece","vocab":{"a":0}})")}});
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_TRUE((*tokenizer)->Encode("a").ok());
  EXPECT_EQ((*tokenizer)->Encode("b").status().code(), StatusCode::kMalformedFile);
  const auto unigram =
      Tokenizer::Create({{"tokenizer.json", WithModel(R"({"type":"Unigram","vocab":[["a",0]],"unk_id":null})")}});
  ASSERT_TRUE(unigram.ok());
  EXPECT_EQ((*unigram)->Encode("b").status().code(), StatusCode::kMalformedFile);
}

TEST(HostileFiles, ABpeWithoutItsUnknownTokenIsAnErrorWhenNeeded) {
  const std::string json = WithModel(R"({"type":"BPE","vocab":{"a":0},"merges":[],"unk_token":"[UNK]"})");
  EXPECT_TRUE(EncodeWith(json, "a").ok());
  EXPECT_EQ(EncodeWith(json, "b").code(), StatusCode::kMalformedFile);
}

TEST(HostileFiles, SpecialTokensOfTwoStepsAreRefused) {
  const std::string bert = R"({"type":"BertProcessing","cls":["a",1],"sep":["[UNK]",0]})";
  EXPECT_EQ(CodeOf(WithModel(kWordPiece, ",\"post_processor\":" + Steps("processors", bert, 2))),
            StatusCode::kUnsupported);
  EXPECT_EQ(CodeOf(WithModel(kWordPiece, ",\"post_processor\":" + Steps("processors", bert, 1))), StatusCode::kOk);
}

TEST(HostileFiles, MalformedCompanions) {
  const std::string vocabulary = "[UNK]\n[CLS]\n[SEP]\na\n";
  const auto code = [&](const char* name, std::string_view content) {
    const auto tokenizer = Tokenizer::Create({{"vocab.txt", vocabulary}, {name, content}});
    return tokenizer.ok() ? StatusCode::kOk : tokenizer.status().code();
  };
  EXPECT_EQ(code("tokenizer_config.json", "{}"), StatusCode::kOk);
  EXPECT_EQ(code("tokenizer_config.json", "[]"), StatusCode::kMalformedFile);
  EXPECT_EQ(code("tokenizer_config.json", "{"), StatusCode::kMalformedFile);
  EXPECT_EQ(code("tokenizer_config.json", R"({"cls_token":{}})"), StatusCode::kMalformedFile);
  EXPECT_EQ(code("tokenizer_config.json", R"({"added_tokens_decoder":{"x":{"content":"y"}}})"),
            StatusCode::kMalformedFile);
  EXPECT_EQ(code("special_tokens_map.json", "nonsense"), StatusCode::kMalformedFile);
  EXPECT_EQ(code("added_tokens.json", "[]"), StatusCode::kMalformedFile);
  EXPECT_EQ(code("added_tokens.json", R"({"x":-1})"), StatusCode::kMalformedFile);
  EXPECT_EQ(Tokenizer::Create({{"vocab.txt", "\xFF\n"}}).status().code(), StatusCode::kMalformedFile);
  EXPECT_EQ(Tokenizer::Create({{"vocab.json", "{}"}, {"merges.txt", "#version: 0.2\na b c\n"}}).status().code(),
            StatusCode::kMalformedFile);
  EXPECT_EQ(Tokenizer::Create({{"vocab.json", "{}"}, {"merges.txt", "#version: 0.2\na b\n"}}).status().code(),
            StatusCode::kMalformedFile);
}

TEST(HostileFiles, AVocabularyWithoutSpecialTokensGetsThem) {
  const auto tokenizer = Tokenizer::Create({{"vocab.txt", "a\nb\n"}});
  ASSERT_TRUE(tokenizer.ok());
  const auto windows = (*tokenizer)->Encode("a b");
  ASSERT_TRUE(windows.ok());
  // Ids that BertTokenizerFast assigns: [UNK] 2, [SEP] 3, [PAD] 4, [CLS] 5, [MASK] 6.
  EXPECT_EQ((*windows)[0].ids, (std::vector<int32_t>{5, 0, 1, 3}));
}

}  // namespace
}  // namespace peruse::text
