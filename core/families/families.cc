#include "core/base/class_name.h"
#include "core/base/json.h"
#include "core/families/class_names.h"
#include "core/families/family.h"

namespace peruse {

std::unique_ptr<Family> CreateBert();
std::unique_ptr<Family> CreateElectra();
std::unique_ptr<Family> CreateConvBert();
std::unique_ptr<Family> CreateDebertaV1();
std::unique_ptr<Family> CreateDebertaV2();
std::unique_ptr<Family> CreateLightConv();
std::unique_ptr<Family> CreateDynamicConv();
std::unique_ptr<Family> CreateRoberta();
std::unique_ptr<Family> CreateXlmRoberta();
std::unique_ptr<Family> CreateCamembert();
std::unique_ptr<Family> CreateDistilBert();
std::unique_ptr<Family> CreateMpNet();
std::unique_ptr<Family> CreateModernBert();
std::unique_ptr<Family> CreateAlbert();
std::unique_ptr<Family> CreateNomicBert();
std::unique_ptr<Family> CreateJinaBert();
std::unique_ptr<Family> CreateGte();
std::unique_ptr<Family> CreateNewGte();
std::unique_ptr<Family> CreateEuroBert();
std::unique_ptr<Family> CreateQwen3();
std::unique_ptr<Family> CreateGemma3Text();
std::unique_ptr<Family> CreateJinaV3();
std::unique_ptr<Family> CreatePrivacyFilter();
std::unique_ptr<Family> CreateStaticEmbedding();
// Families of models that contain another family's encoder, with the encoder's configuration inside their own.
Result<ConfiguredFamily> ReadGliner(ConfigReader& reader);
Result<ConfiguredFamily> ReadGliClass(ConfigReader& reader);
Result<ConfiguredFamily> ReadGliner2(ConfigReader& reader);

namespace {

constexpr std::string_view kJinaV3 = "jina_embeddings_v3";
constexpr std::string_view kXlmRoberta = "xlm-roberta";
// Code of Jina's for checkpoints whose model_type is often that of XLM-RoBERTa, and whose tensors have the names of Jina v3's.
constexpr std::string_view kFlash = "xlm-roberta-flash";

struct Row {
  std::string_view model_type;
  std::string_view classes;  // prefix of the class names, such as "Bert"
  std::unique_ptr<Family> (*create)();
};

constexpr Row kFamilies[] = {
    {"convbert", "ConvBert", CreateConvBert},
    {"conv_bert", "ConvBert", CreateConvBert},
    {"deberta", "Deberta", CreateDebertaV1},
    {"deberta-v2", "DebertaV2", CreateDebertaV2},
    {"bert", "Bert", CreateBert},
    {"electra", "Electra", CreateElectra},
    {"lightconv", "LightConv", CreateLightConv},
    {"dynamicconv", "DynamicConv", CreateDynamicConv},
    {"roberta", "Roberta", CreateRoberta},
    {kXlmRoberta, "XLMRoberta", CreateXlmRoberta},
    {"camembert", "Camembert", CreateCamembert},
    {"distilbert", "DistilBert", CreateDistilBert},
    {"mpnet", "MPNet", CreateMpNet},
    {"modernbert", "ModernBert", CreateModernBert},
    {"albert", "Albert", CreateAlbert},
    {"nomic_bert", "NomicBert", CreateNomicBert},
    {"jina_bert", "JinaBert", CreateJinaBert},
    {"gte", "Gte", CreateGte},
    {"new", "New", CreateNewGte},
    {"eurobert", "EuroBert", CreateEuroBert},
    {"qwen3", "Qwen3", CreateQwen3},
    {"gemma3_text", "Gemma3Text", CreateGemma3Text},
    {kJinaV3, "JinaEmbeddingsV3", CreateJinaV3},
    {"openai_privacy_filter", "OpenAIPrivacyFilter", CreatePrivacyFilter},
    {"static", "Static", CreateStaticEmbedding},
};

std::string_view TypeOfClass(std::string_view architecture) {
  for (const Row& row : kFamilies) {
    if (IsClassOf(architecture, row.classes)) return row.model_type;
  }
  return {};
}

bool IsOfFlash(ConfigReader& reader, std::string_view model_type) {
  if (model_type == kFlash) return true;
  if (model_type != kXlmRoberta) return false;
  const JsonValue map = reader.Field("auto_map");
  for (size_t i = 0; map.IsObject() && i < map.size(); ++i) {
    if (map.MemberValue(i).GetString().value_or("").find(kFlash) != std::string_view::npos) return true;
  }
  return reader.String("position_embedding_type", "") == "rotary";
}

}  // namespace

Result<ConfiguredFamily> ReadFamily(std::string_view config_json) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(config_json, "config.json"));
  if (!document.root().IsObject()) return MalformedFile("config.json is not an object");
  return ReadFamily(document.root());
}

Result<ConfiguredFamily> ReadFamily(JsonValue config, std::string_view default_model_type) {
  ConfigReader reader(config);
  std::string model_type = reader.String("model_type", default_model_type);
  PERUSE_RETURN_IF_ERROR(reader.status());
  // A gliner_config.json: old files lack model_type, others have "gliner", "gliner_uni_encoder_span" and so on.
  if (model_type.starts_with("gliner") ||
      (model_type.empty() && (reader.Field("max_width").exists() || reader.Field("span_mode").exists()))) {
    return ReadGliner(reader);
  }
  if (model_type == "GLiClass") return ReadGliClass(reader);
  if (model_type == "extractor") return ReadGliner2(reader);
  const std::string_view architecture = reader.Field("architectures")[0].GetString().value_or("");
  if (model_type.empty()) model_type = TypeOfClass(architecture);
  // Jina's configuration class calls its model a BERT.
  if (model_type == "bert" && reader.String("position_embedding_type", "") == "alibi") model_type = "jina_bert";
  if (IsOfFlash(reader, model_type)) model_type = kJinaV3;
  if (model_type.empty()) return MalformedFile("config.json has no model_type, and no architectures that tell it");

  std::string known;
  for (const Row& row : kFamilies) {
    if (row.model_type == model_type) {
      ConfiguredFamily result = {row.create(), {}};
      result.config = ReadModelConfig(reader, result.family->defaults(), result.family->fields());
      result.config.model_type = model_type;
      result.family->Read(reader, result.config);
      if (!result.family->IsLanguageModel() && reader.Bool("is_causal", false)) {
        reader.Fail(Unsupported(
            "config.json: is_causal is true; in this model Peruse only lets tokens see both sides of a text"));
      }
      if (!result.config.lora_task.empty() && model_type != kJinaV3) {
        return InvalidArgument("option lora_task is for models with adapters for tasks, such as jina-embeddings-v3");
      }
      // A member that the host adds (core/api/session.cc).
      if (reader.Bool("applies_adapters", false) && model_type != kJinaV3) {
        return Unsupported(
            "modules.json: custom_st.Transformer applies an adapter for each task, which Peruse does not read in this "
            "model: use the repository of one task, or name an adapter's folder with the option adapter");
      }
      PERUSE_RETURN_IF_ERROR(reader.status());
      return result;
    }
    if (row.model_type != "conv_bert") known += (known.empty() ? "" : ", ") + std::string(row.model_type);
  }
  const std::string why = WhyRefused(model_type, architecture);
  return Unsupported("config.json: model_type \"" + model_type + "\" is not supported" +
                     (why.empty() ? "; these are: " + known : why));
}

}  // namespace peruse
