#include "core/train/session/exporter.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/families/class_names.h"

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

namespace {

constexpr const char* kModelWeights = "model.safetensors";

std::string_view SuffixOf(Head head, const Family& family) {
  return head == Head::kReplacedTokenDetection ? family.pretraining().discriminator_class : ClassSuffix(head);
}

const char* PeftTaskOf(Head head) {
  if (head == Head::kSequenceClassification) return "SEQ_CLS";
  return head == Head::kTokenClassification ? "TOKEN_CLS" : "QUESTION_ANS";
}

std::string FamilyOfClass(std::string_view name) {
  for (const std::string_view end : {"For", "Model"}) {
    if (const size_t at = name.rfind(end); at != std::string_view::npos && at > 0)
      return std::string(name.substr(0, at));
  }
  return "";
}

std::string ConfigJson(const ExportRequest& request, const Family& family, const ModelConfig& config) {
  JsonMembers own;
  std::string name = FamilyOfClass(config.architecture_class);
  if (!name.empty() && request.sentence == nullptr && !config.reads_labels()) {
    own.emplace_back("architectures", "[" + Quoted(name.append(SuffixOf(request.head, family))) + "]");
  }
  own.emplace_back("dtype", "\"float32\"");
  own.emplace_back("torch_dtype", "\"float32\"");
  if (config.reads_labels())
    return WithMembers(request.config_json, own);  // writes no labels, because each call provides them
  if (request.head == Head::kSequenceClassification || request.head == Head::kTokenClassification) {
    std::string by_id, by_label;
    for (size_t i = 0; i < config.id2label.size(); ++i) {
      const std::string label = Quoted(config.id2label[i]), number = std::to_string(i);
      by_id += (i == 0 ? "" : ",") + Quoted(number) + ":" + label;
      by_label += (i == 0 ? "" : ",") + label + ":" + number;
    }
    own.emplace_back("id2label", "{" + by_id + "}");
    own.emplace_back("label2id", "{" + by_label + "}");
    own.emplace_back("num_labels", "");
  } else if (request.head == Head::kQuestionAnswering) {
    // transformers creates one output per label. Without labels it creates two, which question answering needs for start and end.
    for (const char* name : {"id2label", "label2id", "num_labels", "problem_type"}) own.emplace_back(name, "");
  }
  if (request.head == Head::kSequenceClassification) {
    const char* problem = request.problem == ProblemType::kRegression   ? "\"regression\""
                          : request.problem == ProblemType::kMultiLabel ? "\"multi_label_classification\""
                                                                        : "\"single_label_classification\"";
    own.emplace_back("problem_type", problem);
  }
  return WithMembers(request.config_json, own);
}

}  // namespace

Exporter::Exporter(Trainee& trainee, const ExportRequest& request) : trainee_(trainee), head_(request.head) {
  small_.emplace_back("config.json", ConfigJson(request, trainee.family(), trainee.config()));
  if (request.sentence != nullptr) {
    ListModules(*request.sentence);
  } else if (request.options->method == Method::kLora) {
    ListAdapter(*request.options);
  } else {
    std::vector<Tensor> tensors;
    for (const WeightTensor& weight_tensor : trainee.weight_tensors().tensors())
      tensors.push_back({FullName(weight_tensor), &weight_tensor});
    AddWeights(kModelWeights, std::move(tensors));
  }
}

// Lists the encoder's tensors with AutoModel's names, and the classifier's tensors in a file of their own.
void Exporter::ListModules(const SentenceModules& modules) {
  std::vector<Tensor> encoder, classifier;
  for (const WeightTensor& weight_tensor : trainee_.weight_tensors().tensors()) {
    const bool weight = weight_tensor.name.ends_with(".weight");
    if (weight_tensor.head.empty()) {
      encoder.push_back({weight_tensor.name, &weight_tensor});
    } else {
      classifier.push_back({weight ? "linear.weight" : "linear.bias", &weight_tensor});
    }
  }
  const ModelConfig& config = trainee_.config();
  for (auto& [name, content] : SentenceFiles(modules, config.hidden_size, config.num_labels()))
    small_.emplace_back(name, std::move(content));
  AddWeights(kModelWeights, std::move(encoder));
  AddWeights(ClassifierFolder(modules) + "/" + kModelWeights, std::move(classifier));
}

// Returns the tensor's name in a class with a head. There, encoder tensors have a prefix, which a checkpoint of the encoder alone omits.
std::string Exporter::FullName(const WeightTensor& weight_tensor) const {
  const TensorNames& names = trainee_.weight_tensors().names();
  const std::string& prefix = names.prefix().empty() ? names.prefixes().front() : names.prefix();
  const bool pooler = trainee_.family().PoolerIsOfEncoder() && weight_tensor.name.starts_with("pooler.");
  const bool bare_file = names.prefix().empty() && !weight_tensor.file_name.empty();
  const bool of_encoder = bare_file ||
                          (!names.prefix().empty() && weight_tensor.file_name.starts_with(names.prefix())) ||
                          (weight_tensor.file_name.empty() && (weight_tensor.head.empty() || pooler));
  return (of_encoder ? prefix : "") + weight_tensor.name;
}

void Exporter::ListAdapter(const TeachOptions& options) {
  const std::vector<WeightTensor>& weight_tensors = trainee_.weight_tensors().tensors();
  std::set<std::string> modules, targets;
  std::vector<Tensor> tensors;
  for (const LoraPair& pair : trainee_.weight_tensors().lora()) {
    std::string module = FullName(weight_tensors[pair.of]);
    module.resize(module.size() - std::string_view(".weight").size());
    targets.insert(module.substr(module.rfind('.') + 1));
    tensors.push_back({"base_model.model." + module + ".lora_A.weight", &weight_tensors[pair.a]});
    tensors.push_back({"base_model.model." + module + ".lora_B.weight", &weight_tensors[pair.b]});
  }
  for (const WeightTensor& weight_tensor : weight_tensors) {
    if (weight_tensor.head.empty() || !weight_tensor.trained) continue;
    std::string name = FullName(weight_tensor);
    tensors.push_back({"base_model.model." + name, &weight_tensor});
    if (weight_tensor.name.starts_with("pooler.")) name = weight_tensor.name;
    modules.insert(name.substr(0, name.find('.')));
  }
  const auto list = [](const std::set<std::string>& items) {
    std::string json;
    for (const std::string& item : items) json += (json.empty() ? "" : ", ") + Quoted(item);
    return "[" + json + "]";
  };
  std::string json =
      "{\n  \"peft_type\": \"LORA\",\n  \"task_type\": \"" + std::string(PeftTaskOf(head_)) +
      "\",\n  \"base_model_name_or_path\": null,\n  \"inference_mode\": true,\n  \"r\": " +
      std::to_string(options.lora_rank) + ",\n  \"lora_alpha\": " + std::to_string(options.lora_alpha) +
      ",\n  \"lora_dropout\": 0.0,\n  \"bias\": \"none\",\n  \"fan_in_fan_out\": false,\n  \"use_rslora\": false,\n"
      "  \"use_dora\": false,\n  \"init_lora_weights\": true,\n  \"target_modules\": " +
      list(targets) + ",\n  \"modules_to_save\": " + list(modules) + "\n}\n";
  small_.emplace_back("adapter_config.json", std::move(json));
  AddWeights("adapter_model.safetensors", std::move(tensors));
}

// Writes the safetensors format: length of the header, then the header, padded with spaces to a multiple of eight bytes.
void Exporter::AddWeights(std::string name, std::vector<Tensor> tensors) {
  std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
  uint64_t end = 0;
  for (const Tensor& tensor : tensors) {
    const uint64_t begin = end;
    end += static_cast<uint64_t>(tensor.weight_tensor->size) * sizeof(float);
    std::string shape;
    for (const int64_t size : tensor.weight_tensor->shape) shape += (shape.empty() ? "" : ",") + std::to_string(size);
    json += "," + Quoted(tensor.name) + ":{\"dtype\":\"F32\",\"shape\":[" + shape + "],\"data_offsets\":[" +
            std::to_string(begin) + "," + std::to_string(end) + "]}";
  }
  json += "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  const uint64_t length = json.size();
  std::string header(sizeof(length), '\0');
  for (size_t i = 0; i < sizeof(length); ++i) header[i] = static_cast<char>(length >> (8 * i) & 0xFF);
  header += json;
  const uint64_t bytes = header.size() + end;
  weights_.push_back({std::move(name), std::move(tensors), std::move(header), bytes});
}

std::vector<Exporter::File> Exporter::files() const {
  std::vector<File> files;
  for (const auto& [name, contents] : small_) files.push_back({name, contents.size()});
  for (const Weights& weights : weights_) files.push_back({weights.name, weights.bytes});
  return files;
}

Result<std::span<const uint8_t>> Exporter::Read(std::string_view name, uint64_t first, uint64_t count) {
  const auto found = std::find_if(small_.begin(), small_.end(), [&](const auto& file) { return file.first == name; });
  const auto weights =
      std::find_if(weights_.begin(), weights_.end(), [&](const Weights& file) { return file.name == name; });
  const bool large = weights != weights_.end();
  if (!large && found == small_.end()) {
    return Status(StatusCode::kNotFound, "there is no file \"" + std::string(name) + "\"");
  }
  const uint64_t size = large ? weights->bytes : found->second.size();
  if (first > size) return InvalidArgument("\"" + std::string(name) + "\" has " + std::to_string(size) + " bytes only");
  count = std::min(count, size - first);
  if (!TryResize(&bytes_, static_cast<size_t>(count))) return OutOfMemory("no memory for a part of a file");
  uint64_t position = 0;  // bytes of the file's tensors so far
  const auto copy = [&](const void* data, uint64_t bytes) {
    const uint64_t from = std::max(first, position), to = std::min(first + count, position + bytes);
    if (from < to)
      std::memcpy(bytes_.data() + (from - first), static_cast<const uint8_t*>(data) + (from - position), to - from);
    position += bytes;
  };
  if (!large) {
    copy(found->second.data(), found->second.size());
  } else {
    copy(weights->header.data(), weights->header.size());
    for (const Tensor& tensor : weights->tensors)
      copy(tensor.weight_tensor->values, static_cast<uint64_t>(tensor.weight_tensor->size) * sizeof(float));
  }
  return std::span<const uint8_t>(bytes_);
}

}  // namespace peruse::train
