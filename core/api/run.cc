#include "core/api/run.h"

#include <optional>
#include <utility>

#include "core/api/requests.h"
#include "core/api/results.h"
#include "core/families/class_names.h"

namespace peruse {
namespace {

template <typename T>
class RunOf final : public T, public Run {
 public:
  explicit RunOf(const TaskContext& context) : T(context) {}
  Task& task() override { return *this; }

 protected:
  void Give(size_t input, typename T::Output result) override {
    Write(BeginPart(input), std::move(result));
    EndPart();
  }
};

// Checks that a task can use a model of this configuration.
template <typename T>
Status Fits(const ModelConfig&) {
  return OkStatus();
}
template <>
Status Fits<ZeroShotClassification>(const ModelConfig& config) {
  return EntailmentOf(config).status();
}

// A class that carries out a task.
struct TaskClass {
  std::unique_ptr<Run> (*create)(const TaskContext& context, JsonValue request, Status* status);
  Status (*fits)(const ModelConfig& config);
};

template <typename T>
constexpr TaskClass kClass = {[](const TaskContext& context, JsonValue request, Status* status) {
                                auto run = std::make_unique<RunOf<T>>(context);
                                *status = ReadRequest(request, &run->request);
                                return std::unique_ptr<Run>(std::move(run));
                              },
                              Fits<T>};

// Reads options.head_mask, which all tasks accept: a list of numbers for each layer.
Status ReadHeadMask(JsonValue request, Task& task) {
  const JsonValue mask = request.FindMember("options").FindMember("head_mask");
  if (!mask.exists()) return OkStatus();
  std::vector<std::vector<float>> layers;
  for (const JsonValue layer : mask) {
    std::vector<float>& numbers = layers.emplace_back();
    for (const JsonValue item : layer) {
      const std::optional<double> number = item.GetDouble();
      if (!number) return InvalidArgument("option head_mask holds " + item.ToString() + ", which is no number");
      numbers.push_back(static_cast<float>(*number));
    }
  }
  return task.SetHeadMask(layers);
}

Result<std::unique_ptr<Run>> Created(const TaskClass& chosen, const TaskContext& context, JsonValue request) {
  Status status;
  std::unique_ptr<Run> run = chosen.create(context, request, &status);
  PERUSE_RETURN_IF_ERROR(status);
  PERUSE_RETURN_IF_ERROR(ReadHeadMask(request, run->task()));
  return run;
}

struct TaskEntry {
  std::string_view name;
  TaskNeeds needs;
  const TaskClass* plain;
  const TaskClass* with_labels;            // for models that read labels; null if they do not support the task
  const TaskClass* with_schema = nullptr;  // for models that fill in a schema

  const TaskClass* For(const ModelConfig& config) const { return For(config.reads_labels(), config.reads_schema()); }
  const TaskClass* For(bool reads_labels, bool reads_schema) const {
    return reads_schema ? with_schema : reads_labels ? with_labels : plain;
  }
};

template <typename T>
constexpr TaskEntry Entry(std::string_view name, SentenceUse sentence = SentenceUse::kNone) {
  return {name, {T::kHead, sentence}, &kClass<T>, nullptr};
}

// An error recommends the first task that fits a class of models.
constexpr TaskEntry kTasks[] = {
    Entry<TextClassification>("text-classification", SentenceUse::kClassifier),
    Entry<QuestionAnswering>("question-answering"),
    Entry<TokenClassification>("token-classification"),
    Entry<FillMask>("fill-mask"),
    {"zero-shot-classification",
     {ZeroShotClassification::kHead},
     &kClass<ZeroShotClassification>,
     &kClass<LabelClassification>,
     &kClass<SchemaLabels>},
    Entry<TextRanking>("text-ranking", SentenceUse::kRankingSettings),
    Entry<MultipleChoice>("multiple-choice"),
    Entry<ReplacedTokenDetection>("replaced-token-detection"),
    {"structured-extraction", {StructuredExtraction::kHead}, nullptr, nullptr, &kClass<StructuredExtraction>},
    {"zero-shot-token-classification",
     {ZeroShotTokenClassification::kHead},
     &kClass<ZeroShotTokenClassification>,
     &kClass<ZeroShotTokenClassification>,
     &kClass<SchemaEntities>},
    Entry<FeatureExtraction>("feature-extraction", SentenceUse::kVectors),
};

Result<const TaskEntry*> FindTask(std::string_view name) {
  std::string known;
  for (const TaskEntry& entry : kTasks) {
    if (entry.name == name) return &entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  return Unsupported("there is no task \"" + std::string(name) + "\"; Peruse has: " + known);
}

}  // namespace

ResultWriter& Run::BeginPart(size_t input) {
  parts_.BeginObject();
  parts_.Fields({ResultWriter::Field("input", input)});
  parts_.Key("value");
  return parts_;
}

Result<std::string> Run::Take() {
  parts_.EndArray();
  taken_ = std::exchange(parts_, ResultWriter(&json_));
  std::string json = std::exchange(json_, {});
  parts_.BeginArray();
  if (taken_.failed()) return OutOfMemory("no memory for the results");
  if (!taken_.all_finite()) return NotFinite("results");
  return json;
}

std::span<const float> Run::array(size_t index) const {
  return index < taken_.arrays().size() ? taken_.arrays()[index] : std::span<const float>();
}

Status CheckTask(std::string_view task, const ModelConfig& config) {
  PERUSE_ASSIGN_OR_RETURN(const TaskEntry* entry, FindTask(task));
  if (const TaskClass* const chosen = entry->For(config)) return chosen->fits(config);
  const std::string& name = config.architecture_class;
  if (!config.reads_labels()) {
    const ClassUse needed = {.head = entry->needs.head, .reads_labels = true, .reads_schema = true};
    return Unsupported(std::string(task) + " needs a " + std::string(ClassOf(needed)) + ", and the checkpoint is a " +
                       (name.empty() ? config.model_type : name));
  }
  return Unsupported("the checkpoint is a " + name + ", which reads " +
                     (config.reads_schema() ? "a schema" : "labels") + ": it is not for " + std::string(task));
}

std::string_view TaskOfClass(std::string_view architecture) {
  const std::optional<ClassUse> use = UseOfClass(architecture);
  if (!use) return {};
  for (const TaskEntry& entry : kTasks) {
    if (entry.needs.head == use->head && entry.For(use->reads_labels, use->reads_schema) != nullptr) return entry.name;
  }
  return {};
}

Result<TaskNeeds> NeedsOfTask(std::string_view task) {
  PERUSE_ASSIGN_OR_RETURN(const TaskEntry* entry, FindTask(task));
  return entry->needs;
}

Result<std::unique_ptr<Run>> CreateRun(std::string_view task, const TaskContext& context, JsonValue request) {
  PERUSE_ASSIGN_OR_RETURN(const TaskEntry* entry, FindTask(task));
  return Created(*entry->For(context.model.config()), context, request);
}

Result<std::unique_ptr<Run>> CreateInspection(const TaskContext& context, JsonValue request) {
  return Created(kClass<Inspector>, context, request);
}

}  // namespace peruse
