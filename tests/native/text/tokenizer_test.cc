#include "core/text/tokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/base/utf8.h"
#include "core/text/unicode/unicode.h"
#include "tests/native/text/fixture_files.h"

namespace peruse::text {
namespace {

TEST(Tokenizer, LooksTokensUp) {
  const auto tokenizer = LoadFixture(kBertFixture);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  const Tokenizer& bert = **tokenizer;
  EXPECT_EQ(bert.TokenToId("[CLS]"), bert.cls_id());
  EXPECT_EQ(bert.TokenToId("[SEP]"), bert.sep_id());
  EXPECT_EQ(bert.TokenToId("[MASK]"), bert.mask_id());
  EXPECT_EQ(bert.TokenToId("[PAD]"), bert.pad_id());
  EXPECT_EQ(bert.TokenToId("[UNK]"), bert.unk_id());
  EXPECT_EQ(bert.TokenToId("no such token"), std::nullopt);
  EXPECT_EQ(*bert.IdToToken(bert.mask_id()), "[MASK]");
  EXPECT_FALSE(bert.IdToToken(-1).ok());
  EXPECT_FALSE(bert.IdToToken(bert.vocab_size()).ok());
  EXPECT_TRUE(bert.IsSpecialToken(bert.sep_id()));
  EXPECT_FALSE(bert.IsSpecialToken(*bert.TokenToId("the")));
  EXPECT_EQ(bert.continuing_subword_prefix(), "##");
  EXPECT_EQ(bert.model_max_length(), std::nullopt);
  EXPECT_EQ(bert.special_tokens_count(false), 2);
  EXPECT_EQ(bert.special_tokens_count(true), 3);
  const int32_t ids[] = {bert.cls_id(), *bert.TokenToId("the"), 1 << 30, bert.sep_id()};
  EXPECT_EQ(bert.Decode(ids, true), "the");
  EXPECT_EQ(bert.Decode(ids, false), "[CLS] the [SEP]");
}

TEST(Tokenizer, ReadsTheConfiguration) {
  const std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nA\na\n";
  TokenizerFiles files = {{"vocab.txt", vocabulary},
                          {"tokenizer_config.json", R"({"do_lower_case": false, "model_max_length": 512})"}};
  auto tokenizer = Tokenizer::Create(files);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ((*tokenizer)->model_max_length(), 512);
  EXPECT_EQ((*(*tokenizer)->Encode("A"))[0].ids, (std::vector<int32_t>{2, 5, 3}));
  files["tokenizer_config.json"] = R"({"model_max_length": 1000000000000000019884624838656})";
  tokenizer = Tokenizer::Create(files);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ((*tokenizer)->model_max_length(), std::nullopt);
  EXPECT_EQ((*(*tokenizer)->Encode("A"))[0].ids, (std::vector<int32_t>{2, 6, 3}));
}

// AutoTokenizer ignores a config.json without model_type; here the class of the model determines that of the tokenizer.
TEST(Tokenizer, ArchitecturesTellTheClass) {
  const auto first_token = [](std::string_view config) {
    const auto tokenizer =
        Tokenizer::Create({{"vocab.json", R"({"a":0})"}, {"merges.txt", "#version: 0.2\n"}, {"config.json", config}});
    return tokenizer.ok() ? std::string(*(*tokenizer)->IdToToken((*tokenizer)->cls_id()))
                          : tokenizer.status().message();
  };
  EXPECT_EQ(first_token(R"({"architectures":["RobertaForMaskedLM"]})"), "<s>");
  EXPECT_EQ(first_token(R"({"architectures":["DebertaModel"]})"), "[CLS]");
  EXPECT_EQ(first_token(R"({"model_type":"deberta","architectures":["RobertaModel"]})"), "[CLS]");
}

// If no file names a tokenizer class, the model type determines it. Jina v3 has one row of token types, so pairs must not have a second type.
TEST(Tokenizer, ModelTypesDetermineTheTypeIds) {
  constexpr std::string_view kJson = R"({"version":"1.0","pre_tokenizer":{"type":"Whitespace"},
    "model":{"type":"WordLevel","vocab":{"<s>":0,"</s>":1,"<unk>":2,"a":3,"b":4},"unk_token":"<unk>"},
    "post_processor":{"type":"BertProcessing","sep":["</s>",1],"cls":["<s>",0]}})";
  const auto types = [&](std::string_view config) {
    const auto tokenizer = Tokenizer::Create({{"tokenizer.json", kJson}, {"config.json", config}});
    return tokenizer.ok() ? (*(*tokenizer)->EncodePair("a", "b"))[0].type_ids : std::vector<int32_t>();
  };
  EXPECT_EQ(types(R"({"model_type":"modernbert"})"), (std::vector<int32_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(types(R"({"model_type":"jina_embeddings_v3"})"), (std::vector<int32_t>{0, 0, 0, 0, 0}));
}

TEST(Tokenizer, RefusesBadRequests) {
  const auto tokenizer = LoadFixture(kBertFixture);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ((*tokenizer)->Encode("a\xFF").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ((*tokenizer)->Encode("\xED\xA0\x80").status().code(), StatusCode::kInvalidArgument);
  EncodeOptions options;
  options.truncation = Truncation::kLongestFirst;
  options.max_length = 1;  // less than [CLS] and [SEP]
  EXPECT_EQ((*tokenizer)->Encode("a", options).status().code(), StatusCode::kInvalidArgument);
  options.max_length = 10;
  options.stride = 8;
  EXPECT_EQ((*tokenizer)->Encode(std::string(100, '!'), options).status().code(), StatusCode::kInvalidArgument);
  options.stride = -1;
  EXPECT_EQ((*tokenizer)->Encode("a", options).status().code(), StatusCode::kInvalidArgument);
  options.stride = 0;
  EXPECT_TRUE((*tokenizer)->Encode("a", options).ok());
}

TEST(Tokenizer, RefusesTooManyWindows) {
  const auto tokenizer = LoadFixture(kBertFixture);
  ASSERT_TRUE(tokenizer.ok());
  EncodeOptions options;
  options.truncation = Truncation::kLongestFirst;
  options.max_length = 1000;
  options.stride = 400;
  const std::string text(200000, '!');
  EXPECT_EQ((*tokenizer)->EncodePair(text, text, options).status().code(), StatusCode::kTextTooLong);
}

std::string RandomText(std::mt19937* random) {
  static const char32_t kAlphabet[] = {'a',    'B',    ' ',    '.',   '\'',   '\t',   '\n',   0,       0xE9,
                                       0x301,  0x323,  0x130,  0x3A3, 0x4E2D, 0xAC00, 0x1112, 0x1F600, 0x1F3FB,
                                       0x200D, 0xFB01, 0x2122, 0xA0,  0x3000, 0xFFFD, 0x2581};
  std::string text;
  for (size_t length = (*random)() % 40; length > 0; --length) {
    AppendUtf8(kAlphabet[(*random)() % std::size(kAlphabet)], &text);
  }
  return text;
}

// Offsets ascend, and stay within the text and on character boundaries; word ids ascend without gaps.
void ExpectSoundEncoding(const std::string& text, const Encoding& encoding) {
  Offset previous{};
  int32_t word = -1;
  for (size_t i = 0; i < encoding.size(); ++i) {
    const Offset offset = encoding.offsets[i];
    if (encoding.special_tokens_mask[i]) {
      ASSERT_EQ(offset, Offset{});
      ASSERT_EQ(encoding.word_ids[i], -1);
      ASSERT_EQ(encoding.sequence_ids[i], -1);
      continue;
    }
    ASSERT_LE(previous.start, offset.start) << text;
    ASSERT_LE(previous.end, offset.end) << text;
    ASSERT_LE(offset.start, offset.end);
    ASSERT_LE(static_cast<size_t>(offset.end), text.size());
    for (const int32_t at : {offset.start, offset.end}) {
      ASSERT_TRUE(static_cast<size_t>(at) == text.size() || !IsUtf8Continuation(text[static_cast<size_t>(at)]));
    }
    ASSERT_TRUE(encoding.word_ids[i] == word || encoding.word_ids[i] == word + 1);
    word = encoding.word_ids[i];
    previous = offset;
  }
}

// Pieces of one word are contiguous, except for white space and removed characters.
void ExpectGaplessWords(const std::string& text, const Encoding& encoding) {
  for (size_t i = 0; i + 1 < encoding.size(); ++i) {
    if (encoding.word_ids[i] < 0 || encoding.word_ids[i] != encoding.word_ids[i + 1]) continue;
    for (auto at = static_cast<size_t>(encoding.offsets[i].end);
         at < static_cast<size_t>(encoding.offsets[i + 1].start);) {
      const char32_t c = DecodeUtf8(text, &at);
      ASSERT_TRUE(CharClasses(c) & (kControlClass | kNonspacingClass | kSpaceClass | kMarkClass)) << text;
    }
  }
}

TEST(Tokenizer, OffsetsAreSound) {
  for (const FixtureName& fixture : kFixtures) {
    const auto tokenizer = LoadFixture(fixture);
    ASSERT_TRUE(tokenizer.ok());
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) {
      const std::string text = RandomText(&random);
      const auto windows = (*tokenizer)->Encode(text);
      ASSERT_TRUE(windows.ok());
      ASSERT_EQ(windows->size(), 1u);
      ExpectSoundEncoding(text, (*windows)[0]);
      ExpectGaplessWords(text, (*windows)[0]);
    }
  }
}

// The windows of a truncated text, without special tokens and overlaps, give the whole encoding.
TEST(Tokenizer, WindowsAddUpToTheWhole) {
  const auto tokenizer = LoadFixture(kUnigramFixture);
  ASSERT_TRUE(tokenizer.ok());
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const std::string text = RandomText(&random) + " and " + RandomText(&random);
    EncodeOptions options;
    options.add_special_tokens = false;
    const Encoding whole = (*(*tokenizer)->Encode(text, options))[0];
    options.truncation = Truncation::kOnlyFirst;
    options.max_length = 5;
    options.stride = 2;
    const auto windows = (*tokenizer)->Encode(text, options);
    ASSERT_TRUE(windows.ok());
    std::vector<int32_t> ids = (*windows)[0].ids;
    for (size_t w = 1; w < windows->size(); ++w) {
      const Encoding& window = (*windows)[w];
      ids.insert(ids.end(), window.ids.begin() + 2, window.ids.end());
    }
    EXPECT_EQ(ids, whole.ids);
  }
}

TEST(Tokenizer, EmptyAndBlankTextsHaveNoTokens) {
  for (const FixtureName* fixture : {&kBertFixture, &kUnigramFixture}) {
    const auto tokenizer = LoadFixture(*fixture);
    ASSERT_TRUE(tokenizer.ok());
    for (const char* text : {"", "   ", "\t\n"}) EXPECT_EQ((*(*tokenizer)->Encode(text))[0].size(), 2u);
    EXPECT_EQ((*(*tokenizer)->EncodeWords({}))[0].size(), 2u);
  }
}

TEST(Tokenizer, TakesHugeInputs) {
  for (const FixtureName& fixture : kFixtures) {
    const auto tokenizer = LoadFixture(fixture);
    ASSERT_TRUE(tokenizer.ok());
    std::string marks = "e";
    for (int i = 0; i < 30000; ++i) marks += i % 2 ? "\xCC\x81" : "\xCC\xA3";  // U+0301, U+0323
    for (const std::string& text : {std::string(1 << 17, 'a'), std::string(1 << 17, '.'), std::string(1 << 17, ' '),
                                    std::string(1 << 17, '\''), marks}) {
      EXPECT_TRUE((*tokenizer)->Encode(text).ok());
    }
  }
}

}  // namespace
}  // namespace peruse::text
