// What was learnt as files that transformers, peft and Peruse read: a checkpoint of float32 tensors under the reference's names, or
// a LoRA adapter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/train/teacher.h"

namespace peruse::train {

struct ExportRequest {
  std::string config_json;  // of the model that was taught
  Head head = Head::kNone;
  ProblemType problem = ProblemType::kUnspecified;  // of sequence classification
  const TeachOptions* options = nullptr;
};

class Exporter {
 public:
  // kMalformedFile never: the configuration was read before. The trainee outlives this.
  Exporter(Trainee& trainee, const ExportRequest& request);

  struct File {
    std::string name;
    uint64_t bytes = 0;
  };
  std::vector<File> files() const;
  // Bytes [first, first + count) of a file, fewer at its end, valid until the next call. Tensors are read as they are now. kNotFound, kOutOfMemory.
  Result<std::span<const uint8_t>> Read(std::string_view name, uint64_t first, uint64_t count);

 private:
  // A tensor of the weights file.
  struct Tensor {
    std::string name;
    const Master* master;
  };

  void ListAdapter(const TeachOptions& options);
  std::string FullName(const Master& master) const;
  std::string Header() const;

  Trainee& trainee_;
  const Head head_;
  std::vector<std::pair<std::string, std::string>> small_;  // name and contents
  std::string weights_name_, header_;                       // the large one: the header, its length before it included
  std::vector<Tensor> tensors_;
  uint64_t weights_bytes_ = 0;
  std::vector<uint8_t> bytes_;
};

}  // namespace peruse::train
