// Exports a trained model as files that transformers, peft, sentence_transformers and Peruse load: a checkpoint of float32 tensors, a LoRA
// adapter, or a folder of modules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/tasks/sentence_modules.h"
#include "core/train/recipes/teacher.h"

namespace peruse::train {

struct ExportRequest {
  std::string config_json;  // config.json of the source model
  Head head = Head::kNone;
  ProblemType problem = ProblemType::kUnspecified;  // for sequence classification
  const TeachOptions* options = nullptr;
  // modules of a sentence_transformers folder; null unless the trainee has a sentence head (SentenceFiles)
  const SentenceModules* sentence = nullptr;
};

class Exporter {
 public:
  Exporter(Trainee& trainee, const ExportRequest& request);

  struct File {
    std::string name;
    uint64_t bytes = 0;
  };
  std::vector<File> files() const;
  // Returns the bytes [first, first + count) of a file, fewer at its end, valid until the next call. Tensors have their current values.
  // Errors: kNotFound, kOutOfMemory.
  Result<std::span<const uint8_t>> Read(std::string_view name, uint64_t first, uint64_t count);

 private:
  struct Tensor {
    std::string name;
    const WeightTensor* weight_tensor;
  };
  struct Weights {
    std::string name;
    std::vector<Tensor> tensors;
    std::string header;  // starts with its own length
    uint64_t bytes = 0;
  };

  void ListAdapter(const TeachOptions& options);
  void ListModules(const SentenceModules& modules);
  std::string FullName(const WeightTensor& weight_tensor) const;
  void AddWeights(std::string name, std::vector<Tensor> tensors);

  Trainee& trainee_;
  const Head head_;
  std::vector<std::pair<std::string, std::string>> small_;  // pairs of name and contents
  std::vector<Weights> weights_;
  std::vector<uint8_t> bytes_;
};

// Returns the folder of the classifier; its weights are there in model.safetensors.
std::string ClassifierFolder(const SentenceModules& modules);

// Returns names and contents of modules.json, the modules' config.json and sentence_bert_config.json. `modules` exclude the classifier,
// whose input is a vector of `hidden` numbers. sentence_transformers then returns the logits of the labels as the vector of a text.
std::vector<std::pair<std::string, std::string>> SentenceFiles(const SentenceModules& modules, int32_t hidden,
                                                               int32_t labels);

}  // namespace peruse::train
