#include "core/api/sentence_modules_reader.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/api/module_list.h"
#include "core/api/multi_vector_reader.h"
#include "core/api/transformer_module_reader.h"
#include "core/base/json.h"

namespace peruse {
namespace {

constexpr std::string_view kClassifierModule = "classifier";  // name that a classifier has in modules.json
// Some releases of sentence-transformers wrote "fullname" as an activation; it then uses the default.
constexpr std::string_view kNameOfNothing = "sentence_transformers.util.fullname";

constexpr std::pair<std::string_view, PoolingMode> kPoolingModes[] = {
    {"cls", PoolingMode::kCls},
    {"mean", PoolingMode::kMean},
    {"max", PoolingMode::kMax},
    {"mean_sqrt_len_tokens", PoolingMode::kMeanSqrtLength},
    {"weightedmean", PoolingMode::kWeightedMean},
    {"lasttoken", PoolingMode::kLastToken},
};

// In the order in which sentence-transformers concatenates the pooled vectors.
constexpr std::pair<std::string_view, PoolingMode> kPoolingFlags[] = {
    {"pooling_mode_cls_token", PoolingMode::kCls},
    {"pooling_mode_max_tokens", PoolingMode::kMax},
    {"pooling_mode_mean_tokens", PoolingMode::kMean},
    {"pooling_mode_mean_sqrt_len_tokens", PoolingMode::kMeanSqrtLength},
    {"pooling_mode_weightedmean_tokens", PoolingMode::kWeightedMean},
    {"pooling_mode_lasttoken", PoolingMode::kLastToken},
};

Status AddPoolingMode(JsonValue name, const std::string& path, std::vector<PoolingMode>* modes) {
  const std::optional<std::string_view> text = name.GetString();
  if (!text) return Malformed(path, "has a pooling_mode that is not a name");
  for (const auto& [known, mode] : kPoolingModes) {
    if (*text != known) continue;
    modes->push_back(mode);
    return OkStatus();
  }
  return Unsupported(path + ": the pooling \"" + std::string(*text) + "\" is not supported");
}

Status ReadPooling(const ReadModelFile& read, const std::string& folder, SentenceModules* modules) {
  const std::string path = JoinPath(folder, "config.json");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  if (!document) return Malformed(std::string(kModules), "names a pooling, and there is no " + path);
  const JsonValue root = document->root();
  modules->pooling.clear();
  if (const JsonValue mode = root.FindMember("pooling_mode"); mode.IsArray()) {
    for (const JsonValue name : mode) PERUSE_RETURN_IF_ERROR(AddPoolingMode(name, path, &modules->pooling));
  } else if (mode.exists() && !mode.IsNull()) {
    PERUSE_RETURN_IF_ERROR(AddPoolingMode(mode, path, &modules->pooling));
  } else {
    for (const auto& [flag, one] : kPoolingFlags) {
      if (root.FindMember(flag).GetBool().value_or(false)) modules->pooling.push_back(one);
    }
  }
  if (modules->pooling.empty()) modules->pooling.push_back(PoolingMode::kMean);
  modules->include_prompt = root.FindMember("include_prompt").GetBool().value_or(true);
  return OkStatus();
}

constexpr std::string_view kScores = "scores";  // the output of a cross-encoder's last module

// Rejects modules that read or write features other than the text's vector or, for late interaction, the tokens' vectors. The output may
// also be `output`.
Status CheckFeatures(JsonValue config, const std::string& path, const SentenceModules& modules,
                     std::string_view output = "") {
  const std::string_view features = modules.multi_vector ? "token_embeddings" : "sentence_embedding";
  for (const char* field : {"module_input_name", "module_output_name"}) {
    const JsonValue name = config.FindMember(field);
    if (!name.exists() || name.IsNull() || name.GetString() == features) continue;
    if (field == std::string_view("module_output_name") && !output.empty() && name.GetString() == output) continue;
    return Unsupported(path + ": the " + field + " " + name.ToString() + " is not supported, only \"" +
                       std::string(features) + "\".");
  }
  return OkStatus();
}

Status ReadNormalize(const ReadModelFile& read, const std::string& folder, SentenceModules* modules) {
  const std::string path = JoinPath(folder, "config.json");
  if (!folder.empty()) {
    PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
    if (document) PERUSE_RETURN_IF_ERROR(CheckFeatures(document->root(), path, *modules));
  }
  modules->steps.push_back({});
  return OkStatus();
}

constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"Identity", Activation::kNone}, {"Tanh", Activation::kTanh},           {"ReLU", Activation::kRelu},
    {"GELU", Activation::kGelu},     {"Sigmoid", Activation::kSigmoid},     {"SiLU", Activation::kSilu},
    {"Mish", Activation::kMish},     {"LeakyReLU", Activation::kLeakyRelu},
};

Status ReadDense(const ReadModelFile& read, const std::string& folder, SentenceModules* modules) {
  constexpr int64_t kMostFeatures = 1 << 20;
  const std::string path = JoinPath(folder, "config.json");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  if (!document) return Malformed(std::string(kModules), "names a dense layer, and there is no " + path);
  const JsonValue root = document->root();
  const int64_t in = root.FindMember("in_features").GetInt64().value_or(0);
  const int64_t out = root.FindMember("out_features").GetInt64().value_or(0);
  if (in < 1 || in > kMostFeatures || out < 1 || out > kMostFeatures) {
    return Malformed(path, "has no sensible in_features and out_features");
  }
  SentenceStep step{.kind = SentenceStep::Kind::kDense, .folder = folder};
  step.in = static_cast<int32_t>(in);
  step.out = static_cast<int32_t>(out);
  step.bias = root.FindMember("bias").GetBool().value_or(true);
  step.residual = root.FindMember("use_residual").GetBool().value_or(false);
  PERUSE_RETURN_IF_ERROR(CheckFeatures(root, path, *modules, kScores));
  modules->scores = root.FindMember("module_output_name").GetString() == kScores;
  std::string_view activation = root.FindMember("activation_function").GetString().value_or("torch.nn.Tanh");
  if (activation == kNameOfNothing) activation = "torch.nn.Tanh";
  const auto* const found = std::find_if(std::begin(kActivations), std::end(kActivations),
                                         [&](const auto& one) { return one.first == ClassName(activation); });
  if (found == std::end(kActivations) || !activation.starts_with("torch.")) {
    return Unsupported(path + ": the activation_function \"" + std::string(activation) + "\" is not supported");
  }
  step.activation = found->second;
  modules->steps.push_back(std::move(step));
  return OkStatus();
}

Status ReadSpladePooling(const ReadModelFile& read, const std::string& folder, SentenceModules* modules) {
  const std::string path = JoinPath(folder, "config.json");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  const JsonValue root = document ? document->root() : JsonValue();
  const std::string_view strategy = root.FindMember("pooling_strategy").GetString().value_or("max");
  const std::string_view activation = root.FindMember("activation_function").GetString().value_or("relu");
  const auto unsupported = [&](const char* field, std::string_view value) {
    return Unsupported(path + ": the " + field + " \"" + std::string(value) + "\" is not supported");
  };
  if (strategy != "max" && strategy != "sum") return unsupported("pooling_strategy", strategy);
  if (activation != "relu" && activation != "log1p_relu") return unsupported("activation_function", activation);
  modules->sparse = SparsePooling{.sums = strategy == "sum", .logs_twice = activation == "log1p_relu"};
  return OkStatus();
}

Status ReadSparseAutoEncoder(const ReadModelFile& read, const std::string& folder, SentenceModules* modules) {
  const std::string path = JoinPath(folder, "config.json");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  const JsonValue root = document ? document->root() : JsonValue();
  std::optional<int32_t> in, out = 512, active = 8;
  PERUSE_RETURN_IF_ERROR(ReadCount(path, "input_dim", root.FindMember("input_dim"), &in));
  PERUSE_RETURN_IF_ERROR(ReadCount(path, "hidden_dim", root.FindMember("hidden_dim"), &out));
  PERUSE_RETURN_IF_ERROR(ReadCount(path, "k", root.FindMember("k"), &active));
  if (!in || *active > *out) return Malformed(path, "has no input_dim, or a k above hidden_dim");
  modules->coding = SparseCoding{.folder = folder,
                                 .in = *in,
                                 .out = *out,
                                 .active = *active,
                                 .normalizes = root.FindMember("normalize").GetBool().value_or(false)};
  return OkStatus();
}

Status ReadPrompts(const ReadModelFile& read, SentenceModules* modules) {
  const std::string path = "config_sentence_transformers.json";
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  if (!document) return OkStatus();
  const JsonValue activation = document->root().FindMember("activation_fn");
  modules->ranking_activation = std::string(activation.GetString().value_or(""));
  const JsonValue prompts = document->root().FindMember("prompts");
  for (size_t i = 0; prompts.IsObject() && i < prompts.size(); ++i) {
    const std::optional<std::string_view> text = prompts.MemberValue(i).GetString();
    if (!text)
      return Malformed(path, "has the prompt \"" + std::string(prompts.MemberName(i)) + "\", which is no text");
    modules->prompts[std::string(prompts.MemberName(i))] = *text;
  }
  PERUSE_ASSIGN_OR_RETURN(modules->multi_vector, ReadMultiVector(document->root(), path, &modules->prompts));
  if (const auto name = document->root().FindMember("default_prompt_name").GetString(); name) {
    if (!modules->prompts.contains(std::string(*name))) {
      return Malformed(path,
                       "has the default_prompt_name \"" + std::string(*name) + "\", which is none of its prompts");
    }
    modules->default_prompt = std::string(*name);
  }
  if (const auto truncated = document->root().FindMember("truncate_dim").GetInt64(); truncated) {
    if (*truncated < 1) return Malformed(path, "has the impossible truncate_dim " + std::to_string(*truncated));
    modules->truncate_dim = static_cast<int32_t>(std::min<int64_t>(*truncated, INT32_MAX));
  }
  PERUSE_RETURN_IF_ERROR(
      ReadCount(path, "max_active_dims", document->root().FindMember("max_active_dims"), &modules->max_active_dims));
  if (const auto similarity = document->root().FindMember("similarity_fn_name").GetString(); similarity) {
    modules->similarity = *similarity;
  }
  return OkStatus();
}

Status ReadModule(const ReadModelFile& read, const ListedModule& module, SentenceModules* modules) {
  const std::string_view name = module.Class();
  if (name == "Dropout") return OkStatus();  // only has an effect in training
  if (modules->scores) return Unsupported(std::string(kModules) + ": a module after the scores is not supported");
  if (modules->coding) {
    return Unsupported(std::string(kModules) + ": no module may follow a SparseAutoEncoder, not " + module.type);
  }
  if (name == "Dense") {
    PERUSE_RETURN_IF_ERROR(ReadDense(read, module.folder, modules));
    modules->classifies = module.name == kClassifierModule && modules->steps.back().activation == Activation::kNone;
    return OkStatus();
  }
  if (name == "Normalize") return ReadNormalize(read, module.folder, modules);
  if (name == "SparseAutoEncoder") return ReadSparseAutoEncoder(read, module.folder, modules);
  return Unsupported(std::string(kModules) + ": the module " + module.type + " is not supported");
}

bool IsTransformer(const ListedModule& module) {
  // MLMTransformer: a SparseEncoder of sentence-transformers 5.0 to 5.3
  return module.Class() == "Transformer" || module.Class() == "MLMTransformer";
}

// A SpladePooling follows the Transformer, and nothing follows it.
Status ReadSparse(const ReadModelFile& read, const std::vector<ListedModule>& list, SentenceModules* modules) {
  if (list.size() > 2) {
    return Unsupported(std::string(kModules) + ": no module may follow a SpladePooling, not " + list[2].type);
  }
  PERUSE_RETURN_IF_ERROR(ReadTransformerModule(read, list[0].folder, TransformerTask::kWordLogits, modules));
  return ReadSpladePooling(read, list[1].folder, modules);
}

// A Transformer, then layers on each token, and what selects and merges rows.
Status ReadLateInteraction(const ReadModelFile& read, const std::vector<ListedModule>& list, SentenceModules* modules) {
  PERUSE_RETURN_IF_ERROR(ReadTransformerModule(read, list[0].folder, TransformerTask::kFeatures, modules));
  for (size_t i = 1; i < list.size(); ++i) {
    const std::string_view name = list[i].Class();
    if (modules->multi_vector->pooling) {
      return Unsupported(std::string(kModules) + ": no module may follow a HierarchicalTokenPooling, not " +
                         list[i].type);
    }
    if (name == "MultiVectorMask") {
      PERUSE_RETURN_IF_ERROR(ReadMask(read, list[i].folder, &*modules->multi_vector));
    } else if (name == "HierarchicalTokenPooling") {
      PERUSE_RETURN_IF_ERROR(ReadRowPooling(read, list[i].folder, &*modules->multi_vector));
    } else {
      PERUSE_RETURN_IF_ERROR(ReadModule(read, list[i], modules));
    }
  }
  if (modules->multi_vector->normalizes) modules->steps.push_back({});
  modules->classifies = false;
  return OkStatus();
}

Status ReadDocumentModules(const ReadModelFile& read, const std::vector<ListedModule>& list, SentenceModules* modules) {
  if (!IsTransformer(list[0])) {
    return Unsupported(std::string(kModules) + ": the first module must be a Transformer, not " + list[0].type);
  }
  modules->model_folder = list[0].folder;
  const bool is_masked = std::any_of(list.begin(), list.end(),
                                     [](const ListedModule& module) { return module.Class() == "MultiVectorMask"; });
  if (is_masked && !modules->multi_vector) modules->multi_vector.emplace();
  if (modules->multi_vector) return ReadLateInteraction(read, list, modules);
  if (list.size() > 1 && list[1].Class() == "SpladePooling") return ReadSparse(read, list, modules);
  PERUSE_RETURN_IF_ERROR(ReadTransformerModule(read, list[0].folder, TransformerTask::kFeatures, modules));
  bool pooled = false;
  for (size_t i = 1; i < list.size(); ++i) {
    if (IsTransformer(list[i])) {
      return Unsupported(std::string(kModules) + ": the first module must be a Transformer and no other, not " +
                         list[i].type);
    }
    const bool pools = list[i].Class() == "Pooling";
    if (pools == pooled && list[i].Class() != "Dropout") {
      return Unsupported(std::string(kModules) + ": a Pooling must follow the Transformer, and " + list[i].type +
                         " stands in another place");
    }
    pooled = pooled || pools;
    PERUSE_RETURN_IF_ERROR(pools ? ReadPooling(read, list[i].folder, modules) : ReadModule(read, list[i], modules));
  }
  return pooled ? OkStatus() : Unsupported(std::string(kModules) + " names no Pooling");
}

// Reads idf.json, which has the weight of each token.
Status ReadQueryTable(const ReadModelFile& read, SentenceModules* modules) {
  const std::string path = JoinPath(modules->query_folder, "idf.json");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  if (!document) return OkStatus();
  const JsonValue root = document->root();
  modules->query_table.emplace();
  for (size_t i = 0; i < root.size(); ++i) {
    const std::optional<double> weight = root.MemberValue(i).GetDouble();
    if (!weight || !std::isfinite(*weight)) return Malformed(path, "has a token whose weight is not a number");
    modules->query_table->emplace_back(root.MemberName(i), static_cast<float>(*weight));
  }
  return OkStatus();
}

Status ReadAll(const ReadModelFile& read, const ModuleList& list, SentenceModules* modules) {
  PERUSE_RETURN_IF_ERROR(ReadPrompts(read, modules));
  return ReadDocumentModules(read, list.modules, modules);
}

// Reads modules of queries that differ from those of documents.
Status ReadQueryModules(const ReadModelFile& read, const ModuleList& list, SentenceModules* modules) {
  const std::vector<ListedModule>& query = *list.query;
  if (query.size() == 1 && query[0].Class() == "SparseStaticEmbedding" && modules->sparse) {
    modules->query_folder = query[0].folder;
    return ReadQueryTable(read, modules);
  }
  SentenceModules own;
  if (query[0] == list.modules[0]) PERUSE_RETURN_IF_ERROR(ReadAll(read, {.modules = query}, &own));
  const auto is_dense = [](const SentenceModules& one) { return !one.sparse && !one.multi_vector; };
  if (query[0] != list.modules[0] || !is_dense(*modules) || !is_dense(own)) {
    return Unsupported("router_config.json: the routes differ in more than dense modules: pass the load option route");
  }
  modules->query = std::make_shared<SentenceModules>(std::move(own));
  return OkStatus();
}

Status ReadLogitScore(const ReadModelFile& read, JsonValue entry, SentenceModules* modules) {
  const std::string path = JoinPath(std::string(entry.FindMember("path").GetString().value_or("")), "config.json");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  if (!document) return Malformed(std::string(kModules), "names a LogitScore, and there is no " + path);
  const JsonValue root = document->root();
  const JsonValue input = root.FindMember("module_input_name");
  if (input.exists() && input.GetString() != "causal_logits") {
    return Unsupported(path + ": the module_input_name " + input.ToString() +
                       " is not supported, only \"causal_logits\".");
  }
  const auto token = [&](const char* name) -> Result<int32_t> {
    const std::optional<int64_t> id = root.FindMember(name).GetInt64();
    if (id && *id >= 0 && *id <= INT32_MAX) return static_cast<int32_t>(*id);
    return Malformed(path, "has the impossible " + std::string(name) + " " + root.FindMember(name).ToString());
  };
  LogitScore& score = modules->logit_score.emplace();
  PERUSE_ASSIGN_OR_RETURN(score.true_token, token("true_token_id"));
  const JsonValue other = root.FindMember("false_token_id");
  if (!other.exists() || other.IsNull()) return OkStatus();
  PERUSE_ASSIGN_OR_RETURN(score.false_token, token("false_token_id"));
  return OkStatus();
}

std::string_view NameOf(JsonValue module) { return ClassName(module.FindMember("type").GetString().value_or("")); }

// Whether the last module turns the vector of a pair into its scores.
bool EndsInScores(const ReadModelFile& read, JsonValue modules) {
  const JsonValue last = modules[modules.size() - 1];
  if (NameOf(last) != "Dense") return false;
  const std::string folder(last.FindMember("path").GetString().value_or(""));
  const Result<std::optional<JsonDocument>> config = ReadObject(read, JoinPath(folder, "config.json"));
  return config.ok() && *config && (*config)->root().FindMember("module_output_name").GetString() == kScores;
}

// A cross-encoder of Transformer, Pooling and Dense.
Status ReadScores(const ReadModelFile& read, SentenceModules* modules) {
  PERUSE_ASSIGN_OR_RETURN(const std::optional<ModuleList> list, ReadModuleList(read));
  if (list) PERUSE_RETURN_IF_ERROR(ReadAll(read, *list, modules));
  if (modules->include_prompt && !modules->do_lower_case) return OkStatus();
  return Unsupported("a cross-encoder of Pooling and Dense with " +
                     std::string(modules->do_lower_case ? "do_lower_case true" : "include_prompt false") +
                     " is not supported");
}

}  // namespace

Result<std::optional<SentenceModules>> ReadSentenceModules(const ReadModelFile& read) {
  if (const std::optional<std::string_view> text = read(std::string(kModules))) {
    PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(*text, kModules));
    const JsonValue root = document.root();
    if (root.size() > 0 && (NameOf(root[root.size() - 1]) == "LogitScore" || EndsInScores(read, root))) {
      return Unsupported(std::string(kModules) + ": the folder is a cross-encoder: use text-ranking");
    }
  }
  PERUSE_ASSIGN_OR_RETURN(const std::optional<ModuleList> list, ReadModuleList(read));
  if (!list) return std::optional<SentenceModules>();
  SentenceModules modules;
  PERUSE_RETURN_IF_ERROR(ReadAll(read, *list, &modules));
  if (list->query) PERUSE_RETURN_IF_ERROR(ReadQueryModules(read, *list, &modules));
  modules.queries_by_default = list->queries_by_default;
  modules.needs_role = list->needs_role;
  return std::optional(std::move(modules));
}

Result<SentenceModules> ReadRankingSettings(const ReadModelFile& read) {
  SentenceModules modules;
  const std::optional<std::string_view> text = read(std::string(kModules));
  if (!text) return modules;
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(*text, kModules));
  const JsonValue root = document.root();
  const std::string folder(root[0].FindMember("path").GetString().value_or(""));
  if (root.size() == 2 && NameOf(root[1]) == "LogitScore") {
    PERUSE_RETURN_IF_ERROR(ReadTransformerModule(read, folder, TransformerTask::kTokenLogits, &modules));
    PERUSE_RETURN_IF_ERROR(ReadLogitScore(read, root[1], &modules));
  } else if (root.size() > 1 && EndsInScores(read, root)) {
    PERUSE_RETURN_IF_ERROR(ReadScores(read, &modules));
    return modules;
  } else if (root.size() == 1) {
    PERUSE_RETURN_IF_ERROR(ReadTransformerModule(read, folder, TransformerTask::kLogits, &modules));
  }
  // Another folder that also pools is an embedder, whose head a ranking ignores, with the settings of its texts.
  PERUSE_RETURN_IF_ERROR(ReadPrompts(read, &modules));
  return modules;
}

}  // namespace peruse
