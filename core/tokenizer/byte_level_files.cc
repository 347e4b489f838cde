#include "core/tokenizer/byte_level_files.h"

#include <algorithm>

#include "core/base/utf8.h"
#include "core/tokenizer/bpe.h"
#include "core/tokenizer/byte_level_pre_tokenizer.h"
#include "core/tokenizer/model_json.h"
#include "core/tokenizer/special_tokens.h"

namespace peruse {
namespace {

// "left right" per line; "#version" lines are comments.
Result<BpeMerges> ReadMerges(std::string_view text) {
  if (!IsValidUtf8(text)) return MalformedFile("merges.txt is not valid UTF-8");
  BpeMerges merges;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = text.substr(start, end - start);
    start = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      return MalformedFile("merges.txt: malformed line \"" + std::string(line.substr(0, 100)) + "\"");
    }
    merges.push_back({line.substr(0, space), line.substr(space + 1)});
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
  parts->pre_tokenizer = std::make_unique<ByteLevelPreTokenizer>(config.add_prefix_space.value_or(false), true);
  parts->decoder = MakeByteLevelDecoder();
  const SpecialTokens& special = config.special;
  AddedToken mask = SpecialTokenOr(special.mask, "[MASK]");
  // A mask token given as a plain string swallows the space before it.
  if (!special.mask) mask.lstrip = true;
  PERUSE_RETURN_IF_ERROR(
      AddSpecialTokens({SpecialTokenOr(special.pad, "[PAD]"), SpecialTokenOr(special.cls, "[CLS]"),
                        SpecialTokenOr(special.sep, "[SEP]"), SpecialTokenOr(special.unk, "[UNK]"), mask},
                       config, parts));
  FindSpecialIds(config, parts);
  parts->post_processor = BertPostProcessor(parts->cls_id, parts->sep_id);
  return OkStatus();
}

}  // namespace peruse
