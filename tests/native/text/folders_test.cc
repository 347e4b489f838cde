// Unusual combinations of tokenizer files, and folders that transformers 4 and 5 saved, compared with transformers' AutoTokenizer
// (tests/reference/compare_folders.py and saved_tokenizers.py).
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/base/json_writer.h"
#include "tests/native/text/case_json.h"
#include "tests/native/text/fixture_files.h"

namespace peruse::text {
namespace {

constexpr const char* kFolder = "../tokenizer_folders/";

// FNV-1a, as in compare_folders.py.
std::string Digest(std::string_view text) {
  uint64_t value = 0xCBF29CE484222325u;
  for (const char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
  char buffer[17];
  std::snprintf(buffer, sizeof(buffer), "%016llx", static_cast<unsigned long long>(value));
  return buffer;
}

std::string Decoded(const Tokenizer& tokenizer, JsonValue ids, bool skip) {
  std::vector<int32_t> values;
  for (JsonValue id : ids) values.push_back(static_cast<int32_t>(*id.GetInt64()));
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("decoded");
  writer.String(tokenizer.Decode(values, skip));
  writer.EndObject();
  return json;
}

std::string FromHex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

class Folders {
 public:
  explicit Folders(const std::string& name)
      : parts_text_(ReadFixtureFile(std::string(kFolder) + "parts.json")),
        cases_text_(ReadFixtureFile(std::string(kFolder) + "cases.json")),
        folders_text_(ReadFixtureFile(std::string(kFolder) + name + ".jsonl")),
        parts_(JsonDocument::Parse(parts_text_, "parts").value()),
        cases_(JsonDocument::Parse(cases_text_, "cases").value()) {}

  template <typename Check>
  void ForEach(const Check& check) const {
    for (size_t start = 0; start < folders_text_.size();) {
      const size_t end = folders_text_.find('\n', start);
      const JsonDocument line =
          JsonDocument::Parse(std::string_view(folders_text_).substr(start, end - start), "folder").value();
      check(line.root());
      start = end + 1;
    }
  }

  // Returns a file as the golden describes it: JSON in which "@name" refers to a part; a text; "@name" of another fixture; "part:name";
  // bytes in hexadecimal, or "bytes:name".
  std::string Contents(JsonValue file) const {
    const auto text = file.GetString();
    if (text && text->starts_with("@")) return ReadFixtureFile(std::string(text->substr(1)));
    if (text && text->starts_with("part:")) return parts_.root().FindMember(text->substr(5)).ToString();
    if (text && text->starts_with("bytes:")) return FromHex(*parts_.root().FindMember(text->substr(6)).GetString());
    if (text && text->starts_with("hex:")) return FromHex(text->substr(4));
    if (text) return std::string(*text);
    std::string json = file.ToString();
    const auto model = file.FindMember("model").GetString();
    if (model && model->starts_with("@")) {
      const std::string name = '"' + std::string(*model) + '"';
      json.replace(json.find(name), name.size(), parts_.root().FindMember(model->substr(1)).ToString());
    }
    return json;
  }

  JsonValue cases() const { return cases_.root(); }

 private:
  std::string parts_text_, cases_text_, folders_text_;
  JsonDocument parts_, cases_;
};

void CheckAbout(const Tokenizer& tokenizer, JsonValue about) {
  const auto id = [about](const char* name) { return about.FindMember(name).GetInt64(); };
  EXPECT_EQ(tokenizer.cls_id(), id("cls"));
  EXPECT_EQ(tokenizer.sep_id(), id("sep"));
  EXPECT_EQ(tokenizer.mask_id(), id("mask"));
  EXPECT_EQ(tokenizer.pad_id(), id("pad"));
  EXPECT_EQ(tokenizer.unk_id(), id("unk"));
  EXPECT_EQ(tokenizer.vocab_size(), id("tokens"));
  EXPECT_EQ(tokenizer.model_max_length(), id("max_length"));
  for (JsonValue special : about.FindMember("special_ids")) {
    EXPECT_TRUE(tokenizer.IsSpecialToken(static_cast<int32_t>(*special.GetInt64())));
  }
}

void CheckCases(const Tokenizer& tokenizer, JsonValue cases, JsonValue folder) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const Result<std::string> windows = EncodeCase(tokenizer, cases[i]);
    const auto digest = folder.FindMember("digests")[i].GetString();
    if (!digest) {
      EXPECT_FALSE(windows.ok()) << i;
      continue;
    }
    ASSERT_TRUE(windows.ok()) << windows.status().message();
    const JsonDocument answer = JsonDocument::Parse(*windows, "windows").value();
    const JsonValue ids = folder.FindMember("ids")[i];
    EXPECT_EQ(answer.root()[0].FindMember("ids").ToString(), ids.ToString()) << i;
    EXPECT_EQ(Digest(*windows + Decoded(tokenizer, ids, true) + Decoded(tokenizer, ids, false)), *digest) << i;
  }
}

struct FolderList {
  const char* name;
  size_t least;  // minimum number of folders
};

class TokenizerFolders : public ::testing::TestWithParam<FolderList> {};

TEST_P(TokenizerFolders, MeanWhatTheirClassSays) {
  const Folders folders(GetParam().name);
  size_t count = 0;
  folders.ForEach([&](JsonValue folder) {
    SCOPED_TRACE(*folder.FindMember("name").GetString());
    const JsonValue written = folder.FindMember("files");
    std::map<std::string, std::string> contents;
    for (size_t i = 0; i < written.size(); ++i) {
      contents[std::string(written.MemberName(i))] = folders.Contents(written.MemberValue(i));
    }
    TokenizerFiles files;
    for (const auto& [name, bytes] : contents) files[name] = bytes;
    const auto tokenizer = Tokenizer::Create(files);
    ++count;
    if (const auto words = folder.FindMember("refused").GetString()) {
      ASSERT_FALSE(tokenizer.ok());
      EXPECT_NE(tokenizer.status().message().find(*words), std::string::npos) << tokenizer.status().message();
      return;
    }
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    CheckAbout(**tokenizer, folder.FindMember("about"));
    CheckCases(**tokenizer, folders.cases(), folder);
  });
  EXPECT_GE(count, GetParam().least);
}

INSTANTIATE_TEST_SUITE_P(Lists, TokenizerFolders,
                         ::testing::Values(FolderList{"folders", 580}, FolderList{"saved_4", 60},
                                           FolderList{"saved_5", 54}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace peruse::text
