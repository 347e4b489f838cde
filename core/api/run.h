// A request to a task, as a host speaks it: JSON in, parts of results out as JSON and float arrays.
#pragma once

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

  // What has come since the last call: a JSON array of {"input": number, "value": ...}. Several parts of one input are
  // lists, to be joined.
  Result<std::string> Take();
  // The floats of array `index` of those parts, until the task's next step. Empty: there is no such array.
  std::span<const float> array(size_t index) const;

 protected:
  Run() { parts_.BeginArray(); }
  // Where the value of a part of the result of `input` is to be written, until EndPart.
  ResultWriter& BeginPart(size_t input);
  void EndPart() { parts_.EndObject(); }

 private:
  std::string json_;
  ResultWriter parts_{&json_};
  ResultWriter taken_{nullptr};  // holds the arrays of the parts that were taken
};

// The head that a task reads. kUnsupported: there is no such task.
Result<Head> HeadOfTask(std::string_view task);
// Whether a model of this configuration can have the task. kUnsupported.
Status CheckTask(std::string_view task, const ModelConfig& config);
// The task that a checkpoint of this class (architectures in config.json) is for, or an empty name if none is known.
std::string_view TaskOfClass(std::string_view architecture);

// A task for one request, to be started. Errors: of a request with values of wrong types or out of range.
Result<std::unique_ptr<Run>> CreateRun(std::string_view task, const TaskContext& context, JsonValue request);
// The same for an inspection, which a model of any head allows.
Result<std::unique_ptr<Run>> CreateInspection(const TaskContext& context, JsonValue request);

}  // namespace peruse
