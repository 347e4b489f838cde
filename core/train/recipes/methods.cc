#include "core/train/recipes/methods.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/program/passes/passes.h"

namespace peruse::train {
namespace {

// Number of layers that kContrast trains. With five of MiniLM's six layers, the accuracy is 0.6 points higher on the development sets and an update
// takes 1.7 times as long; with two it is lower (docs/internals/training.md).
constexpr int32_t kContrastLayers = 3;

// Returns the number of the last layers that the method trains, not counting everything; at least one layer stays as it is.
int32_t TrainedLayers(const TeachOptions& options, Trainee& trainee) {
  if (options.method == Method::kHead) return 0;
  return options.method == Method::kContrast ? ContrastLayers(trainee) : options.layers;
}

// Returns whether tensors belong to the last layers alone. ALBERT's layers share theirs.
bool HasOwnLayers(int32_t count, Trainee& trainee) {
  const int32_t first = trainee.config().num_hidden_layers - count;
  const std::vector<WeightTensor>& weight_tensors = trainee.weight_tensors().tensors();
  return std::any_of(weight_tensors.begin(), weight_tensors.end(), [&](const WeightTensor& weight_tensor) {
    return LayerNumber(weight_tensor.name).value_or(-1) >= first;
  });
}

bool EndsWithModule(const std::string& name, const std::string& module) {
  return name.ends_with("." + module + ".weight") || name == module + ".weight";
}

bool HasFeatures(Method method) { return method != Method::kLora && method != Method::kFull; }

Status CheckReadsLabels(const TeachOptions& options, const Trainee& trainee) {
  if (options.method == Method::kLora) return Unsupported("method \"lora\" with a GLiClass");
  if (options.sift > 0) return Unsupported("option sift with a GLiClass");
  if (HasFeatures(options.method) && trainee.family().LabelScores()->hidden.has_value())
    return Unsupported("encoder_layer_id with a method that keeps the features of a layer; \"full\" can be taught");
  return OkStatus();
}

Status CheckContrast(const TeachOptions& options, Trainee& trainee, const Objective& objective) {
  if (options.sift > 0) return Unsupported("option sift with the method \"contrast\"");
  if (!trainee.sentence()) {
    return Unsupported(
        "method \"contrast\" is for sentence embedders (folders with modules.json); \"full\" can teach this model");
  }
  if (!objective.traits().contrasts) return Unsupported("method \"contrast\" is for texts with one label each");
  if (ContrastLayers(trainee) < 1)
    return Unsupported("method \"contrast\" is for models of two or more layers that do not share their weights");
  return OkStatus();
}

Status CheckSift(const TeachOptions& options, const Objective& objective) {
  if (!objective.traits().one_of_several) {
    return Unsupported("option sift is for tasks with one label of several; this one has none such");
  }
  if (HasFeatures(options.method)) {
    return InvalidArgument("option sift disturbs embeddings: it goes with the methods \"full\" and \"lora\"");
  }
  return OkStatus();
}

// Cuts before the linear layer that computes the logits. Returns a program without features if another operation computes them.
CutProgram CutBeforeClassifier(Program logits, Trainee& trainee) {
  CutProgram cut = {.logits = std::move(logits)};
  for (const Op& op : cut.logits.ops) {
    const auto* linear = std::get_if<ops::Linear>(&op);
    if (linear == nullptr || linear->out != cut.logits.outputs[0].value) continue;
    cut.features = cut.logits;
    cut.features.outputs[0].value = linear->x;
    const ParameterId weight = {ParameterId::Kind::kWeight, linear->weight.id};
    for (const ParameterTensor& tensor : trainee.parameters().tensors) {
      if (tensor.parameter == weight) cut.solved = trainee.weight_tensors().names().Of(tensor);
    }
    const int32_t output = 0;
    cut.features = KeepOutputs(std::move(cut.features), std::span(&output, 1));
    cut.width = cut.logits.info(linear->x).cols.factor;
    return cut;
  }
  return cut;
}

}  // namespace

int32_t ContrastLayers(Trainee& trainee) {
  const int32_t count = std::min(kContrastLayers, trainee.config().num_hidden_layers - 1);
  return count > 0 && HasOwnLayers(count, trainee) ? count : 0;
}

Status CheckMethod(const TeachOptions& options, Trainee& trainee, const Objective& objective) {
  const int32_t layers = trainee.config().num_hidden_layers;
  if (options.method == Method::kLayers && (options.layers < 1 || options.layers >= layers)) {
    return InvalidArgument("option layers is " + std::to_string(options.layers) + "; the model has " +
                           std::to_string(layers) + ", of which at least one stays as it is");
  }
  if (options.method == Method::kLayers && !HasOwnLayers(options.layers, trainee))
    return Unsupported(
        "method { layers: n } with layers that share their weights; \"head\" and \"full\" can be taught");
  if (objective.traits().masks && options.method != Method::kFull)
    return Unsupported("pre-training trains everything: its method is \"full\"");
  PERUSE_RETURN_IF_ERROR(objective.Check());
  if (trainee.config().reads_labels()) PERUSE_RETURN_IF_ERROR(CheckReadsLabels(options, trainee));
  if (options.method == Method::kContrast) return CheckContrast(options, trainee, objective);
  return options.sift > 0 ? CheckSift(options, objective) : OkStatus();
}

Status ChooseTrained(const TeachOptions& options, Trainee& trainee) {
  WeightTensors& weight_tensors = trainee.weight_tensors();
  const int32_t first_layer = trainee.config().num_hidden_layers - TrainedLayers(options, trainee);
  const size_t count = weight_tensors.tensors().size();
  for (size_t i = 0; i < count; ++i) {
    WeightTensor& weight_tensor = weight_tensors.tensors()[i];
    const bool of_head = !weight_tensor.head.empty();
    switch (options.method) {
      case Method::kHead:
        weight_tensor.trained = of_head;
        break;
      case Method::kLayers:
      case Method::kContrast:
        weight_tensor.trained = of_head || LayerNumber(weight_tensor.name).value_or(-1) >= first_layer;
        break;
      case Method::kLora: {
        weight_tensor.trained = of_head;
        const auto matches = [&](const std::string& target) { return EndsWithModule(weight_tensor.name, target); };
        if (!of_head && std::any_of(options.lora_targets.begin(), options.lora_targets.end(), matches)) {
          PERUSE_RETURN_IF_ERROR(weight_tensors.AddLora(i, options.lora_rank, options.lora_alpha));
        }
        break;
      }
      case Method::kFull:
        weight_tensor.trained =
            trainee.IsTrainable(weight_tensor) &&
            !(options.freeze_words && weight_tensor.name.find("word_embeddings") != std::string::npos);
        break;
    }
  }
  if (options.method == Method::kLora && weight_tensors.lora().empty()) {
    return InvalidArgument("no layer of the model has one of the names that LoRA is to change");
  }
  return OkStatus();
}

Result<CutProgram> CutFor(const TeachOptions& options, Trainee& trainee, const Objective& objective) {
  PERUSE_ASSIGN_OR_RETURN(Program logits, trainee.ProgramFor(kLogits));
  if (!HasFeatures(options.method)) return CutProgram{.logits = std::move(logits)};
  const bool solvable = objective.traits().link != Objective::Link::kNone && !trainee.config().reads_labels();
  if (options.method == Method::kHead && solvable) {
    CutProgram cut = CutBeforeClassifier(std::move(logits), trainee);
    if (cut.has_features()) return cut;
  }
  const OutputId below = {OutputKind::kHidden, trainee.config().num_hidden_layers - TrainedLayers(options, trainee)};
  CutProgram cut = {.width = trainee.config().hidden_size};
  PERUSE_ASSIGN_OR_RETURN(cut.features, trainee.ProgramFor(below));
  PERUSE_ASSIGN_OR_RETURN(cut.logits, trainee.ProgramFrom(below, kLogits));
  if (options.method == Method::kContrast) cut.logits = CutBeforeClassifier(std::move(cut.logits), trainee).features;
  return cut;
}

}  // namespace peruse::train
