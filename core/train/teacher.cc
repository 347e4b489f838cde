#include "core/train/teacher.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/program/passes/passes.h"

namespace peruse::train {
namespace {

bool EndsWithModule(const std::string& name, const std::string& module) {
  return name.ends_with("." + module + ".weight") || name == module + ".weight";
}

}  // namespace

Teacher::Teacher(Trainee& trainee, Goal goal, TeachOptions options, Trainee* generator)
    : trainee_(trainee), options_(std::move(options)), objective_(Objective::Create(goal, [this] {
        CrossEntropyOptions cross_entropy = options_.cross_entropy;
        cross_entropy.class_weights = options_.class_weights;
        return cross_entropy;
      }())) {
  if (generator != nullptr) generator_ = std::make_unique<Generator>(*generator, trainee, options_.disentangled);
}

void Teacher::ChooseTrained() {
  Masters& masters = trainee_.masters();
  const int32_t first_layer = trainee_.config().num_hidden_layers - options_.layers;
  const size_t count = masters.tensors().size();
  for (size_t i = 0; i < count; ++i) {
    Master& master = masters.tensors()[i];
    const bool of_head = !master.head.empty();
    switch (options_.method) {
      case Method::kHead:
        master.trained = of_head;
        break;
      case Method::kLayers:
        master.trained = of_head || LayerNumber(master.name).value_or(-1) >= first_layer;
        break;
      case Method::kLora:
        master.trained = of_head;
        for (const std::string& target : options_.lora_targets) {
          if (!of_head && EndsWithModule(master.name, target)) {
            masters.AddLora(i, options_.lora_rank, options_.lora_alpha);
            break;
          }
        }
        break;
      case Method::kFull:
        master.trained = trainee_.IsTrainable(master) &&
                         !(options_.freeze_words && master.name.find("word_embeddings") != std::string::npos);
        break;
    }
  }
}

Status Teacher::CheckReadsLabels() const {
  const bool keeps_features = options_.method == Method::kHead || options_.method == Method::kLayers;
  if (options_.method == Method::kLora) return Unsupported("method \"lora\" with a GLiClass");
  if (options_.sift > 0) return Unsupported("option sift with a GLiClass");
  if (keeps_features && trainee_.family().LabelScores()->hidden.has_value())
    return Unsupported("encoder_layer_id with a method that keeps the features of a layer; \"full\" can be taught");
  return OkStatus();
}

Status Teacher::PrepareProgram() {
  PERUSE_ASSIGN_OR_RETURN(program_, trainee_.ProgramFor(kLogits));
  if (options_.method == Method::kHead && objective_->traits().link != Objective::Link::kNone && !reads_labels()) {
    // Finds the input of the last linear layer.
    for (const Op& op : program_.ops) {
      const auto* linear = std::get_if<ops::Linear>(&op);
      if (linear == nullptr || linear->out != program_.outputs[0].value) continue;
      features_program_ = program_;
      features_program_.outputs[0].value = linear->x;
      by_text_ = true;
      const ParameterId weight = {ParameterId::Kind::kWeight, linear->weight.id};
      for (const ParameterTensor& tensor : trainee_.parameters().tensors) {
        if (tensor.parameter == weight) classifier_ = trainee_.masters().names().Of(tensor);
      }
      const int32_t output = 0;
      features_program_ = KeepOutputs(features_program_, std::span(&output, 1));
      features_width_ = program_.info(linear->x).cols.factor;
      return OkStatus();
    }
  }
  if (options_.method != Method::kHead && options_.method != Method::kLayers) return OkStatus();
  const int32_t layers = options_.method == Method::kHead ? 0 : options_.layers;
  const OutputId below = {OutputKind::kHidden, trainee_.config().num_hidden_layers - layers};
  PERUSE_ASSIGN_OR_RETURN(features_program_, trainee_.ProgramFor(below));
  PERUSE_ASSIGN_OR_RETURN(program_, trainee_.ProgramFrom(below, kLogits));
  features_width_ = trainee_.config().hidden_size;
  return OkStatus();
}

Result<Teacher::Plan> Teacher::Begin() {
  const std::vector<Example>& examples = sets_[kTraining];
  if (examples.empty()) return InvalidArgument("there are no examples to learn from");
  const int32_t layers = trainee_.config().num_hidden_layers;
  if (options_.method == Method::kLayers && (options_.layers < 1 || options_.layers >= layers)) {
    return InvalidArgument("option layers is " + std::to_string(options_.layers) + "; the model has " +
                           std::to_string(layers) + ", of which at least one stays as it is");
  }
  if (masks() && options_.method != Method::kFull)
    return Unsupported("pre-training trains everything: its method is \"full\"");
  PERUSE_RETURN_IF_ERROR(objective_->Check());
  if (reads_labels()) PERUSE_RETURN_IF_ERROR(CheckReadsLabels());
  PERUSE_RETURN_IF_ERROR(PrepareSift());
  ChooseTrained();
  if (options_.method == Method::kLora && trainee_.masters().lora().empty()) {
    return InvalidArgument("no layer of the model has one of the names that LoRA is to change");
  }
  Masters& masters = trainee_.masters();
  std::shared_ptr<Workers> workers = masters.shared_workers();  // null unless there was an earlier training run
  if (!workers) {
    PERUSE_ASSIGN_OR_RETURN(workers, Workers::Create(options_.threads));
  }
  objective_->SetWorkers(*workers);
  PERUSE_RETURN_IF_ERROR(masters.Allocate(std::move(workers)));
  masters.Initialise(options_.seed, /*deviation=*/0.02f);
  if (options_.method == Method::kHead) masters.PassThrough();
  masters.Hold();
  PERUSE_RETURN_IF_ERROR(PrepareProgram());
  step_ = std::make_unique<Step>(program_, masters.held());
  if (options_.sift > 0) sift_ = std::make_unique<Sift>(perturbed_, masters.held(), options_.sift);
  if (features_width_ > 0) {
    features_step_ = std::make_unique<Step>(features_program_, masters.held());
    features_.resize(examples.size() + sets_[kValidation].size());
  }
  const auto batch = static_cast<size_t>(options_.batch_size);
  const auto updates = static_cast<int64_t>((examples.size() + batch - 1) / batch);
  options_.adamw.steps = by_text_ ? 1 : updates * options_.epochs;
  phase_ = features_step_ ? Phase::kFeatures : Phase::kTraining;
  Plan plan;
  plan.steps = options_.adamw.steps;
  plan.examples = static_cast<int64_t>(examples.size());
  plan.validation_examples = static_cast<int64_t>(sets_[kValidation].size());
  for (const Master& master : masters.tensors()) plan.trained += master.trained ? master.size : 0;
  if (!by_text_) {
    optimiser_ = std::make_unique<AdamW>(masters, options_.adamw);
    PERUSE_RETURN_IF_ERROR(optimiser_->Allocate());
  }
  for (const Example& example : examples) order_.push_back(&example);
  PERUSE_RETURN_IF_ERROR(PreparePretraining());
  if (generator_) plan.trained += generator_->trained();
  PERUSE_RETURN_IF_ERROR(CheckMemory(plan));
  Shuffle();
  return plan;
}

// Begins a training step with the largest possible part, so that later steps do not allocate memory.
Status Teacher::CheckMemory(Plan& plan) {
  std::vector<const Example*> all;
  for (const auto& set : sets_) {
    for (const Example& example : set) all.push_back(&example);
  }
  std::sort(all.begin(), all.end(), [](const Example* a, const Example* b) { return a->ids.size() > b->ids.size(); });
  Part part;
  size_t tokens = 0;
  for (const Example* example : all) {
    tokens += example->ids.size();
    if (!part.empty() && (reads_labels() || tokens > static_cast<size_t>(options_.batch_tokens) ||
                          part.size() >= static_cast<size_t>(options_.batch_size)))
      break;
    part.push_back(example);
  }
  if (masks()) part = MaskedTexts(part, /*draw=*/0);
  plan.bytes = trainee_.masters().bytes() + (optimiser_ ? optimiser_->bytes() : 0);
  FillBatch(part);
  const BatchInputs inputs = Inputs();
  if (!by_text_) {
    if (features_width_ > 0) {
      matrix_.assign(static_cast<size_t>(batch_.rows()) * static_cast<size_t>(features_width_), 0.0f);
      matrices_ = {matrix_};
    }
    PERUSE_RETURN_IF_ERROR(step_->Begin(inputs, Options(/*training=*/true), matrices_));
    plan.bytes += step_->bytes();
    if (generator_) {
      PERUSE_ASSIGN_OR_RETURN(const int64_t bytes, generator_->Rehearse(part, Options(/*training=*/true)));
      plan.bytes += generator_->bytes() + bytes;
    }
    if (sift_) {
      PERUSE_ASSIGN_OR_RETURN(const int64_t bytes, sift_->Rehearse(inputs, Options(/*training=*/true)));
      plan.bytes += bytes;
    }
  }
  if (!features_step_) return OkStatus();
  PERUSE_RETURN_IF_ERROR(features_step_->Begin(inputs, Options(/*training=*/false)));
  int64_t rows = 0;
  for (const Example* example : all) rows += by_text_ ? 1 : static_cast<int64_t>(example->ids.size());
  plan.bytes += features_step_->bytes() + rows * features_width_ * static_cast<int64_t>(sizeof(float));
  return OkStatus();
}

StepOptions Teacher::Options(bool training, uint32_t part) const {
  StepOptions options;
  options.backward = training;
  options.seed = options_.seed;
  if (!training) return options;
  options.dropout = options_.dropout;
  options.attention_dropout = options_.attention_dropout;
  options.number = static_cast<uint32_t>(updates_);
  options.part = part;
  return options;
}

std::vector<Teacher::Part> Teacher::PartsOf(std::span<const Example* const> examples) const {
  std::vector<Part> parts;
  size_t tokens = 0;
  for (const Example* example : examples) {
    tokens += example->ids.size();
    if (parts.empty() || reads_labels() || tokens > static_cast<size_t>(options_.batch_tokens)) {
      parts.emplace_back();
      tokens = example->ids.size();
    }
    parts.back().push_back(example);
  }
  return parts;
}

void Teacher::FillBatch(const Part& part) {
  batch_.Clear();
  inputs_.clear();
  chosen_.clear();
  read_labels_ = &part[0]->read_labels;
  for (const Example* example : part) {
    for (const int32_t place : example->chosen) chosen_.push_back(batch_.rows() + place);
    inputs_.push_back({example->ids, example->types});
    batch_.Append(static_cast<int32_t>(example->ids.size()));
  }
}

BatchInputs Teacher::Inputs() const {
  BatchInputs inputs = {inputs_, batch_, chosen_};
  const HeadLists& head = *read_labels_;
  if (reads_labels()) {
    inputs.head = {.words = head.words,
                   .word_tokens = head.word_tokens,
                   .labels = head.labels,
                   .label_tokens = head.label_tokens,
                   .pair_first = head.pair_first,
                   .pair_second = head.pair_second,
                   .second_segment = head.second_segment};
  }
  return inputs;
}

Block Teacher::ByText(const Block& block) const {
  const int64_t count = block.rows * block.cols;
  return reads_labels() ? Block{block.data, 1, count, count} : block;
}

int64_t Teacher::Columns() const {
  return reads_labels() ? trainee_.config().num_labels() : program_.info(program_.outputs[0].value).cols.factor;
}

void Teacher::Shuffle() {
  const auto epoch = static_cast<uint32_t>(progress_.epoch);
  for (size_t i = order_.size(); i > 1; --i) {
    const auto words = Philox({static_cast<uint32_t>(i), epoch, 0xFFFFFFFEu, 0},
                              {static_cast<uint32_t>(options_.seed), static_cast<uint32_t>(options_.seed >> 32)});
    std::swap(order_[i - 1], order_[words[0] % i]);
  }
}

Result<Teacher::Progress> Teacher::Advance() {
  progress_.validated = false;
  switch (phase_) {
    case Phase::kFeatures:
      progress_.phase = "features";
      PERUSE_RETURN_IF_ERROR(ComputeFeatures());
      break;
    case Phase::kFit:
      progress_.phase = "training";
      PERUSE_RETURN_IF_ERROR(FitHead());
      break;
    case Phase::kTraining:
      progress_.phase = "training";
      PERUSE_RETURN_IF_ERROR(Update());
      break;
    case Phase::kValidation:
      progress_.phase = "validation";
      PERUSE_RETURN_IF_ERROR(Validate());
      break;
    case Phase::kDone:
      break;
  }
  progress_.more = phase_ != Phase::kDone;
  return progress_;
}

Status Teacher::Update() {
  if (next_ == 0) progress_.epoch = static_cast<int32_t>(report_.epochs.size()) + 1;
  const size_t count = std::min(order_.size() - next_, static_cast<size_t>(options_.batch_size));
  const auto texts = std::span<const Example* const>(order_).subspan(next_, count);
  const Part examples =
      masks() ? MaskedTexts(texts, static_cast<uint32_t>(updates_) + 1) : Part(texts.begin(), texts.end());
  const int64_t columns = Columns();
  double mass = objective_->Mass(examples, columns), words = 0;
  progress_.generator_loss = 0;
  if (generator_) {
    mass /= double{options_.detection_weight};
    for (const Example* example : examples) words += static_cast<double>(example->chosen.size());
    generator_->ZeroGradients();
  }
  uint32_t done = 0;  // number of examples
  Masters& masters = trainee_.masters();
  masters.ZeroGradients();
  double loss = 0;
  int64_t rows = 0;  // number of rows of the logits so far
  for (const Example* example : examples) rows += objective_->RowsOf(*example);
  uint32_t number = 0;
  for (Part part : PartsOf(examples)) {
    if (generator_) {
      PERUSE_ASSIGN_OR_RETURN(
          part, Replaced(part, /*learns=*/true, words, std::exchange(done, done + static_cast<uint32_t>(part.size()))));
    }
    FillBatch(part);
    BringFeatures(part);
    PERUSE_ASSIGN_OR_RETURN(const double share,
                            sift_ ? LearnPerturbed(part, number, mass, rows) : LearnPart(part, number, mass));
    ++number;
    loss += share;
    report_.tokens += batch_.rows();
  }
  loss += progress_.generator_loss;
  masters.Gather();
  const double norm = generator_ ? generator_->Update(*optimiser_) : optimiser_->Update();
  if (!std::isfinite(norm) || !std::isfinite(loss)) {
    return Unsupported("training diverged at step " + std::to_string(updates_ + 1) +
                       "; its loss is not a number: a smaller learning_rate may help");
  }
  masters.Hold();
  next_ += count;
  report_.steps = ++updates_;
  report_.losses.push_back(loss);
  epoch_loss_ += loss;
  epoch_generator_loss_ += progress_.generator_loss;
  ++epoch_updates_;
  progress_.step = updates_;
  progress_.loss = loss;
  progress_.learning_rate = optimiser_->last_rate();
  return next_ < order_.size() ? OkStatus() : EndEpoch();
}

Result<double> Teacher::LearnPart(const Part& part, uint32_t number, double mass) {
  PERUSE_RETURN_IF_ERROR(step_->Begin(Inputs(), Options(/*training=*/true, number), matrices_));
  step_->Forward();
  const double loss = objective_->Loss(part, batch_, ByText(step_->output()), mass, ByText(step_->output_gradient()));
  step_->Backward();
  return loss;
}

Status Teacher::PrepareSift() {
  if (options_.sift == 0) return OkStatus();
  if (!objective_->traits().one_of_several) {
    return Unsupported("option sift is for tasks with one label of several; this one has none such");
  }
  if (options_.method != Method::kFull && options_.method != Method::kLora) {
    return InvalidArgument("option sift disturbs embeddings: it goes with the methods \"full\" and \"lora\"");
  }
  PERUSE_ASSIGN_OR_RETURN(perturbed_, trainee_.BuildPerturbed(kLogits));
  return OkStatus();
}

Result<double> Teacher::LearnPerturbed(const Part& part, uint32_t number, double mass, int64_t rows) {
  sift_->Draw(options_.seed, ++drawn_, batch_.rows(), &perturbation_);
  const auto loss = [&](const Block& logits, const Block& gradient) {
    return objective_->Loss(part, batch_, logits, mass, gradient);
  };
  return sift_->Learn(Inputs(), Options(/*training=*/true, number), loss, rows, &perturbation_);
}

}  // namespace peruse::train
