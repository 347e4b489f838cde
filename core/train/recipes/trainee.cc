#include "core/train/recipes/trainee.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/families/add_head.h"
#include "core/formats/weight_format.h"
#include "core/program/passes/passes.h"
#include "core/program/token_indices.h"

namespace peruse::train {
namespace {

// Prefixes of the tensors of a sentence head's classifier, in the program and in its own file.
constexpr const char* kSentenceClassifier = "sentence_classifier";
constexpr const char* kDenseLayer = "linear";

// Passes the tensors of a sentence head's classifier to those of the trainee, under the names of the program.
class ClassifierSink : public CheckpointSink {
 public:
  explicit ClassifierSink(WeightTensors& weight_tensors) : weight_tensors_(weight_tensors) {}

  Result<std::unique_ptr<TensorWriter>> Open(const NeededTensor& tensor, const TensorInfo& stored,
                                             Content content) override {
    NeededTensor own = tensor;
    own.name.replace(0, std::string_view(kDenseLayer).size(), kSentenceClassifier);
    return weight_tensors_.Open(own, stored, content);
  }

 private:
  WeightTensors& weight_tensors_;
};

// Returns the index in `own` of each label; nullopt if the two lists do not have the same labels.
std::optional<std::vector<int32_t>> PlacesOf(const std::vector<std::string>& labels,
                                             const std::vector<std::string>& own) {
  if (labels.size() != own.size()) return std::nullopt;
  std::map<std::string_view, int32_t> places;
  for (size_t i = 0; i < own.size(); ++i) places.emplace(own[i], static_cast<int32_t>(i));
  std::vector<int32_t> order;
  for (const std::string& label : labels) {
    const auto found = places.find(label);
    if (found == places.end()) return std::nullopt;
    order.push_back(found->second);
    places.erase(found);
  }
  return order;
}

// Labels can only be trained in a GLiClass that reads labels in its text.
Status CheckReadsLabels(const Family& family, Head head) {
  const std::optional<LabelHead> scores = family.LabelScores();
  if (!scores) return Unsupported("a GLiNER cannot be taught yet");
  if (scores->labels != LabelHead::Labels::kRows)
    return Unsupported("a GLiClass that reads labels apart from texts (bi-encoder) cannot be taught yet");
  if (head != Head::kSequenceClassification)
    return Unsupported("a GLiClass has no head for " + std::string(HeadName(head)));
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Trainee>> Trainee::Create(std::string_view config_json, Head head,
                                                 const std::vector<std::string>& labels,
                                                 std::optional<SentenceHead> sentence) {
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily family, ReadFamily(config_json));
  std::unique_ptr<Trainee> trainee(new Trainee());
  trainee->family_ = std::move(family.family);
  trainee->config_ = std::move(family.config);
  ModelConfig& config = trainee->config_;
  if (config.stored_precision)
    return Unsupported("a " + std::string(FormatOf(*config.stored_precision).dtype()) +
                       " checkpoint cannot be taught: its weights are rounded; take the one it was made from");
  if (trainee->family_->IsLanguageModel()) {
    return Unsupported("a " + config.model_type +
                       " cannot be taught: use an encoder, for example a ModernBERT or a EuroBERT");
  }
  if (config.reads_labels()) PERUSE_RETURN_IF_ERROR(CheckReadsLabels(*trainee->family_, head));
  const std::vector<std::string> own = config.id2label;
  if (!labels.empty()) {
    config.id2label = labels;
    config.label2id.clear();
    for (size_t i = 0; i < labels.size(); ++i) config.label2id.emplace_back(labels[i], static_cast<int32_t>(i));
  }
  Build b(trainee->program_, trainee->parameters_, Precision::kF32);
  const Value hidden = trainee->family_->Encode(b, config);
  trainee->sentence_ = sentence;
  if (sentence) {
    b.BeginHead(HeadName(head));
    BuildHead(b, hidden, {.hidden = config.hidden_size},
              PooledHead{.pick = sentence->pick,
                         .classifier = kSentenceClassifier,
                         .labels = config.num_labels(),
                         .normalized = sentence->normalized});
  } else {
    PERUSE_RETURN_IF_ERROR(AddTrainedHead(head, *trainee->family_, config, b, hidden));
  }
  trainee->program_ = DropInputs(std::move(trainee->program_));
  const std::vector<Op>& ops = trainee->program_.ops;
  if (std::any_of(ops.begin(), ops.end(), [](const Op& op) { return std::holds_alternative<ops::Experts>(op); })) {
    return Unsupported("a mixture of experts can be neither taught nor explained yet");
  }
  trainee->weight_tensors_ =
      std::make_unique<WeightTensors>(trainee->program_, trainee->parameters_, trainee->family_->prefixes());
  trainee->checkpoint_ =
      std::make_unique<Checkpoint>(trainee->parameters_, trainee->family_->prefixes(), *trainee->weight_tensors_);
  if (!labels.empty() && labels != own && !config.reads_labels()) {
    if (const std::optional<std::vector<int32_t>> order = PlacesOf(labels, own)) {
      trainee->label_order_ = *order;
    } else {
      trainee->has_new_labels_ = true;
      trainee->checkpoint_->Skip(trainee->UsesOfClassifier());
    }
  }
  return trainee;
}

Status Trainee::BeginTraining(std::shared_ptr<Workers> workers) {
  packed_.reset();
  if (!workers) {
    PERUSE_ASSIGN_OR_RETURN(workers, Workers::Create(/*threads=*/1));
  }
  PERUSE_ASSIGN_OR_RETURN(packed_, PackedCopies::Create(*weight_tensors_, std::move(workers)));
  return OkStatus();
}

int32_t Trainee::ClassifierLinear() const {
  const Result<int32_t> logits = OutputNumber(kLogits);
  if (!logits.ok()) return -1;
  for (const Op& op : program_.ops) {
    const auto* linear = std::get_if<ops::Linear>(&op);
    if (linear != nullptr && linear->out == program_.outputs[static_cast<size_t>(*logits)].value)
      return linear->weight.id;
  }
  return -1;
}

std::vector<bool> Trainee::UsesOfClassifier() const {
  const int32_t linear = ClassifierLinear();
  std::vector<bool> uses;
  for (const ParameterTensor& tensor : parameters_.tensors) uses.push_back(IsOfLinear(tensor.parameter, linear));
  return uses;
}

Status Trainee::FinishWeights() {
  PERUSE_RETURN_IF_ERROR(checkpoint_->Finish());
  checkpoint_.reset();
  if (!classifier_file_.empty() && !has_new_labels_) PERUSE_RETURN_IF_ERROR(ReadClassifier());
  if (!label_order_.empty()) weight_tensors_->PermuteRows(ClassifierLinear(), label_order_);
  return OkStatus();
}

Status Trainee::ReadClassifier() {
  Parameters parameters;
  for (const ParameterTensor& tensor : parameters_.tensors) {
    if (!IsOfLinear(tensor.parameter, ClassifierLinear())) continue;
    const bool weight = tensor.parameter.kind == ParameterId::Kind::kWeight;
    const auto number = static_cast<int32_t>(parameters.constants.size());
    parameters.constants.push_back({static_cast<int32_t>(parameters_.rows(tensor.parameter)),
                                    static_cast<int32_t>(parameters_.cols(tensor.parameter))});
    parameters.tensors.push_back({.parameter = {ParameterId::Kind::kConstant, number},
                                  .names = {std::string(kDenseLayer) + (weight ? ".weight" : ".bias")},
                                  .shape = tensor.shape});
  }
  ClassifierSink sink(*weight_tensors_);
  Checkpoint checkpoint(parameters, {}, sink);
  PERUSE_RETURN_IF_ERROR(
      checkpoint.Feed({reinterpret_cast<const uint8_t*>(classifier_file_.data()), classifier_file_.size()}));
  PERUSE_RETURN_IF_ERROR(checkpoint.Finish());
  classifier_file_.clear();
  return OkStatus();
}

Result<int32_t> Trainee::OutputNumber(OutputId output) const {
  for (size_t i = 0; i < program_.outputs.size(); ++i) {
    if (program_.outputs[i].id == output) return static_cast<int32_t>(i);
  }
  return InvalidArgument("the model has no output \"" + NameOf(output) + "\"");
}

Result<Program> Trainee::ProgramFor(OutputId output) const {
  PERUSE_ASSIGN_OR_RETURN(const int32_t number, OutputNumber(output));
  return DropRows(KeepOutputs(program_, std::span(&number, 1)));
}

Result<Program> Trainee::ProgramFrom(OutputId below, OutputId output) const {
  PERUSE_ASSIGN_OR_RETURN(const int32_t start, OutputNumber(below));
  PERUSE_ASSIGN_OR_RETURN(const int32_t number, OutputNumber(output));
  Program program = program_;
  const Value value = program.outputs[static_cast<size_t>(start)].value;
  for (Op& op : program.ops) {
    if (**OutputsOf(op).begin() == value) op = ops::Input{0, value};
  }
  return DropRows(KeepOutputs(std::move(program), std::span(&number, 1)));
}

Result<PerturbedProgram> Trainee::BuildPerturbed(OutputId output) {
  constexpr float kEpsilon = 1e-7f;
  PERUSE_ASSIGN_OR_RETURN(const int32_t number, OutputNumber(output));
  PerturbedProgram result = {program_, {}, 0};
  Program& program = result.program;
  size_t at = 0;
  while (at < program.ops.size() && !std::holds_alternative<ops::LayerNorm>(program.ops[at])) ++at;
  // The first norm over tokens belongs to the embeddings; norms of position tables may precede it.
  const auto* norm = at < program.ops.size() ? std::get_if<ops::LayerNorm>(&program.ops[at]) : nullptr;
  if (norm == nullptr || program.info(norm->x).rows.domain != Domain::kTokens) {
    return Unsupported("scale-invariant fine-tuning needs a layer norm behind the embeddings, which the model has not");
  }
  ops::LayerNorm plain = *norm;
  result.width = program.info(plain.x).cols.factor;
  const auto row = [&](float value) {
    const Value constant = program.NewValue({Domain::kOne, 1}, {Domain::kOne, result.width});
    program.info(constant).constant = weight_tensors_->AddFixedRow(result.width, value);
    ++program.constants;
    return constant;
  };
  const Value weight = row(1), bias = row(0);
  const auto value = [&] { return program.NewValue({Domain::kTokens, 1}, {Domain::kOne, result.width}); };
  result.normalised = value();
  const Value delta = value(), sum = value();
  const Op before[] = {ops::LayerNorm{.x = plain.x, .norm = {weight, bias, kEpsilon}, .out = result.normalised},
                       ops::Input{0, delta}, ops::Add{result.normalised, delta, sum}};
  plain.x = sum;
  program.ops[at] = plain;
  program.ops.insert(program.ops.begin() + static_cast<std::ptrdiff_t>(at), std::begin(before), std::end(before));
  program = DropRows(KeepOutputs(std::move(program), std::span(&number, 1)));
  return result;
}

Result<EmbeddingInputProgram> Trainee::WithEmbeddingInput(OutputId output) const {
  PERUSE_ASSIGN_OR_RETURN(const int32_t number, OutputNumber(output));
  EmbeddingInputProgram result = {program_, {}, 0};
  Program& program = result.program;
  const auto at = std::find_if(program.ops.begin(), program.ops.end(), [&](const Op& op) {
    const auto* embed = std::get_if<ops::Embed>(&op);
    return embed != nullptr && program.indices[static_cast<size_t>(embed->lookups[0].index.id)].Is<indices::TokenIds>();
  });
  if (at == program.ops.end()) return Unsupported("the model has no word embeddings");
  auto& embed = std::get<ops::Embed>(*at);
  result.table = embed.lookups[0].table;
  const Value sum = embed.out;
  const ValueInfo info = program.info(sum);
  result.width = info.cols.factor;
  embed.out = program.NewValue(info.rows, info.cols);
  const Value added = program.NewValue(info.rows, info.cols);
  const Op after[] = {ops::Input{0, added}, ops::Add{embed.out, added, sum}};
  program.ops.insert(at + 1, std::begin(after), std::end(after));
  result.program = DropRows(KeepOutputs(std::move(program), std::span(&number, 1)));
  return result;
}

}  // namespace peruse::train
