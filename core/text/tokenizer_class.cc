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
constexpr auto kNone = VocabularyFiles::kNone;

// bos, eos, unk, sep, pad, cls and mask token of BERT.
#define PERUSE_BERT_TOKENS {"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}
#define PERUSE_DEBERTA_TOKENS {"[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}
#define PERUSE_ROBERTA_TOKENS {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}

// Defaults of transformers' classes. Classes without vocabulary files need a tokenizer.json.
constexpr TokenizerClass kClasses[] = {
    // Columns: name, files, sets_normalizer, sets_trimming, two_separators, has_type_ids, mask_takes_space, adds_ends, special.
    {"PreTrainedTokenizer", kNone, false, false, false, true, false, false, {}},
    {"TokenizersBackend", kNone, false, false, false, false, false, false, {}},  // the base class in transformers 5
    {"BertTokenizer", kWordPiece, true, false, false, true, false, false, PERUSE_BERT_TOKENS},
    {"ElectraTokenizer", kWordPiece, true, false, false, true, false, false, PERUSE_BERT_TOKENS},
    {"ConvBertTokenizer", kWordPiece, true, false, false, true, false, false, PERUSE_BERT_TOKENS},
    {"DistilBertTokenizer", kWordPiece, true, false, false, false, false, false, PERUSE_BERT_TOKENS},
    {"MobileBertTokenizer", kWordPiece, true, false, false, true, false, false, PERUSE_BERT_TOKENS},
    {"SqueezeBertTokenizer", kWordPiece, true, false, false, true, false, false, PERUSE_BERT_TOKENS},
    {"LayoutLMTokenizer", kWordPiece, true, false, false, true, false, false, PERUSE_BERT_TOKENS},
    {"MPNetTokenizer",
     kWordPiece,
     true,
     false,
     true,
     false,
     true,
     false,
     {"<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>"}},
    {"DebertaTokenizer", kByteLevel, false, false, false, true, false, false, PERUSE_DEBERTA_TOKENS},
    {"DebertaV2Tokenizer", kSentencePiece, false, false, false, true, false, false, PERUSE_DEBERTA_TOKENS},
    {"RobertaTokenizer", kByteLevel, false, true, true, false, true, false, PERUSE_ROBERTA_TOKENS},
    {"LongformerTokenizer", kByteLevel, false, true, true, false, true, false, PERUSE_ROBERTA_TOKENS},
    {"XLMRobertaTokenizer", kXlmRoberta, false, false, true, false, true, false, PERUSE_ROBERTA_TOKENS},
    {"CamembertTokenizer",
     kCamembert,
     false,
     false,
     true,
     false,
     true,
     false,
     PERUSE_ROBERTA_TOKENS,
     {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}},
    {"HerbertTokenizer",
     kNone,
     false,
     false,
     false,
     true,
     false,
     false,
     {"", "", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}},
    {"AlbertTokenizer",
     kNone,
     false,
     false,
     false,
     true,
     true,
     false,
     {"[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
    {"RemBertTokenizer",
     kNone,
     false,
     false,
     false,
     true,
     true,
     false,
     {"[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
    {"BigBirdTokenizer",
     kNone,
     false,
     false,
     false,
     false,
     true,
     false,
     {"<s>", "</s>", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
    {"GPT2Tokenizer",
     kNone,
     false,
     false,
     false,
     false,
     false,
     false,
     {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "", "", ""}},
    {"GemmaTokenizer",
     kNone,
     false,
     false,
     false,
     false,
     false,
     true,
     {"<bos>", "<eos>", "<unk>", "", "<pad>", "", ""}},
    {"LlamaTokenizer", kNone, false, false, false, false, false, true, {"<s>", "</s>", "<unk>", "", "", "", ""}},
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
