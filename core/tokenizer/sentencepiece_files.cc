#include "core/tokenizer/sentencepiece_files.h"

#include <vector>

#include "core/tokenizer/metaspace.h"
#include "core/tokenizer/precompiled.h"
#include "core/tokenizer/sentencepiece_model.h"
#include "core/tokenizer/simple_normalizers.h"
#include "core/tokenizer/simple_pre_tokenizers.h"
#include "core/tokenizer/special_tokens.h"
#include "core/tokenizer/unicode_normalizer.h"
#include "core/tokenizer/unigram.h"

namespace peruse {
namespace {

constexpr char32_t kMetaspace = 0x2581;

Result<std::unique_ptr<Normalizer>> MakeNormalizer(std::string_view charsmap, bool lowercase) {
  std::vector<std::unique_ptr<Normalizer>> steps;
  if (lowercase) steps.push_back(std::make_unique<LowercaseNormalizer>());
  steps.push_back(std::make_unique<StripNormalizer>(true, true));
  if (!charsmap.empty()) {
    PERUSE_ASSIGN_OR_RETURN(auto precompiled, PrecompiledNormalizer::Create(charsmap));
    steps.push_back(std::move(precompiled));
  }
  PERUSE_ASSIGN_OR_RETURN(Pattern spaces, Pattern::Regex(" {2,}"));
  steps.push_back(std::make_unique<ReplaceNormalizer>(std::move(spaces), " "));
  return std::unique_ptr<Normalizer>(std::make_unique<SequenceNormalizer>(std::move(steps)));
}

std::unique_ptr<PreTokenizer> MakePreTokenizer(bool split_by_punct) {
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  if (split_by_punct) steps.push_back(std::make_unique<PunctuationPreTokenizer>(SplitBehavior::kIsolated));
  steps.push_back(std::make_unique<Metaspace>(kMetaspace, PrependScheme::kAlways, true));
  return std::make_unique<SequencePreTokenizer>(std::move(steps));
}

}  // namespace

Status ReadSentencePieceFiles(std::string_view model, const TokenizerConfig& config, Tokenizer::Parts* parts) {
  PERUSE_ASSIGN_OR_RETURN(const SentencePieceModel spm, ReadSentencePieceModel(model));
  if (!spm.is_unigram) return Unsupported("spm.model: only unigram models are supported");
  PERUSE_ASSIGN_OR_RETURN(parts->model, Unigram::Create(spm.pieces, spm.unk_id, false));
  PERUSE_ASSIGN_OR_RETURN(parts->normalizer, MakeNormalizer(spm.charsmap, config.normalizer.lowercase.value_or(false)));
  parts->pre_tokenizer = MakePreTokenizer(config.split_by_punct);
  parts->decoder = MakeMetaspaceDecoder("\xE2\x96\x81", true);
  const SpecialTokens& special = config.special;
  PERUSE_RETURN_IF_ERROR(AddSpecialTokens(
      {SpecialTokenOr(special.pad, "[PAD]"), SpecialTokenOr(special.cls, "[CLS]"), SpecialTokenOr(special.sep, "[SEP]"),
       SpecialTokenOr(special.unk, "[UNK]"), SpecialTokenOr(special.mask, "[MASK]")},
      config, parts));
  FindSpecialIds(config, parts);
  parts->post_processor = BertPostProcessor(parts->cls_id, parts->sep_id);
  return OkStatus();
}

}  // namespace peruse
