// One loaded model with its tokenizer and task: everything that a host needs, in the order that it needs it.
//
//   AddFile("config.json", ...), AddFile("tokenizer.json", ...)  small files, whole
//   Open({"task": ..., "dtype": ...})                            reads them; now weights can come
//   FeedWeights(chunk)...  FinishWeights()                       model.safetensors as it arrives; or, of a sharded one,
//                                                                SetShardIndex, and EndShard after each file
//   Start(request)  Step()...  Finish()                          any number of times
//   StartInspection(request)  Step()...  Finish()                the same, to look inside (inspector.h)
//
// A call out of order is refused; after a failed run the next one may succeed; after a failed load the session is of
// no more use, and a new one is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/models/model.h"
#include "core/models/speed_probe.h"
#include "core/tasks/inspector.h"
#include "core/tasks/task.h"
#include "core/tokenizer/tokenizer.h"

namespace peruse {

class Session {
 public:
  // `usual`: how weights are held when nobody says.
  explicit Session(std::unique_ptr<Backend> backend, Precision usual = Precision::kF32)
      : backend_(std::move(backend)), usual_(usual) {}

  Status AddFile(std::string_view name, std::string_view bytes);
  // `request`: {"task": string, "dtype"?: "auto" | "f32" | "f16" | "q8"}; "auto": q8 for a q8 checkpoint, else the usual.
  Status Open(std::string_view request);
  // model.safetensors.index.json: a JSON array of the files to feed, in this order (Model::SetShardIndex).
  Result<std::string> SetShardIndex(std::string_view index_json);
  Status EndShard();
  Status FeedWeights(std::span<const uint8_t> chunk);
  // A JSON object: what was loaded (LoadReport).
  Result<std::string> FinishWeights();

  // How fast is the backend with a model of config.json's size? After AddFile("config.json"): a run of `layers` typical
  // layers (SpeedProbe), for the caller to time; `dtype` as in Open; 0: as many as the model has. Gives the model's number. Once it was asked,
  // the session can't be opened any more.
  Result<int32_t> Probe(int32_t layers, std::string_view dtype);

  Status Start(std::string_view request);
  // Instead of Start: a look inside.
  Status StartInspection(std::string_view request);
  // The floats of an array of the last look inside, until the next run (Inspector::array).
  std::span<const float> InspectedArray(size_t index) const;
  Result<bool> Step();
  // The halves of Step (Task::BeginStep).
  Result<bool> BeginStep();
  Result<bool> EndStep();
  Result<std::string> Finish();
  // Task::tokens_read(); 0 before a model is open.
  int64_t tokens_read() const { return task_ ? task_->tokens_read() : 0; }

 private:
  enum class Stage { kFiles, kProbing, kWeights, kReady, kFailed };

  Status Expect(Stage stage, std::string_view call) const;
  Status Fail(Status status);
  Status CreateParts(std::string_view request);
  Status StartTask(Task* task, std::string_view call, std::string_view request);

  std::unique_ptr<Backend> backend_;
  const Precision usual_;
  Stage stage_ = Stage::kFiles;
  std::map<std::string, std::string, std::less<>> files_;
  std::unique_ptr<SpeedProbe> probe_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<Inspector> inspector_;
  Task* running_ = nullptr;  // of the two, the one that Step and Finish go on with
};

}  // namespace peruse
