#include "core/text/files/byte_level_files.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/files/model_json.h"
#include "core/text/models/bpe.h"
#include "core/text/pre_tokenizers/byte_level_pre_tokenizer.h"

namespace peruse::text {
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
