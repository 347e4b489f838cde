#include "core/train/recipes/generator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/train/memory/random_stream.h"
#include "core/train/ops/loss.h"

namespace peruse::train {
namespace {

int32_t Sample(const float* logits, int64_t count, double unit) {
  const auto largest = double{*std::max_element(logits, logits + count)};
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(double{logits[i]} - largest);
  double left = unit * sum;
  int64_t i = 0;
  for (; i + 1 < count; ++i) {
    left -= std::exp(double{logits[i]} - largest);
    if (left < 0) break;
  }
  return static_cast<int32_t>(i);
}

}  // namespace

Generator::Generator(Trainee& generator, Trainee& discriminator, bool disentangled)
    : trainee_(generator), discriminator_(discriminator), disentangled_(disentangled) {}

Status Generator::Link() {
  for (const char* name : {"word_embeddings", "position_embeddings", "token_type_embeddings"}) {
    const std::string full = std::string("embeddings.") + name + ".weight";
    const auto find = [&](WeightTensors& weight_tensors) {
      const auto found = std::find_if(weight_tensors.tensors().begin(), weight_tensors.tensors().end(),
                                      [&](const WeightTensor& weight_tensor) { return weight_tensor.name == full; });
      return found == weight_tensors.tensors().end() ? nullptr : &*found;
    };
    Table table = {find(weight_tensors()), find(discriminator_.weight_tensors()), {}};
    if (table.own == nullptr || table.theirs == nullptr) continue;
    if (table.own->shape != table.theirs->shape) {
      return Status(StatusCode::kShapeMismatch,
                    "generator and discriminator share " + full + ", which has another shape in one than in the other");
    }
    if (!table.theirs->trained) table.own->trained = false;
    tables_.push_back(std::move(table));
  }
  return OkStatus();
}

void Generator::Follow() {
  for (Table& table : tables_) {
    const int64_t size = table.own->size;
    if (!disentangled_) std::copy_n(table.theirs->values, size, table.own->values);
    for (int64_t i = 0; disentangled_ && i < size; ++i) {
      table.theirs->values[i] = table.own->values[i] + table.difference[static_cast<size_t>(i)];
    }
  }
}

Status Generator::Prepare(const AdamWOptions& adamw, uint64_t seed) {
  for (WeightTensor& weight_tensor : weight_tensors().tensors())
    weight_tensor.trained = trainee_.IsTrainable(weight_tensor);
  PERUSE_RETURN_IF_ERROR(Link());
  PERUSE_RETURN_IF_ERROR(trainee_.BeginTraining(discriminator_.packed()->shared_workers()));
  weight_tensors().Initialise(seed ^ 1, /*deviation=*/0.02f);
  for (Table& table : tables_) {
    // A generator without a checkpoint starts with the discriminator's token embeddings.
    if (table.own->fresh) std::copy_n(table.theirs->values, table.own->size, table.own->values);
    if (!disentangled_) {
      table.own->follows = true;
      continue;
    }
    if (!TryResize(&table.difference, static_cast<size_t>(table.own->size)))
      return OutOfMemory("no memory for a table");
    for (int64_t i = 0; i < table.own->size; ++i) {
      table.difference[static_cast<size_t>(i)] = table.theirs->values[i] - table.own->values[i];
    }
  }
  Follow();
  trainee_.packed()->Pack();
  PERUSE_ASSIGN_OR_RETURN(program_, trainee_.ProgramFor(kLogits));
  step_ = std::make_unique<Step>(program_, trainee_.packed()->parameters());
  optimiser_ = std::make_unique<AdamW>(weight_tensors(), trainee_.packed()->workers(), adamw);
  return optimiser_->Allocate();
}

int64_t Generator::bytes() const {
  int64_t floats = 0;
  for (const Table& table : tables_) floats += static_cast<int64_t>(table.difference.size());
  return trainee_.bytes() + optimiser_->bytes() + floats * static_cast<int64_t>(sizeof(float));
}

int64_t Generator::trained() const {
  int64_t count = 0;
  for (const WeightTensor& weight_tensor : trainee_.weight_tensors().tensors())
    count += weight_tensor.updates() ? weight_tensor.size : 0;
  return count;
}

Status Generator::Begin(const Part& masked, StepOptions options) {
  batch_.Fill(masked);
  labels_.clear();
  for (const Example* example : masked) {
    labels_.insert(labels_.end(), example->labels.begin(), example->labels.end());
  }
  options.seed ^= 1;  // so that the dropout differs from the discriminator's
  return step_->Begin(batch_.inputs(), options);
}

Result<int64_t> Generator::Rehearse(const Part& masked, const StepOptions& options) {
  PERUSE_RETURN_IF_ERROR(Begin(masked, options));
  return step_->bytes();
}

Result<double> Generator::Replace(const Part& masked, const StepOptions& options, double mass, uint32_t first,
                                  std::span<const int32_t> sampled, std::vector<Example>* replaced) {
  PERUSE_RETURN_IF_ERROR(Begin(masked, options));
  step_->Forward();
  const Block logits = step_->output();
  replaced->clear();
  std::vector<int32_t> drawn(sampled.begin(), sampled.end());
  if (sampled.empty()) {
    drawn.resize(labels_.size());
    const RandomStream random(options.seed, Purpose::kReplacedTokens);
    trainee_.packed()->workers().For(logits.rows, [&](int32_t, int64_t row) {
      const auto index = static_cast<size_t>(row);
      const uint32_t word = random.At(index, first, options.number)[0];
      drawn[index] = Sample(logits.row(row), logits.cols, RandomStream::Unit(word));
    });
  }
  size_t word = 0;
  for (const Example* example : masked) {
    Example next = {.ids = example->ids, .types = example->types};
    next.targets.assign(next.ids.size(), 0);
    for (size_t i = 0; i < example->chosen.size(); ++i, ++word) {
      const auto place = static_cast<size_t>(example->chosen[i]);
      next.ids[place] = drawn[word];
      next.targets[place] = next.ids[place] == example->labels[i] ? 0.0f : 1.0f;
    }
    replaced->push_back(std::move(next));
  }
  if (!options.backward) return 0.0;
  const double loss =
      CrossEntropy(logits, labels_, {.workers = &trainee_.packed()->workers()}, mass, step_->output_gradient());
  step_->Backward();
  return loss;
}

double Generator::Update(AdamW& discriminator) {
  trainee_.packed()->Gather();
  for (const Table& table : tables_) {
    if (disentangled_ || table.theirs->gradient == nullptr) continue;
    for (int64_t i = 0; i < table.own->size; ++i) table.theirs->gradient[i] += table.own->gradient[i];
  }
  double norm = discriminator.Norm(), own = optimiser_->Norm();
  if (!std::isfinite(norm) || !std::isfinite(own)) return NAN;
  // With one shared table, gradients of both models are clipped by their joint norm; disentangled, each model is clipped separately, as in
  // DeBERTa's code.
  if (!disentangled_) norm = own = std::hypot(norm, own);
  for (Table& table : tables_) {
    // AdamW must update E_delta, so it takes the place of E_D in the table.
    if (disentangled_) std::copy(table.difference.begin(), table.difference.end(), table.theirs->values);
  }
  discriminator.Update(norm);
  optimiser_->Update(own);
  for (Table& table : tables_) {
    if (disentangled_) std::copy_n(table.theirs->values, table.own->size, table.difference.begin());
  }
  Follow();
  trainee_.packed()->Pack();
  return std::max(norm, own);
}

void Generator::Keep(std::vector<float>* state) const {
  for (const WeightTensor& weight_tensor : trainee_.weight_tensors().tensors()) {
    if (weight_tensor.trained)
      state->insert(state->end(), weight_tensor.values, weight_tensor.values + weight_tensor.size);
  }
}

void Generator::Restore(const float* state) {
  for (const WeightTensor& weight_tensor : trainee_.weight_tensors().tensors()) {
    if (!weight_tensor.trained) continue;
    std::copy_n(state, weight_tensor.size, weight_tensor.values);
    state += weight_tensor.size;
  }
}

std::string GeneratorConfig(std::string_view config_json, const Family& family, const ModelConfig& discriminator) {
  const ConfigFields fields = family.fields();
  const auto name = [](std::string_view field) { return std::string(field); };
  const auto quarter = [](int32_t size) { return std::to_string(std::max(1, size / 4)); };
  if (family.pretraining().narrow_generator && discriminator.hidden_size % 4 == 0) {
    return WithMembers(config_json, {{name(fields.hidden_size), quarter(discriminator.hidden_size)},
                                     {name(fields.intermediate_size), quarter(discriminator.intermediate_size)},
                                     {name(fields.num_attention_heads), quarter(discriminator.num_attention_heads)},
                                     {name(fields.embedding_size), std::to_string(discriminator.embedding_size)}});
  }
  const int32_t half = std::max(1, discriminator.num_hidden_layers / 2);
  return WithMembers(config_json, {{name(fields.num_hidden_layers), std::to_string(half)}});
}

}  // namespace peruse::train
