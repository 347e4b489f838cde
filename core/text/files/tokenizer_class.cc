#include "core/text/files/tokenizer_class.h"

#include <string>

#include "core/base/class_name.h"
#include "core/base/json.h"
#include "core/base/utf8.h"
#include "core/text/files/tokenizer_config.h"

namespace peruse::text {
namespace {

constexpr auto kWordPiece = VocabularyFiles::kWordPiece;
constexpr auto kByteLevel = VocabularyFiles::kByteLevel;
constexpr auto kSentencePiece = VocabularyFiles::kSentencePiece;
constexpr auto kXlmRoberta = VocabularyFiles::kXlmRoberta;
constexpr auto kCamembert = VocabularyFiles::kCamembert;

constexpr DefaultTokens kBertTokens = {
    .unk = "[UNK]", .sep = "[SEP]", .pad = "[PAD]", .cls = "[CLS]", .mask = "[MASK]"};
constexpr DefaultTokens kDebertaTokens = {
    .bos = "[CLS]", .eos = "[SEP]", .unk = "[UNK]", .sep = "[SEP]", .pad = "[PAD]", .cls = "[CLS]", .mask = "[MASK]"};
constexpr DefaultTokens kRobertaTokens = {
    .bos = "<s>", .eos = "</s>", .unk = "<unk>", .sep = "</s>", .pad = "<pad>", .cls = "<s>", .mask = "<mask>"};
constexpr DefaultTokens kAlbertTokens = {
    .bos = "[CLS]", .eos = "[SEP]", .unk = "<unk>", .sep = "[SEP]", .pad = "<pad>", .cls = "[CLS]", .mask = "[MASK]"};

// Defaults of transformers' classes. Classes without vocabulary files need a tokenizer.json.
constexpr TokenizerClass kClasses[] = {
    {.name = "PreTrainedTokenizer"},
    {.name = "TokenizersBackend", .has_type_ids = false},  // the base class in transformers 5
    {.name = "BertTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = kBertTokens},
    {.name = "ElectraTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = kBertTokens},
    {.name = "ConvBertTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = kBertTokens},
    {.name = "DistilBertTokenizer",
     .files = kWordPiece,
     .sets_normalizer = true,
     .has_type_ids = false,
     .special = kBertTokens},
    {.name = "MobileBertTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = kBertTokens},
    {.name = "SqueezeBertTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = kBertTokens},
    {.name = "LayoutLMTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = kBertTokens},
    {.name = "MPNetTokenizer",
     .files = kWordPiece,
     .sets_normalizer = true,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special =
         {.bos = "<s>", .eos = "</s>", .unk = "[UNK]", .sep = "</s>", .pad = "<pad>", .cls = "<s>", .mask = "<mask>"}},
    {.name = "DebertaTokenizer", .files = kByteLevel, .special = kDebertaTokens},
    {.name = "DebertaV2Tokenizer", .files = kSentencePiece, .special = kDebertaTokens},
    {.name = "RobertaTokenizer",
     .files = kByteLevel,
     .sets_trimming = true,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = kRobertaTokens},
    {.name = "LongformerTokenizer",
     .files = kByteLevel,
     .sets_trimming = true,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = kRobertaTokens},
    {.name = "XLMRobertaTokenizer",
     .files = kXlmRoberta,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = kRobertaTokens},
    {.name = "CamembertTokenizer",
     .files = kCamembert,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = kRobertaTokens,
     .additional = {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}},
    {.name = "HerbertTokenizer",
     .special = {.unk = "<unk>", .sep = "</s>", .pad = "<pad>", .cls = "<s>", .mask = "<mask>"}},
    {.name = "AlbertTokenizer", .mask_takes_space = true, .special = kAlbertTokens},
    {.name = "RemBertTokenizer", .mask_takes_space = true, .special = kAlbertTokens},
    {.name = "BigBirdTokenizer",
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = {.bos = "<s>",
                 .eos = "</s>",
                 .unk = "<unk>",
                 .sep = "[SEP]",
                 .pad = "<pad>",
                 .cls = "[CLS]",
                 .mask = "[MASK]"}},
    {.name = "GPT2Tokenizer",
     .has_type_ids = false,
     .special = {.bos = "<|endoftext|>", .eos = "<|endoftext|>", .unk = "<|endoftext|>"}},
    {.name = "Qwen2Tokenizer",
     .has_type_ids = false,
     .special = {.eos = "<|endoftext|>", .unk = "<|endoftext|>", .pad = "<|endoftext|>"}},
    {.name = "GemmaTokenizer",
     .has_type_ids = false,
     .adds_ends = true,
     .special = {.bos = "<bos>", .eos = "<eos>", .unk = "<unk>", .pad = "<pad>"}},
    {.name = "LlamaTokenizer",
     .has_type_ids = false,
     .adds_ends = true,
     .special = {.bos = "<s>", .eos = "</s>", .unk = "<unk>"}},
};

struct ModelType {
  std::string_view model_type, name;
};
constexpr ModelType kModelTypes[] = {{"bert", "BertTokenizer"},
                                     {"electra", "ElectraTokenizer"},
                                     {"convbert", "ConvBertTokenizer"},
                                     {"deberta", "DebertaTokenizer"},
                                     {"deberta-v2", "DebertaV2Tokenizer"},
                                     {"distilbert", "DistilBertTokenizer"},
                                     {"mobilebert", "MobileBertTokenizer"},
                                     {"squeezebert", "SqueezeBertTokenizer"},
                                     {"mpnet", "MPNetTokenizer"},
                                     {"roberta", "RobertaTokenizer"},
                                     {"xlm-roberta", "XLMRobertaTokenizer"},
                                     {"camembert", "CamembertTokenizer"},
                                     {"modernbert", "PreTrainedTokenizer"},
                                     {"albert", "AlbertTokenizer"},
                                     {"nomic_bert", "BertTokenizer"},
                                     {"gte", "XLMRobertaTokenizer"},
                                     {"jina_embeddings_v3", "XLMRobertaTokenizer"},
                                     {"eurobert", "PreTrainedTokenizer"},
                                     {"qwen3", "Qwen2Tokenizer"},
                                     {"gemma3_text", "GemmaTokenizer"}};

const TokenizerClass* FindByName(std::string_view name) {
  if (name.ends_with("Fast")) name.remove_suffix(4);
  for (const TokenizerClass& known : kClasses) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

Result<const TokenizerClass*> FindNamed(std::string_view name, std::string_view file) {
  if (const TokenizerClass* known = FindByName(name)) return known;
  return Unsupported(std::string(file) + ": tokenizer_class \"" + Excerpt(name) + "\" is not supported");
}

// Used if no file names a tokenizer class or a model type.
const TokenizerClass* FindByFiles(const TokenizerFiles& files) {
  if (files.contains("tokenizer.json")) return FindByName("PreTrainedTokenizer");
  if (files.contains("vocab.txt")) return FindByName("BertTokenizer");
  if (files.contains("sentencepiece.bpe.model")) return FindByName("XLMRobertaTokenizer");
  return FindByName(files.contains("spm.model") ? "DebertaV2Tokenizer" : "DebertaTokenizer");
}

Status OwnCode(const char* file) {
  return Unsupported(std::string(file) + ": auto_map: a tokenizer with code of its own is not supported");
}

}  // namespace

Result<const TokenizerClass*> FindTokenizerClass(const TokenizerFiles& files, const TokenizerConfig& config) {
  if (config.has_own_code) return OwnCode("tokenizer_config.json");
  if (!config.tokenizer_class.empty()) return FindNamed(config.tokenizer_class, "tokenizer_config.json");
  const auto file = files.find("config.json");
  if (file == files.end()) return FindByFiles(files);
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(file->second, "config.json"));
  const JsonValue root = document.root();
  if (HasOwnCode(root)) return OwnCode("config.json");
  if (const auto name = root.FindMember("tokenizer_class").GetString()) return FindNamed(*name, "config.json");
  const std::string_view model_type = root.FindMember("model_type").GetString().value_or("");
  const std::string_view architecture = root.FindMember("architectures")[0].GetString().value_or("");
  for (const ModelType& known : kModelTypes) {
    constexpr size_t kSuffix = std::string_view("Tokenizer").size();
    const std::string_view classes = known.name.substr(0, known.name.size() - kSuffix);
    if (model_type.empty() ? IsClassOf(architecture, classes) : known.model_type == model_type) {
      return FindByName(known.name);
    }
  }
  return FindByFiles(files);
}

}  // namespace peruse::text
