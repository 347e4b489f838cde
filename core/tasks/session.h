// One loaded model with its tokenizer and task: everything that a host needs, in the order that it needs it.
//
//   AddFile("config.json", ...), AddFile("tokenizer.json", ...)  small files, whole
//   Open({"task": ..., "dtype": ...})                            reads them; now weights can come
//   FeedWeights(chunk)...  FinishWeights()                       model.safetensors as it arrives
//   Start(request)  Step()...  Finish()                          any number of times
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
#include "core/tasks/task.h"
#include "core/tokenizer/tokenizer.h"

namespace peruse {

class Session {
 public:
  explicit Session(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}

  Status AddFile(std::string name, std::string bytes);
  // `request`: {"task": string, "dtype"?: "f32" | "f16" | "q8"}.
  Status Open(std::string_view request);
  Status FeedWeights(std::span<const uint8_t> chunk);
  // A JSON object: what was loaded (LoadReport).
  Result<std::string> FinishWeights();

  Status Start(std::string_view request);
  Result<bool> Step();
  // The halves of Step (Task::BeginStep).
  Result<bool> BeginStep();
  Result<bool> EndStep();
  Result<std::string> Finish();

 private:
  enum class Stage { kFiles, kWeights, kReady, kFailed };

  Status Expect(Stage stage, std::string_view call) const;
  Status Fail(Status status);
  Status CreateParts(std::string_view request);

  std::unique_ptr<Backend> backend_;
  Stage stage_ = Stage::kFiles;
  std::map<std::string, std::string, std::less<>> files_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Task> task_;
};

}  // namespace peruse
