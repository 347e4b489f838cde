#include "core/text/tokenizer_class.h"

#include <string>

#include "core/base/class_name.h"
#include "core/base/json.h"
#include "core/base/utf8.h"
#include "core/text/tokenizer_config.h"

namespace peruse::text {
namespace {

constexpr auto kWordPiece = VocabularyFiles::kWordPiece;
constexpr auto kByteLevel = VocabularyFiles::kByteLevel;
constexpr auto kSentencePiece = VocabularyFiles::kSentencePiece;
constexpr auto kXlmRoberta = VocabularyFiles::kXlmRoberta;
constexpr auto kCamembert = VocabularyFiles::kCamembert;

// bos, eos, unk, sep, pad, cls and mask token of BERT.
#define PERUSE_BERT_TOKENS {"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}
#define PERUSE_DEBERTA_TOKENS {"[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}
#define PERUSE_ROBERTA_TOKENS {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}

// Defaults of transformers' classes. Classes without vocabulary files need a tokenizer.json.
constexpr TokenizerClass kClasses[] = {
    {.name = "PreTrainedTokenizer"},
    {.name = "TokenizersBackend", .has_type_ids = false},  // the base class in transformers 5
    {.name = "BertTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = PERUSE_BERT_TOKENS},
    {.name = "ElectraTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = PERUSE_BERT_TOKENS},
    {.name = "ConvBertTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = PERUSE_BERT_TOKENS},
    {.name = "DistilBertTokenizer",
     .files = kWordPiece,
     .sets_normalizer = true,
     .has_type_ids = false,
     .special = PERUSE_BERT_TOKENS},
    {.name = "MobileBertTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = PERUSE_BERT_TOKENS},
    {.name = "SqueezeBertTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = PERUSE_BERT_TOKENS},
    {.name = "LayoutLMTokenizer", .files = kWordPiece, .sets_normalizer = true, .special = PERUSE_BERT_TOKENS},
    {.name = "MPNetTokenizer",
     .files = kWordPiece,
     .sets_normalizer = true,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = {"<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>"}},
    {.name = "DebertaTokenizer", .files = kByteLevel, .special = PERUSE_DEBERTA_TOKENS},
    {.name = "DebertaV2Tokenizer", .files = kSentencePiece, .special = PERUSE_DEBERTA_TOKENS},
    {.name = "RobertaTokenizer",
     .files = kByteLevel,
     .sets_trimming = true,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = PERUSE_ROBERTA_TOKENS},
    {.name = "LongformerTokenizer",
     .files = kByteLevel,
     .sets_trimming = true,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = PERUSE_ROBERTA_TOKENS},
    {.name = "XLMRobertaTokenizer",
     .files = kXlmRoberta,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = PERUSE_ROBERTA_TOKENS},
    {.name = "CamembertTokenizer",
     .files = kCamembert,
     .two_separators = true,
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = PERUSE_ROBERTA_TOKENS,
     .additional = {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}},
    {.name = "HerbertTokenizer", .special = {"", "", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}},
    {.name = "AlbertTokenizer",
     .mask_takes_space = true,
     .special = {"[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
    {.name = "RemBertTokenizer",
     .mask_takes_space = true,
     .special = {"[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
    {.name = "BigBirdTokenizer",
     .has_type_ids = false,
     .mask_takes_space = true,
     .special = {"<s>", "</s>", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
    {.name = "GPT2Tokenizer",
     .has_type_ids = false,
     .special = {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "", "", ""}},
    {.name = "GemmaTokenizer",
     .has_type_ids = false,
     .adds_ends = true,
     .special = {"<bos>", "<eos>", "<unk>", "", "<pad>", "", ""}},
    {.name = "LlamaTokenizer",
     .has_type_ids = false,
     .adds_ends = true,
     .special = {"<s>", "</s>", "<unk>", "", "", "", ""}},
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
                                     {"gte", "XLMRobertaTokenizer"}};

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
