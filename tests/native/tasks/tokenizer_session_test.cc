#include "core/api/tokenizer_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

using Cells = std::vector<int32_t>;

// Words a0, a1, ... have the ids 5, 6, ...; [PAD] [UNK] [CLS] [SEP] [MASK] are 0 to 4.
void Open(TokenizerSession& session, std::string_view config = "{}") {
  ASSERT_TRUE(session.AddFile("vocab.txt", Vocabulary()).ok());
  ASSERT_TRUE(session.AddFile("tokenizer_config.json", config).ok());
  const Result<std::string> opened = session.Open();
  ASSERT_TRUE(opened.ok()) << opened.status().message();
}

template <typename T>
std::string ErrorOf(const Result<T>& result) {
  return result.ok() ? "ok" : Describe(result.status());
}

Cells Column(const TokenizerSession& session, size_t column) {
  Cells cells;
  for (size_t i = column; i < session.cells().size(); i += TokenizerSession::kCells)
    cells.push_back(session.cells()[i]);
  return cells;
}

TEST(TokenizerSession, SaysWhatItIs) {
  TokenizerSession session;
  ASSERT_TRUE(session.AddFile("vocab.txt", Vocabulary()).ok());
  ASSERT_TRUE(session.AddFile("tokenizer_config.json", R"({"model_max_length":7})").ok());
  EXPECT_EQ(ErrorOf(session.Encode(R"({"text":"a1"})")), "invalid_argument: no tokenizer is open");
  EXPECT_EQ(session.Open().value(),
            R"({"vocab_size":48,"max_length":7,"special_tokens":{"cls_token":{"id":2,"token":"[CLS]"},)"
            R"("sep_token":{"id":3,"token":"[SEP]"},"mask_token":{"id":4,"token":"[MASK]"},)"
            R"("pad_token":{"id":0,"token":"[PAD]"},"unk_token":{"id":1,"token":"[UNK]"}}})");
  EXPECT_EQ(session.AddFile("vocab.txt", "").code(), StatusCode::kInvalidArgument);
  TokenizerSession empty;
  EXPECT_EQ(empty.Open().status().code(), StatusCode::kNotFound);
}

TEST(TokenizerSession, CellsOfAPair) {
  TokenizerSession session;
  Open(session);
  EXPECT_EQ(session.Encode(R"({"text":"😀 a1","text_pair":"a2 é"})").value(), "[7]");
  EXPECT_EQ(Column(session, 0), (Cells{2, 1, 6, 3, 7, 1, 3}));
  EXPECT_EQ(Column(session, 1), (Cells{0, 0, 0, 0, 1, 1, 1})) << "types";
  EXPECT_EQ(Column(session, 2), (Cells{-1, 0, 1, -1, 0, 1, -1})) << "words";
  EXPECT_EQ(Column(session, 3), (Cells{-1, 0, 0, -1, 1, 1, -1})) << "sequences";
  EXPECT_EQ(Column(session, 4), (Cells{1, 0, 0, 1, 0, 0, 1})) << "special";
  EXPECT_EQ(Column(session, 5), (Cells{0, 0, 3, 0, 0, 3, 0})) << "starts";
  EXPECT_EQ(Column(session, 6), (Cells{0, 2, 5, 0, 2, 4, 0})) << "ends";
  EXPECT_EQ(session.Encode(R"({"text":"a1","add_special_tokens":false})").value(), "[1]");
  EXPECT_EQ(Column(session, 0), (Cells{6})) << "cells are of the last text alone";
}

TEST(TokenizerSession, CutsOnlyWhenItIsAsked) {
  TokenizerSession session;
  Open(session, R"({"model_max_length":4})");
  constexpr std::string_view kText = R"({"text":"a0 a1 a2 a3 a4")";
  const auto windows = [&](const std::string& options) {
    const Result<std::string> result = session.Encode(std::string(kText) + options + "}");
    return result.ok() ? *result : Describe(result.status());
  };
  EXPECT_EQ(windows(""), "[7]");
  EXPECT_EQ(windows(R"(,"truncation":false)"), "[7]");
  EXPECT_EQ(windows(R"(,"truncation":true)"), "[4,4,3]") << "to the tokenizer's own length";
  EXPECT_EQ(Column(session, 0), (Cells{2, 5, 6, 3, 2, 7, 8, 3, 2, 9, 3}));
  EXPECT_EQ(windows(R"(,"truncation":"longest_first","max_length":5,"stride":1)"), "[5,5]");
  EXPECT_EQ(Column(session, 0), (Cells{2, 5, 6, 7, 3, 2, 7, 8, 9, 3}));
  EXPECT_EQ(session.Count(std::string(kText) + R"(,"truncation":true})").value(), 4u) << "the first window";
  EXPECT_EQ(session.Count(std::string(kText) + "}").value(), 7u);
  for (const char* strategy : {"only_first", "only_second"}) {
    const std::string both = std::string(kText) + R"(,"text_pair":"a5 a6 a7","max_length":9,"truncation":")";
    ASSERT_TRUE(session.Encode(both + strategy + "\"}").ok());
    const Cells ids = Column(session, 0);
    const Cells wanted = strategy == std::string_view("only_first") ? Cells{2, 5, 6, 7, 3, 10, 11, 12, 3}
                                                                    : Cells{2, 5, 6, 7, 8, 9, 3, 10, 3};
    EXPECT_EQ(Cells(ids.begin(), ids.begin() + 9), wanted) << strategy;
  }
  ASSERT_TRUE(session.Encode(std::string(kText) + R"(,"text_pair":"a5 a6 a7","max_length":7,"truncation":true})").ok());
  const Cells ids = Column(session, 0);
  EXPECT_EQ(Cells(ids.begin(), ids.begin() + 7), (Cells{2, 5, 6, 3, 10, 11, 3})) << "the longest goes first";
  EXPECT_EQ(windows(R"(,"max_length":5)"),
            "invalid_argument: options max_length and stride say how to cut a text: they need truncation");
  EXPECT_EQ(windows(R"(,"stride":1)"),
            "invalid_argument: options max_length and stride say how to cut a text: they need truncation");
  EXPECT_EQ(windows(R"(,"truncation":"both")"),
            "invalid_argument: option truncation must be true, false, \"longest_first\", \"only_first\" or "
            "\"only_second\", not \"both\"");
  TokenizerSession unbounded;
  Open(unbounded);
  EXPECT_EQ(unbounded.Encode(std::string(kText) + R"(,"truncation":true})").value(), "[7]") << "nothing bounds it";
}

// Offsets in UTF-16 of a long text that is not ASCII.
TEST(TokenizerSession, WindowsTakeLinearTime) {
  TokenizerSession session;
  Open(session, R"({"model_max_length":16})");
  const auto seconds = [&session](size_t words) {
    std::string text;
    for (size_t i = 0; i < words; ++i) text += "a1 é ";
    const std::clock_t start = std::clock();
    EXPECT_TRUE(session.Encode(R"({"text":")" + text + R"(","truncation":true})").ok());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const double once = std::max(seconds(10000), 1e-3);
  EXPECT_LT(seconds(80000), 20 * once);
}

TEST(TokenizerSession, TokensIdsAndText) {
  TokenizerSession session;
  Open(session);
  EXPECT_EQ(session.Decode(R"({"ids":[2,6,7,3]})").value(), R"("[CLS] a1 a2 [SEP]")");
  EXPECT_EQ(session.Decode(R"({"ids":[2,6,7,3],"skip_special_tokens":true})").value(), R"("a1 a2")");
  EXPECT_EQ(session.Decode(R"({"ids":[]})").value(), R"("")");
  EXPECT_EQ(session.IdsToTokens(R"({"ids":[4,47]})").value(), R"(["[MASK]","a42"])");
  EXPECT_EQ(session.IdsToTokens(R"({"ids":[48]})").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.TokensToIds(R"({"tokens":["a1","nobody","[SEP]"]})").value(), "[6,null,3]");
  for (const char* ids : {"3", "[-1]", "[1.5]", "[4294967296]", R"(["a"])", "null"}) {
    const std::string request = "{\"ids\":" + std::string(ids) + "}";
    EXPECT_EQ(session.Decode(request).status().code(), StatusCode::kInvalidArgument) << request;
    EXPECT_EQ(session.IdsToTokens(request).status().code(), StatusCode::kInvalidArgument) << request;
  }
  EXPECT_EQ(session.TokensToIds(R"({"tokens":[3]})").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.Encode(R"({"text":3})").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.Encode("{").status().code(), StatusCode::kMalformedFile);
}

}  // namespace
}  // namespace peruse
