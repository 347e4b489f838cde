#include "core/api/transformer_module_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/api/multi_vector_reader.h"
#include "core/base/json.h"

namespace peruse {
namespace {

constexpr std::string_view kFiles[] = {
    "sentence_bert_config.json",      "sentence_roberta_config.json", "sentence_distilbert_config.json",
    "sentence_camembert_config.json", "sentence_albert_config.json",  "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
};

struct Member {
  std::string_view name;
  std::string_view values[3] = {};  // accepted values as JSON, because they are the default; "*" accepts all values
};

// Members that never change results: precision, speed, and the right to run code, which Peruse never does.
constexpr Member kModelOptions[] = {
    {"trust_remote_code", {"*"}},   {"torch_dtype", {"*"}},       {"dtype", {"*"}},
    {"attn_implementation", {"*"}}, {"add_pooling_layer", {"*"}}, {"use_memory_efficient_attention", {"*"}},
    {"unpad_inputs", {"*"}}};
constexpr Member kProcessorOptions[] = {
    {"trust_remote_code", {"*"}}, {"use_fast", {"*"}}, {"padding_side", {"\"right\""}}};
constexpr Member kConfigOptions[] = {{"trust_remote_code", {"*"}}};
constexpr Member kTextOptions[] = {{"padding", {"true", "\"longest\""}},
                                   {"truncation", {"true", "\"longest_first\""}},
                                   {"add_special_tokens", {"true"}},
                                   {"return_tensors", {"\"pt\""}}};

// Names that a task has in the file.
struct TaskNames {
  std::string_view task;
  std::string_view output;         // of the module
  std::string_view method_output;  // of the model
};

constexpr TaskNames NamesOf(TransformerTask task) {
  switch (task) {
    case TransformerTask::kFeatures:
      return {"feature-extraction", "token_embeddings", "last_hidden_state"};
    case TransformerTask::kLogits:
      return {"sequence-classification", "scores", "logits"};
    case TransformerTask::kWordLogits:
      return {"fill-mask", "token_embeddings", "logits"};
    case TransformerTask::kTokenLogits:
      break;
  }
  return {"text-generation", "causal_logits", "logits"};
}

class TransformerReader {
 public:
  TransformerReader(std::string path, JsonValue root, TransformerTask task, SentenceModules* modules)
      : path_(std::move(path)), root_(root), task_(task), modules_(modules) {}

  Status Read() {
    for (size_t i = 0; i < root_.size(); ++i) PERUSE_RETURN_IF_ERROR(ReadMember(root_.MemberName(i)));
    // sentence-transformers truncates to the last of these that is set.
    PERUSE_RETURN_IF_ERROR(ReadLength("max_seq_length", root_.FindMember("max_seq_length")));
    for (const char* tokenizer : {"tokenizer_args", "processor_kwargs"}) {
      PERUSE_RETURN_IF_ERROR(
          ReadLength("model_max_length", root_.FindMember(tokenizer).FindMember("model_max_length")));
    }
    for (const char* part : {"text", "common"}) {
      PERUSE_RETURN_IF_ERROR(
          ReadLength("max_length", root_.FindMember("processing_kwargs").FindMember(part).FindMember("max_length")));
    }
    modules_->do_lower_case = root_.FindMember("do_lower_case").GetBool().value_or(false);
    return OkStatus();
  }

 private:
  Status ReadMember(std::string_view name) const {
    const JsonValue value = root_.FindMember(name);
    if (name == "query_expansion" && value.IsNull() && modules_->multi_vector)
      modules_->multi_vector->expansion.reset();
    if (value.IsNull() || name == "max_seq_length" || name == "unpad_inputs") return OkStatus();
    if (name == "do_lower_case") {
      const bool embeds = task_ == TransformerTask::kFeatures || task_ == TransformerTask::kWordLogits;
      return embeds || value.GetBool() == false ? OkStatus() : NotSupported(name, value);
    }
    if (name == "transformer_task") return Expect(name, value, NamesOf(task_).task);
    if (name == "module_output_name") return Expect(name, value, NamesOf(task_).output);
    if (name == "modality_config") return CheckModalities(value);
    if (name == "model_args" || name == "model_kwargs") return CheckOptions(name, value, kModelOptions);
    if (name == "config_args" || name == "config_kwargs") return CheckOptions(name, value, kConfigOptions);
    if (name == "tokenizer_args" || name == "processor_kwargs") {
      return CheckOptions(name, value, kProcessorOptions, "model_max_length");
    }
    if (name == "processing_kwargs") return CheckProcessing(value);
    if (modules_->multi_vector) {
      MultiVector& vectors = *modules_->multi_vector;
      if (name == "query_length") return ReadCount(path_, name, value, &vectors.query_length);
      if (name == "document_length") return ReadCount(path_, name, value, &vectors.document_length);
      if (name == "query_expansion") return ReadExpansion(path_, value, &vectors.expansion);
    }
    return NotSupported(name, value);
  }

  Status NotSupported(std::string_view name, JsonValue value) const {
    return Unsupported(path_ + ": " + std::string(name) + " " + value.ToString() + " is not supported");
  }

  Status Expect(std::string_view name, JsonValue value, std::string_view only) const {
    return value.GetString() == only ? OkStatus() : NotSupported(name, value);
  }

  // Rejects members that may change results, except `counted`, which the caller reads.
  Status CheckOptions(std::string_view name, JsonValue options, std::span<const Member> known,
                      std::string_view counted = {}) const {
    if (!options.IsObject()) return NotSupported(name, options);
    for (size_t i = 0; i < options.size(); ++i) {
      const std::string_view option = options.MemberName(i);
      const JsonValue value = options.MemberValue(i);
      if (option == counted) continue;
      const bool accepted = std::any_of(known.begin(), known.end(), [&](const Member& member) {
        if (member.name != option) return false;
        return member.values[0] == "*" || std::find(std::begin(member.values), std::end(member.values),
                                                    value.ToString()) != std::end(member.values);
      });
      if (!accepted) return NotSupported(std::string(name) + "." + std::string(option), value);
    }
    return OkStatus();
  }

  Status CheckProcessing(JsonValue processing) const {
    if (!processing.IsObject()) return NotSupported("processing_kwargs", processing);
    for (size_t i = 0; i < processing.size(); ++i) {
      const std::string_view part = processing.MemberName(i);
      const std::string name = "processing_kwargs." + std::string(part);
      const bool is_text = part == "text" || part == "common";
      PERUSE_RETURN_IF_ERROR(CheckOptions(name, processing.MemberValue(i),
                                          is_text ? std::span<const Member>(kTextOptions) : std::span<const Member>(),
                                          is_text ? "max_length" : ""));
    }
    return OkStatus();
  }

  // Accepts texts, and messages of language models, that pass through the model's forward().
  Status CheckModalities(JsonValue modalities) const {
    const bool has_messages =
        task_ == TransformerTask::kTokenLogits && IsPlain(modalities.FindMember("message")) && modalities.size() == 2;
    modules_->reads_messages = has_messages;
    const bool plain = IsPlain(modalities.FindMember("text")) && (modalities.size() == 1 || has_messages);
    return plain ? OkStatus() : NotSupported("modality_config", modalities);
  }

  // The output may be a name or a list of one name.
  bool IsPlain(JsonValue modality) const {
    const JsonValue outputs = modality.FindMember("method_output_name");
    const JsonValue output = outputs.IsArray() && outputs.size() == 1 ? outputs[0] : outputs;
    return modality.FindMember("method").GetString() == "forward" && output.GetString() == NamesOf(task_).method_output;
  }

  Status ReadLength(std::string_view name, JsonValue value) const {
    if (!value.exists() || value.IsNull()) return OkStatus();
    const std::optional<int64_t> limit = value.GetInt64();
    if (!limit || *limit < 1 || *limit > INT32_MAX) {
      return MalformedFile(path_ + " has the impossible " + std::string(name) + " " + value.ToString());
    }
    modules_->max_seq_length = static_cast<int32_t>(*limit);
    return OkStatus();
  }

  const std::string path_;
  const JsonValue root_;
  const TransformerTask task_;
  SentenceModules* const modules_;
};

}  // namespace

Status ReadTransformerModule(const ReadModelFile& read, std::string_view folder, TransformerTask task,
                             SentenceModules* modules) {
  for (const std::string_view file : kFiles) {
    const std::string path = folder.empty() ? std::string(file) : std::string(folder) + "/" + std::string(file);
    const std::optional<std::string_view> text = read(path);
    if (!text) continue;
    PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(*text, path));
    if (!document.root().IsObject()) return MalformedFile(path + " is not a JSON object");
    return TransformerReader(path, document.root(), task, modules).Read();
  }
  return OkStatus();
}

}  // namespace peruse
