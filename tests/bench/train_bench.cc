// Compares a training step with a forward pass of inference: train_bench [TOKENS [TEXTS [THREADS]]]. ConvBERT-small's shape with random
// weights; minimum times in milliseconds, processor time for one thread. Prints JSON for `npm run bench -- --teach`.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "core/backend/cpu/cpu_backend.h"
#include "core/model/model_loader.h"
#include "core/model/runner.h"
#include "core/train/ops/loss.h"
#include "core/train/recipes/adamw.h"
#include "core/train/recipes/trainee.h"
#include "tests/bench/clocks.h"

namespace {

using namespace peruse;         // NOLINT: a program of one file
using namespace peruse::train;  // NOLINT

constexpr const char* kConfig = R"({"model_type": "convbert", "architectures": ["ConvBertForSequenceClassification"],
  "vocab_size": 30522, "hidden_size": 256, "embedding_size": 128, "num_hidden_layers": 12, "num_attention_heads": 4,
  "intermediate_size": 1024, "head_ratio": 2, "conv_kernel_size": 9, "num_groups": 1, "num_labels": 2})";

std::string RandomWeights(const Parameters& parameters) {
  std::string header = "{", body;
  std::set<std::string> known;
  uint32_t state = 1;
  for (const ParameterTensor& tensor : parameters.tensors) {
    if (!known.insert(tensor.names[0]).second) continue;
    std::string shape;
    int64_t size = 1;
    for (const int64_t n : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(n);
      size *= n;
    }
    const size_t begin = body.size();
    const bool norm = tensor.names[0].ends_with("LayerNorm.weight");
    for (int64_t i = 0; i < size; ++i) {
      state = state * 1664525u + 1013904223u;
      const float value = norm ? 1.0f : (static_cast<float>(state >> 8) / (1 << 23) - 1) * 0.04f;
      body.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    header += (known.size() > 1 ? "," : "") + ("\"" + tensor.names[0] + "\":{\"dtype\":\"F32\",\"shape\":[") + shape +
              "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(body.size()) + "]}";
  }
  header += "}";
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header + body;
}

double Seconds(int32_t threads, const auto& work) {
  const auto clock = threads == 1 ? bench::CpuTime : bench::WallTime;
  const double start = clock();
  work();
  return clock() - start;
}
double Least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

}  // namespace

int main(int count, char** arguments) {
  const int32_t tokens = count > 1 ? std::atoi(arguments[1]) : 32;
  const int32_t texts = count > 2 ? std::atoi(arguments[2]) : 16;
  const int32_t threads = count > 3 ? std::atoi(arguments[3]) : 1;
  const auto trainee = Trainee::Create(kConfig, Head::kSequenceClassification, {}).value();
  const std::string file = RandomWeights(trainee->parameters());
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  PERUSE_CHECK(trainee->FeedWeights(bytes).ok() && trainee->FinishWeights().ok());
  for (WeightTensor& weight_tensor : trainee->weight_tensors().tensors()) weight_tensor.trained = true;
  PERUSE_CHECK(trainee->BeginTraining(Workers::Create(threads).value()).ok());
  const Program program = trainee->ProgramFor(kLogits).value();
  Step step(program, trainee->packed()->parameters());
  AdamW optimiser(trainee->weight_tensors(), trainee->packed()->workers(), {.steps = 1000});
  PERUSE_CHECK(optimiser.Allocate().ok());

  const auto backend = CreateCpuBackend(threads).value();
  const auto loader = ModelLoader::Create(kConfig, {.head = Head::kSequenceClassification}, *backend).value();
  PERUSE_CHECK(loader->Feed(bytes).ok());
  const std::unique_ptr<Runner> model = CreateRunner(loader->Finish().value());

  std::vector<std::vector<int32_t>> ids(static_cast<size_t>(texts));
  std::vector<ModelInput> inputs;
  RaggedBatch batch;
  std::vector<int32_t> labels;
  for (size_t s = 0; s < ids.size(); ++s) {
    for (int32_t t = 0; t < tokens; ++t)
      ids[s].push_back(1000 + static_cast<int32_t>(s * 977 + static_cast<size_t>(t) * 131) % 20000);
    inputs.push_back({ids[s], {}});
    batch.Append(tokens);
    labels.push_back(static_cast<int32_t>(s % 2));
  }
  const auto infer = [&] { PERUSE_CHECK(model->Begin(inputs).ok() && model->Finish().ok()); };
  double parts[4] = {};
  const auto train = [&] {
    PackedCopies& packed = *trainee->packed();
    parts[0] += Seconds(threads, [&] {
      packed.ZeroGradients();
      PERUSE_CHECK(step.Begin({inputs, batch, {}}, {.dropout = 0.1f, .attention_dropout = 0.1f}).ok());
    });
    parts[1] += Seconds(threads, [&] { step.Forward(); });
    parts[2] += Seconds(threads, [&] {
      CrossEntropy(step.output(), labels, {}, CrossEntropyMass(labels, {}), step.output_gradient());
      step.Backward();
      packed.Gather();
    });
    parts[3] += Seconds(threads, [&] {
      optimiser.Update();
      packed.Pack();
    });
  };
  infer();
  train();
  std::fill(std::begin(parts), std::end(parts), 0.0);
  constexpr int kRounds = 9;
  std::vector<double> forwards, steps;
  for (int round = 0; round < kRounds; ++round) {
    forwards.push_back(Seconds(threads, infer));
    steps.push_back(Seconds(threads, train));
  }
  std::printf(
      "{\"texts\": %d, \"tokens\": %d, \"threads\": %d, \"forward\": %.1f, \"step\": %.1f, \"ratio\": %.2f, "
      "\"parts\": {\"begin\": %.1f, \"forward\": %.1f, \"backward\": %.1f, \"update\": %.1f}, \"megabytes\": %.0f}\n",
      texts, tokens, threads, 1e3 * Least(forwards), 1e3 * Least(steps), Least(steps) / Least(forwards),
      1e3 * parts[0] / kRounds, 1e3 * parts[1] / kRounds, 1e3 * parts[2] / kRounds, 1e3 * parts[3] / kRounds,
      1e-6 * static_cast<double>(step.bytes() + trainee->bytes() + optimiser.bytes()));
  return 0;
}
