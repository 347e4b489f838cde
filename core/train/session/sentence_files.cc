#include "core/train/session/sentence_files.h"

#include "core/base/json_members.h"

namespace peruse::train {
namespace {

constexpr const char* kPoolingFolder = "1_Pooling";

std::string ModuleJson(size_t index, const std::string& name, const std::string& folder, const std::string& type) {
  return "  {\"idx\": " + std::to_string(index) + ", \"name\": " + Quoted(name) + ", \"path\": " + Quoted(folder) +
         ", \"type\": \"sentence_transformers.models." + type + "\"}";
}

std::string PoolingJson(PoolingMode mode, int32_t hidden) {
  const auto flag = [mode](const char* name, PoolingMode of) {
    return ",\n  \"pooling_mode_" + std::string(name) + "\": " + (mode == of ? "true" : "false");
  };
  return "{\n  \"word_embedding_dimension\": " + std::to_string(hidden) + flag("cls_token", PoolingMode::kCls) +
         flag("mean_tokens", PoolingMode::kMean) + flag("max_tokens", PoolingMode::kMax) +
         flag("lasttoken", PoolingMode::kLastToken) + "\n}\n";
}

}  // namespace

std::string ClassifierFolder(const SentenceModules& modules) {
  return std::to_string(modules.steps.size() + 2) + "_Dense";
}

std::vector<std::pair<std::string, std::string>> SentenceFiles(const SentenceModules& modules, int32_t hidden,
                                                               int32_t labels) {
  std::string list =
      "[\n" + ModuleJson(0, "0", "", "Transformer") + ",\n" + ModuleJson(1, "1", kPoolingFolder, "Pooling");
  size_t index = 2;
  for (size_t i = 0; i < modules.steps.size(); ++i, ++index) {  // writes the folders of normalisation modules
    list += ",\n" + ModuleJson(index, std::to_string(index), std::to_string(index) + "_Normalize", "Normalize");
  }
  const std::string classifier = ClassifierFolder(modules);
  list += ",\n" + ModuleJson(index, "classifier", classifier, "Dense") + "\n]\n";
  const std::string dense =
      "{\n  \"in_features\": " + std::to_string(hidden) + ",\n  \"out_features\": " + std::to_string(labels) +
      ",\n  \"bias\": true,\n  \"activation_function\": \"torch.nn.modules.linear.Identity\"\n}\n";
  std::vector<std::pair<std::string, std::string>> files = {
      {"modules.json", list},
      {std::string(kPoolingFolder) + "/config.json", PoolingJson(modules.pooling[0], hidden)},
      {classifier + "/config.json", dense},
  };
  if (modules.max_seq_length) {
    files.emplace_back(
        "sentence_bert_config.json",
        "{\n  \"max_seq_length\": " + std::to_string(*modules.max_seq_length) + ",\n  \"do_lower_case\": false\n}\n");
  }
  return files;
}

}  // namespace peruse::train
