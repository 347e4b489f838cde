#include "core/text/files/vocabulary_files.h"

#include <algorithm>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/files/tokenizer_json.h"
#include "core/text/models/bpe.h"
#include "core/text/models/wordpiece.h"
#include "core/text/normalizers/bert_normalizer.h"
#include "core/text/pre_tokenizers/bert_pre_tokenizer.h"
#include "core/text/pre_tokenizers/byte_level.h"

namespace peruse::text {
namespace {

// Reads one token per line, including trailing white space. Recognises Python's line ends. The last of repeated tokens counts.
Result<VocabularyEntries> ReadLines(std::string_view text) {
  VocabularyEntries entries;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find_first_of("\r\n", start), text.size());
    if (!TryPushBack(&entries, {text.substr(start, end - start), static_cast<int32_t>(entries.size())})) {
      return OutOfMemory("no memory for vocab.txt");
    }
    start = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  }
  return entries;
}

}  // namespace

Status ReadWordPieceFiles(std::string_view vocabulary_text, const TokenizerConfig& config, const SpecialTokens& special,
                          Tokenizer::Parts* parts) {
  if (vocabulary_text.empty()) return MalformedFile("vocab.txt is empty");
  if (!IsValidUtf8(vocabulary_text)) return MalformedFile("vocab.txt is not valid UTF-8");
  PERUSE_ASSIGN_OR_RETURN(const VocabularyEntries entries, ReadLines(vocabulary_text));
  PERUSE_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(entries));
  WordPieceOptions options;
  PERUSE_ASSIGN_OR_RETURN(options.unk_token, CopyText(special.content(kUnkToken)));
  parts->model = std::make_unique<WordPiece>(std::move(vocabulary), std::move(options));
  parts->normalizer = std::make_unique<BertNormalizer>(BertOptions(config));
  parts->pre_tokenizer = std::make_unique<BertPreTokenizer>();
  parts->decoder = MakeWordPieceDecoder("##", true);
  parts->clean_up_spaces = config.clean_up_spaces.value_or(true);
  return OkStatus();
}

namespace {

// Reads lines "left right". As in tokenizers, the first line is a comment, and an empty last line is ignored.
Result<BpeMerges> ReadMerges(std::string_view text) {
  if (!IsValidUtf8(text)) return MalformedFile("merges.txt is not valid UTF-8");
  BpeMerges merges;
  size_t start = text.find('\n') + 1;
  for (size_t end; start > 0 && (end = text.find('\n', start)) != std::string_view::npos; start = end + 1) {
    std::string_view line = text.substr(start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      return MalformedFile("merges.txt: malformed line \"" + Excerpt(line) + "\"");
    }
    if (!TryPushBack(&merges, {line.substr(0, space), line.substr(space + 1)})) {
      return OutOfMemory("no memory for merges.txt");
    }
  }
  return merges;
}

}  // namespace

Status ReadByteLevelFiles(std::string_view vocabulary_bytes, std::string_view merges_text,
                          const TokenizerConfig& config, Tokenizer::Parts* parts) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(vocabulary_bytes, "vocab.json"));
  PERUSE_ASSIGN_OR_RETURN(const VocabularyEntries entries, ParseVocabularyObject(document.root()));
  PERUSE_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(entries));
  PERUSE_ASSIGN_OR_RETURN(const BpeMerges merges, ReadMerges(merges_text));
  PERUSE_ASSIGN_OR_RETURN(parts->model, Bpe::Create(std::move(vocabulary), merges, BpeOptions()));
  parts->pre_tokenizer = std::make_unique<ByteLevelPreTokenizer>(config.add_prefix_space, true);
  parts->decoder = MakeByteLevelDecoder();
  return OkStatus();
}

}  // namespace peruse::text
