#include "core/text/files/wordpiece_files.h"

#include <algorithm>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/models/wordpiece.h"
#include "core/text/normalizers/bert_normalizer.h"
#include "core/text/pre_tokenizers/bert_pre_tokenizer.h"

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

}  // namespace peruse::text
