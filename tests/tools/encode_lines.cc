// Reads cases from standard input (see case_json.h) and writes each encoding, or {"error": ...}, as a line of JSON, for
// tests/reference/make_tokenizer_fixtures.py. {"about": true} returns the special ids and the limit. With "decode": [ids] a case returns
// the decoded string ("skip": true skips special tokens).
//
//   encode_lines tokenizer.json=<path> [tokenizer_config.json=<path> ...] < cases.jsonl
#include <cstdio>
#include <string>
#include <vector>

#include "core/base/json_writer.h"
#include "tests/native/text/case_json.h"

namespace {

bool ReadFile(const char* path, std::string* out) {
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) out->append(buffer, n);
  std::fclose(file);
  return true;
}

std::string Quote(std::string_view key, std::string_view text) {
  std::string out;
  peruse::JsonWriter writer(&out);
  writer.BeginObject();
  writer.Key(key);
  writer.String(text);
  writer.EndObject();
  return out;
}

std::string About(const peruse::text::Tokenizer& tokenizer) {
  std::string out;
  peruse::JsonWriter writer(&out);
  writer.BeginObject();
  const std::pair<const char*, int32_t> ids[] = {{"cls", tokenizer.cls_id()},
                                                 {"sep", tokenizer.sep_id()},
                                                 {"mask", tokenizer.mask_id()},
                                                 {"pad", tokenizer.pad_id()},
                                                 {"unk", tokenizer.unk_id()}};
  for (const auto& [name, id] : ids) {
    writer.Key(name);
    writer.Int(id);
  }
  writer.Key("max_length");
  if (tokenizer.model_max_length())
    writer.Int(*tokenizer.model_max_length());
  else
    writer.Null();
  writer.Key("tokens");
  writer.Int(tokenizer.vocab_size());
  writer.Key("special_ids");
  writer.BeginArray();
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.IsSpecialToken(id)) writer.Int(id);
  }
  writer.EndArray();
  writer.EndObject();
  return out;
}

std::string Answer(const peruse::text::Tokenizer& tokenizer, const std::string& line) {
  auto document = peruse::JsonDocument::Parse(line, "case");
  if (!document.ok()) return Quote("error", document.status().message());
  const peruse::JsonValue root = document->root();
  if (root.FindMember("about").exists()) return About(tokenizer);
  if (root.FindMember("decode").exists()) {
    std::vector<int32_t> ids;
    for (peruse::JsonValue id : root.FindMember("decode"))
      ids.push_back(static_cast<int32_t>(id.GetInt64().value_or(-1)));
    return Quote("decoded", tokenizer.Decode(ids, root.FindMember("skip").GetBool().value_or(false)));
  }
  auto encoding = peruse::text::EncodeCase(tokenizer, root);
  return encoding.ok() ? *encoding : Quote("error", encoding.status().message());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> contents(static_cast<size_t>(argc));
  peruse::text::TokenizerFiles files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (equals == std::string::npos || !ReadFile(argv[i] + equals + 1, &contents[static_cast<size_t>(i)])) {
      std::fprintf(stderr, "cannot read %s\n", argv[i]);
      return 2;
    }
    files[argument.substr(0, equals)] = contents[static_cast<size_t>(i)];
  }
  auto tokenizer = peruse::text::Tokenizer::Create(files);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().message().c_str());
    return 1;
  }
  std::string line;
  for (int c; (c = std::getchar()) != EOF;) {
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
      continue;
    }
    const std::string answer = Answer(**tokenizer, line);
    std::fwrite(answer.data(), 1, answer.size(), stdout);
    std::putchar('\n');
    line.clear();
  }
  return 0;
}
