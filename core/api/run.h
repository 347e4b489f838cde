// Runs a task for a host: takes JSON, returns parts of results as JSON and float arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/result_writer.h"
#include "core/base/json.h"
#include "core/base/status.h"
#include "core/tasks/task.h"

namespace peruse {

class Run {
 public:
  virtual ~Run() = default;
  virtual Task& task() = 0;

  // Returns the results since the last call: [{"input": number, "value": ...}]. The host concatenates lists that belong to one input.
  Result<std::string> Take();
  // Whether the parts that Take has returned have arrays, which may be empty.
  bool has_arrays() const { return !taken_.arrays().empty(); }
  // Returns the floats of array `index`, valid until the task's next step; empty if the index is unknown.
  std::span<const float> array(size_t index) const;

 protected:
  Run() { parts_.BeginArray(); }
  // Returns the writer for a part of the result of input number `input`. EndPart completes the part.
  ResultWriter& BeginPart(size_t input);
  void EndPart() { parts_.EndObject(); }

 private:
  std::string json_;
  ResultWriter parts_{&json_};
  ResultWriter taken_{nullptr};  // owns the arrays of the parts that Take has returned
};

// The files of a sentence_transformers folder that a task reads.
enum class SentenceUse : uint8_t {
  kNone,
  kVectors,          // the modules; without modules.json the encoder and mean pooling
  kClassifier,       // the modules if one of them classifies, otherwise the model's own head
  kRankingSettings,  // only prompts and activation of a cross-encoder
};

// The head that a task needs, and its use of a sentence_transformers folder.
struct TaskNeeds {
  Head head;
  SentenceUse sentence = SentenceUse::kNone;
};

// Errors: kUnsupported for an unknown task.
Result<TaskNeeds> NeedsOfTask(std::string_view task);
Status CheckTask(std::string_view task, const ModelConfig& config);
// Returns the task of a checkpoint of this class (architectures in config.json), or an empty name.
std::string_view TaskOfClass(std::string_view architecture);

// Creates a task for one request, without starting it. Errors: kInvalidArgument for values of wrong types or out of range.
Result<std::unique_ptr<Run>> CreateRun(std::string_view task, const TaskContext& context, JsonValue request);
// Like CreateRun, for an inspection (core/tasks/inspector.h), which models with any head support.
Result<std::unique_ptr<Run>> CreateInspection(const TaskContext& context, JsonValue request);

}  // namespace peruse
