#include "core/text/files/tokenizer_loader.h"

#include <span>
#include <string>

#include "core/base/memory.h"
#include "core/text/files/sentencepiece_files.h"
#include "core/text/files/special_tokens.h"
#include "core/text/files/tokenizer_class.h"
#include "core/text/files/tokenizer_config.h"
#include "core/text/files/tokenizer_json.h"
#include "core/text/files/tokenizer_parts.h"
#include "core/text/files/vocabulary_files.h"

namespace peruse::text {
namespace {

std::optional<std::string_view> FindFile(const TokenizerFiles& files, std::string_view name) {
  const auto file = files.find(name);
  return file == files.end() ? std::nullopt : std::optional<std::string_view>(file->second);
}

Status Missing(const TokenizerClass& type, const char* needed) {
  return Status(StatusCode::kNotFound,
                "no tokenizer: " + std::string(type.name) + " needs tokenizer.json, or " + needed);
}

// Sets the stages and `special`. `listed` receives the tokens that precede those of `special`.
Status ReadVocabularyFiles(const TokenizerFiles& files, const TokenizerConfig& config, const TokenizerClass& type,
                           std::vector<ListedToken>* listed, SpecialTokens* special, Tokenizer::Parts* parts) {
  if (const char* const name = SentencePieceFile(type.files)) {
    const auto model = FindFile(files, name);
    if (!model) return Missing(type, name);
    PERUSE_RETURN_IF_ERROR(ReadSentencePieceFiles(*model, type.files, config, listed, parts));
  }
  PERUSE_ASSIGN_OR_RETURN(*special, ResolveSpecialTokens(config, type, false, *listed));
  switch (type.files) {
    case VocabularyFiles::kSentencePiece:
    case VocabularyFiles::kXlmRoberta:
    case VocabularyFiles::kCamembert:
      return OkStatus();
    case VocabularyFiles::kWordPiece: {
      const auto text = FindFile(files, "vocab.txt");
      return text ? ReadWordPieceFiles(*text, config, *special, parts) : Missing(type, "vocab.txt");
    }
    case VocabularyFiles::kByteLevel: {
      const auto vocabulary = FindFile(files, "vocab.json"), merges = FindFile(files, "merges.txt");
      if (!vocabulary || !merges) return Missing(type, "vocab.json with merges.txt");
      return ReadByteLevelFiles(*vocabulary, *merges, config, parts);
    }
    case VocabularyFiles::kNone:
      break;
  }
  return Unsupported("tokenizer_class \"" + std::string(type.name) + "\" without a tokenizer.json is not supported");
}

Status ConvertFiles(const TokenizerFiles& files, const TokenizerConfig& config, const TokenizerClass& type,
                    SpecialTokens* special, Tokenizer::Parts* parts) {
  std::vector<ListedToken> listed;
  PERUSE_RETURN_IF_ERROR(ReadVocabularyFiles(files, config, type, &listed, special, parts));
  PERUSE_ASSIGN_OR_RETURN(std::vector<AddedToken> tokens, TakeTokens(std::move(listed)));
  PERUSE_ASSIGN_OR_RETURN(parts->added_tokens,
                          AddedTokens::Create(std::move(tokens), std::move(special->added), parts->model->vocabulary(),
                                              parts->normalizer.get()));
  // Without tokenizer.json, the classes of RoBERTa and BERT put their own special tokens around a text; those of SentencePiece and DeBERTa
  // use fixed token names.
  const auto find = [&](std::string_view name) {
    const int32_t id = parts->added_tokens.Find(name);
    return id >= 0 ? id : parts->model->vocabulary().Find(name);
  };
  const bool is_fairseq = type.files == VocabularyFiles::kXlmRoberta || type.files == VocabularyFiles::kCamembert;
  const bool by_name = type.files != VocabularyFiles::kWordPiece && !type.sets_trimming;
  const int32_t cls = find(is_fairseq ? "<s>" : by_name ? "[CLS]" : special->content(kClsToken));
  const int32_t sep = find(is_fairseq ? "</s>" : by_name ? "[SEP]" : special->content(kSepToken));
  parts->post_processor = type.two_separators ? RobertaPostProcessor(cls, sep) : BertPostProcessor(cls, sep);
  if (type.sets_trimming) {
    parts->post_processor.trimming = {config.trim_offsets, config.add_prefix_space};
  } else if (type.two_separators && !is_fairseq) {  // unlike RobertaProcessing, MPNetConverter sets type ids
    for (TemplatePart& part : std::span(parts->post_processor.pair).last(2)) part.type_id = 1;
  }
  return OkStatus();
}

// Adds bos and eos tokens, like update_post_processor of transformers' GemmaTokenizerFast and LlamaTokenizerFast.
Status AddEnds(const TokenizerConfig& config, const SpecialTokens& special, Tokenizer::Parts* parts) {
  const auto find = [&](bool is_added, SpecialAttribute attribute, int32_t* id) {
    *id = -1;
    if (!is_added) return OkStatus();
    const std::string_view content = special.content(attribute);
    *id = content.empty() ? -1 : parts->added_tokens.Find(content);
    if (*id < 0 && !content.empty()) *id = parts->model->vocabulary().Find(content);
    return *id >= 0 ? OkStatus()
                    : MalformedFile("tokenizer: there is no token for " + std::string(kSpecialNames[attribute]));
  };
  int32_t bos, eos;
  PERUSE_RETURN_IF_ERROR(find(config.add_bos_token, kBosToken, &bos));
  PERUSE_RETURN_IF_ERROR(find(config.add_eos_token, kEosToken, &eos));
  parts->post_processor = EndsPostProcessor(bos, eos);
  return OkStatus();
}

Status CheckTemplate(const std::vector<TemplatePart>& parts, const Tokenizer& tokenizer) {
  for (const TemplatePart& part : parts) {
    for (const int32_t id : part.ids) {
      const auto token = tokenizer.IdToToken(id);
      if (token.ok()) continue;
      if (token.status().code() == StatusCode::kOutOfMemory) return token.status();
      return MalformedFile("tokenizer: the post-processor adds id " + std::to_string(id) + ", which no token has");
    }
  }
  return OkStatus();
}

void ClearTypeIds(PostProcessor* processor) {
  for (TemplatePart& part : processor->single) part.type_id = 0;
  for (TemplatePart& part : processor->pair) part.type_id = 0;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> TokenizerLoader::Load(const TokenizerFiles& files) {
  PERUSE_RETURN_IF_ERROR(HoldReserve());
  PERUSE_ASSIGN_OR_RETURN(const TokenizerConfig config, ReadTokenizerConfig(files));
  PERUSE_ASSIGN_OR_RETURN(const TokenizerClass* const type, FindTokenizerClass(files, config));
  auto parts = std::make_unique<Tokenizer::Parts>();
  parts->clean_up_spaces = config.clean_up_spaces.value_or(false);
  SpecialTokens special;
  if (const auto json = FindFile(files, "tokenizer.json")) {
    PERUSE_RETURN_IF_ERROR(ReadTokenizerJson(*json, config, *type, &special, parts.get()));
  } else {
    PERUSE_RETURN_IF_ERROR(ConvertFiles(files, config, *type, &special, parts.get()));
  }
  FindSpecialIds(special, !config.has_file && !files.contains("config.json"), parts.get());
  if (type->adds_ends && !(config.keeps_template && files.contains("tokenizer.json"))) {
    PERUSE_RETURN_IF_ERROR(AddEnds(config, special, parts.get()));
  }
  parts->model_max_length = config.model_max_length;
  parts->pads_left = config.pads_left.value_or(type->adds_ends);  // as the classes of Gemma and Llama do
  parts->truncation_side = config.truncation_side.value_or(parts->truncation_side);
  if (config.split_special_tokens) parts->added_tokens.SplitSpecialTokens();
  if (!config.has_type_ids.value_or(type->has_type_ids)) ClearTypeIds(&parts->post_processor);
  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer(std::move(parts)));
  PERUSE_RETURN_IF_ERROR(CheckTemplate(tokenizer->parts_->post_processor.single, *tokenizer));
  PERUSE_RETURN_IF_ERROR(CheckTemplate(tokenizer->parts_->post_processor.pair, *tokenizer));
  return tokenizer;
}

}  // namespace peruse::text
