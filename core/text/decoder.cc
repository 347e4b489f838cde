#include "core/text/decoder.h"

#include <optional>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/pre_tokenizers/byte_level.h"
#include "core/text/regex/pattern.h"

namespace peruse::text {
namespace {

void ReplaceAll(std::string_view from, std::string_view to, std::string* text) {
  if (from.empty()) return;
  size_t at = text->find(from);
  if (at == std::string::npos) return;
  std::string out;
  size_t start = 0;
  for (; at != std::string::npos; at = text->find(from, start)) {
    out.append(*text, start, at - start).append(to);
    start = at + from.size();
  }
  out.append(*text, start);
  *text = std::move(out);
}

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}

  void Decode(std::vector<std::string>* tokens) const override {
    for (size_t i = 0; i < tokens->size(); ++i) {
      std::string& token = (*tokens)[i];
      if (i > 0) {
        if (token.starts_with(prefix_))
          token.erase(0, prefix_.size());
        else
          token.insert(0, " ");
      }
      if (cleanup_) CleanUpTokenization(true, &token);
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class MetaspaceDecoder final : public Decoder {
 public:
  MetaspaceDecoder(std::string replacement, bool drop_first)
      : replacement_(std::move(replacement)), drop_first_(drop_first) {}

  void Decode(std::vector<std::string>* tokens) const override {
    for (size_t i = 0; i < tokens->size(); ++i) {
      ReplaceAll(replacement_, i == 0 && drop_first_ ? "" : " ", &(*tokens)[i]);
    }
  }

 private:
  std::string replacement_;
  bool drop_first_;
};

class ByteLevelDecoder final : public Decoder {
 public:
  void Decode(std::vector<std::string>* tokens) const override {
    std::string bytes;
    for (const std::string& token : *tokens) {
      if (!AppendStandInBytes(token, &bytes)) bytes.append(token);
    }
    tokens->assign(1, ReplaceInvalidUtf8(bytes));
  }
};

// Converts tokens such as "<0x41>" to bytes. If a run of bytes is not valid UTF-8, each of its bytes becomes U+FFFD.
class ByteFallbackDecoder final : public Decoder {
 public:
  void Decode(std::vector<std::string>* tokens) const override {
    std::vector<std::string> out;
    std::string run;
    const auto flush = [&] {
      if (run.empty()) return;
      if (IsValidUtf8(run))
        out.push_back(run);
      else
        out.insert(out.end(), run.size(), "\xEF\xBF\xBD");
      run.clear();
    };
    for (std::string& token : *tokens) {
      const std::optional<char> byte = ParseByte(token);
      if (byte) {
        run.push_back(*byte);
        continue;
      }
      flush();
      out.push_back(std::move(token));
    }
    flush();
    *tokens = std::move(out);
  }

 private:
  static std::optional<char> ParseByte(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
    int value = 0;
    for (const char c : token.substr(3, 2)) {
      const int digit = c >= '0' && c <= '9'                     ? c - '0'
                        : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                 : -1;
      if (digit < 0) return std::nullopt;
      value = value * 16 + digit;
    }
    return static_cast<char>(value);
  }
};

class FuseDecoder final : public Decoder {
 public:
  void Decode(std::vector<std::string>* tokens) const override {
    std::string all;
    for (const std::string& token : *tokens) all += token;
    tokens->assign(1, std::move(all));
  }
};

class StripDecoder final : public Decoder {
 public:
  StripDecoder(std::string content, int64_t start, int64_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}

  void Decode(std::vector<std::string>* tokens) const override {
    for (std::string& token : *tokens) {
      size_t begin = 0, end = token.size();
      for (int64_t i = 0; i < start_ && token.compare(begin, content_.size(), content_) == 0 && begin < end; ++i) {
        begin += content_.size();
      }
      for (int64_t i = 0; i < stop_ && end >= begin + content_.size() &&
                          token.compare(end - content_.size(), content_.size(), content_) == 0;
           ++i) {
        end -= content_.size();
      }
      token = token.substr(begin, end - begin);
    }
  }

 private:
  std::string content_;
  int64_t start_, stop_;
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(Pattern from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  void Decode(std::vector<std::string>* tokens) const override {
    for (std::string& token : *tokens) Replace(&token);
  }
  // Worst case: an empty match before, between and after all characters of a token.
  size_t growth() const override { return 2 * to_.size() + 1; }

 private:
  void Replace(std::string* token) const {
    PatternMatches matches(from_, *token);
    std::string out;
    size_t copied = 0;
    while (matches.Next()) {
      out.append(*token, copied, matches.begin() - copied).append(to_);
      copied = matches.end();
    }
    if (copied == 0 && out.empty()) return;
    out.append(*token, copied);
    *token = std::move(out);
  }

  Pattern from_;
  std::string to_;
};

class SequenceDecoder final : public Decoder {
 public:
  explicit SequenceDecoder(std::vector<std::unique_ptr<Decoder>> steps) : steps_(std::move(steps)) {}
  void Decode(std::vector<std::string>* tokens) const override {
    for (const auto& step : steps_) {
      if (step != nullptr) step->Decode(tokens);
    }
  }
  size_t growth() const override {
    size_t product = 1;
    for (const auto& step : steps_) product = SaturatingMultiply(product, step != nullptr ? step->growth() : 1);
    return product;
  }

 private:
  std::vector<std::unique_ptr<Decoder>> steps_;
};

Status BadDecoder(JsonValue json) {
  return MalformedFile("tokenizer.json: malformed decoder: " + Excerpt(json.ToString()));
}

Result<std::unique_ptr<Decoder>> ParseSequenceDecoder(JsonValue json) {
  if (!json.FindMember("decoders").IsArray()) return BadDecoder(json);
  std::vector<std::unique_ptr<Decoder>> steps;
  for (JsonValue item : json.FindMember("decoders")) {
    PERUSE_ASSIGN_OR_RETURN(std::unique_ptr<Decoder> step, ParseDecoder(item));
    if (!TryPushBack(&steps, std::move(step))) return OutOfMemory("no memory for the decoders");
  }
  auto sequence = std::make_unique<SequenceDecoder>(std::move(steps));
  constexpr size_t kMostGrowth = 4096;
  if (sequence->growth() > kMostGrowth) {
    return Unsupported("tokenizer.json: decoder: Replace steps that let a text grow more than 4096 times");
  }
  return std::unique_ptr<Decoder>(std::move(sequence));
}

Result<std::unique_ptr<Decoder>> ParseMetaspaceDecoder(JsonValue json) {
  const auto replacement = json.FindMember("replacement").GetString();
  if (!replacement || replacement->empty()) return BadDecoder(json);
  const bool never = json.FindMember("prepend_scheme").GetString() == "never" ||
                     json.FindMember("add_prefix_space").GetBool() == false;
  PERUSE_ASSIGN_OR_RETURN(std::string copy, CopyText(*replacement));
  return MakeMetaspaceDecoder(std::move(copy), !never);
}

Result<std::unique_ptr<Decoder>> ParseReplaceDecoder(JsonValue json) {
  const auto to = json.FindMember("content").GetString();
  if (!to) return BadDecoder(json);
  PERUSE_ASSIGN_OR_RETURN(Pattern from, Pattern::FromJson(json.FindMember("pattern")));
  PERUSE_ASSIGN_OR_RETURN(std::string copy, CopyText(*to));
  return std::unique_ptr<Decoder>(std::make_unique<ReplaceDecoder>(std::move(from), std::move(copy)));
}

Result<std::unique_ptr<Decoder>> ParseStripDecoder(JsonValue json) {
  const auto content = json.FindMember("content").GetString();
  const auto start = json.FindMember("start").GetInt64(), stop = json.FindMember("stop").GetInt64();
  if (!content || content->empty() || !start || !stop) return BadDecoder(json);
  PERUSE_ASSIGN_OR_RETURN(std::string copy, CopyText(*content));
  return std::unique_ptr<Decoder>(std::make_unique<StripDecoder>(std::move(copy), *start, *stop));
}

}  // namespace

void CleanUpTokenization(bool with_do_not, std::string* text) {
  ReplaceAll(" .", ".", text);
  ReplaceAll(" ?", "?", text);
  ReplaceAll(" !", "!", text);
  ReplaceAll(" ,", ",", text);
  ReplaceAll(" ' ", "'", text);
  ReplaceAll(" n't", "n't", text);
  ReplaceAll(" 'm", "'m", text);
  if (with_do_not) ReplaceAll(" do not", " don't", text);
  ReplaceAll(" 's", "'s", text);
  ReplaceAll(" 've", "'ve", text);
  ReplaceAll(" 're", "'re", text);
}

std::unique_ptr<Decoder> MakeWordPieceDecoder(std::string prefix, bool cleanup) {
  return std::make_unique<WordPieceDecoder>(std::move(prefix), cleanup);
}

std::unique_ptr<Decoder> MakeByteLevelDecoder() { return std::make_unique<ByteLevelDecoder>(); }

std::unique_ptr<Decoder> MakeMetaspaceDecoder(std::string replacement, bool drop_first) {
  return std::make_unique<MetaspaceDecoder>(std::move(replacement), drop_first);
}

Result<std::unique_ptr<Decoder>> ParseDecoder(JsonValue json) {
  if (!json.exists() || json.IsNull()) return std::unique_ptr<Decoder>();
  const std::string_view type = json.FindMember("type").GetString().value_or("");
  if (type == "WordPiece") {
    PERUSE_ASSIGN_OR_RETURN(std::string prefix, CopyText(json.FindMember("prefix").GetString().value_or("##")));
    return MakeWordPieceDecoder(std::move(prefix), json.FindMember("cleanup").GetBool().value_or(true));
  }
  if (type == "ByteLevel") return MakeByteLevelDecoder();
  if (type == "Metaspace") return ParseMetaspaceDecoder(json);
  if (type == "Sequence") return ParseSequenceDecoder(json);
  if (type == "ByteFallback") return std::unique_ptr<Decoder>(std::make_unique<ByteFallbackDecoder>());
  if (type == "Fuse") return std::unique_ptr<Decoder>(std::make_unique<FuseDecoder>());
  if (type == "Strip") return ParseStripDecoder(json);
  if (type == "Replace") return ParseReplaceDecoder(json);
  return Unsupported("tokenizer.json: decoder \"" + Excerpt(type) + "\" is not supported");
}

}  // namespace peruse::text
