#include "core/tokenizer/wordpiece_files.h"

#include <algorithm>

#include "core/base/utf8.h"
#include "core/tokenizer/bert_normalizer.h"
#include "core/tokenizer/bert_pre_tokenizer.h"
#include "core/tokenizer/special_tokens.h"
#include "core/tokenizer/unicode.h"
#include "core/tokenizer/wordpiece.h"

namespace peruse {
namespace {

std::string_view StripTrailingSpace(std::string_view line) {
  while (!line.empty()) {
    size_t last = line.size();
    if (!IsSpace(DecodeUtf8Backwards(line, &last))) break;
    line = line.substr(0, last);
  }
  return line;
}

// One token per line; of repeated tokens the last one counts.
VocabularyEntries ReadLines(std::string_view text) {
  VocabularyEntries entries;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    entries.push_back({StripTrailingSpace(text.substr(start, end - start)), static_cast<int32_t>(entries.size())});
    start = end + 1;
  }
  return entries;
}

}  // namespace

Status ReadWordPieceFiles(std::string_view vocabulary_text, const TokenizerConfig& config, Tokenizer::Parts* parts) {
  if (vocabulary_text.empty()) return MalformedFile("vocab.txt is empty");
  if (!IsValidUtf8(vocabulary_text)) return MalformedFile("vocab.txt is not valid UTF-8");
  PERUSE_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(ReadLines(vocabulary_text)));
  const SpecialTokens& special = config.special;
  WordPieceOptions options;
  options.unk_token = SpecialTokenOr(special.unk, "[UNK]").content;
  parts->model = std::make_unique<WordPiece>(std::move(vocabulary), options);

  BertNormalizerOptions normalizer;
  normalizer.lowercase = config.normalizer.lowercase.value_or(true);
  normalizer.strip_accents = config.normalizer.strip_accents;
  normalizer.handle_chinese_chars = config.normalizer.handle_chinese_chars.value_or(true);
  parts->normalizer = std::make_unique<BertNormalizer>(normalizer);
  parts->pre_tokenizer = std::make_unique<BertPreTokenizer>();
  parts->decoder = MakeWordPieceDecoder("##", true);

  PERUSE_RETURN_IF_ERROR(AddSpecialTokens(
      {SpecialTokenOr(special.pad, "[PAD]"), SpecialTokenOr(special.unk, "[UNK]"), SpecialTokenOr(special.cls, "[CLS]"),
       SpecialTokenOr(special.sep, "[SEP]"), SpecialTokenOr(special.mask, "[MASK]")},
      config, parts));
  FindSpecialIds(config, parts);
  parts->post_processor = BertPostProcessor(parts->cls_id, parts->sep_id);
  return OkStatus();
}

}  // namespace peruse
