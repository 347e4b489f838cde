// A loaded model with its tokenizer and task: the whole interface for hosts, in the order of calls. Requests and results are JSON, so that
// all hosts (Embind, a command line, a native test) use one format.
//
//   AddFile("config.json", ...), AddFile("tokenizer.json", ...)  small files, whole; a second tokenizer, for labels, in
//                                                                "labels_tokenizer/"; of an adapter "adapter_config.json"
//                                                                and, if it has labels of its own, "adapter/config.json"
//   Open({"task": ..., "dtype": ...})                            reads them and prepares for weights
//   FeedWeights(chunk)...  FinishWeights()                       model.safetensors as it arrives; or, of a sharded one,
//                                                                SetShardIndex, and EndShard after each file
//   Start(request)  then Step() and Take() while Step returns true   any number of times
//   StartInspection(request)  the same, for an inspection        (core/tasks/inspector.h)
//
// Calls in a wrong order are errors. After a failed run the next run may succeed; after a failed load the host needs a new session.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/api/file_stages.h"
#include "core/api/run.h"
#include "core/api/tokenizer_session.h"
#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/model/loaded_model.h"
#include "core/model/model_loader.h"
#include "core/model/runner.h"
#include "core/model/speed_probe.h"
#include "core/tasks/labels/label_reader.h"
#include "core/tasks/model_files.h"
#include "core/tasks/sentence_embedder.h"
#include "core/text/tokenizer.h"
#include "core/weights/lora.h"

namespace peruse {

enum class SessionStage { kFiles, kProbing, kWeights, kReady, kFailed };

class Session : public FileStages<SessionStage> {
 public:
  // Creates a session for another task of the checkpoint that `first` has loaded. Both share weights; only missing ones must be fed. The
  // host must add config.json and the tokenizer files again, with equal contents. Either session may be destroyed first.
  explicit Session(const Session& first)
      : FileStages(kFailed),
        backend_(first.backend_),
        usual_(first.usual_),
        tokenizer_(first.tokenizer_),
        model_(first.model_) {
    config_hash_ = first.config_hash_;
    tokenizer_hash_ = first.tokenizer_hash_;
  }
  Session& operator=(const Session&) = delete;
  // `usual` is the weight format if the caller does not choose one.
  explicit Session(std::unique_ptr<Backend> backend, Precision usual = Precision::kF32)
      : FileStages(kFailed), backend_(std::move(backend)), usual_(usual) {}

  // Whether weights must be fed after Open; false if another session already has all of them.
  bool needs_weights() const { return loader_ == nullptr || loader_->needs_weights(); }
  // `request` is {"task": string, "dtype"?: "auto" | "f32" | "f16" | "q8" | "q4", "lora_task"?: string}. "auto" means that
  // of a q8 or q4 checkpoint, otherwise `usual`.
  Status Open(std::string_view request);
  // If the file "adapter_config.json" was added: feeds the adapter's weights. Must precede the checkpoint, into which they are merged.
  Status FeedAdapter(std::span<const uint8_t> chunk);
  Status FinishAdapter();
  // Takes model.safetensors.index.json or pytorch_model.bin.index.json, and returns a JSON array of files in the order to feed them.
  Result<std::string> SetShardIndex(std::string_view index_json);
  Status EndShard();
  Status FeedWeights(std::span<const uint8_t> chunk);
  // ModelLoader::WeightBytes and header_read() between Open and FinishWeights; 0 and false otherwise.
  int64_t WeightBytes() const { return loader_ == nullptr ? 0 : loader_->WeightBytes(); }
  bool header_read() const { return loader_ != nullptr && loader_->header_read(); }
  // Returns a JSON object with the load report (LoadReport).
  Result<std::string> FinishWeights();

  // Measures the speed of the backend for a model of the size in config.json, which must have been added. Runs `layers` typical layers
  // (SpeedProbe); 0 means the model's number of layers. The caller measures the time. `dtype`: see Open. Returns the model's number of
  // layers. The session cannot be opened afterwards.
  Result<int32_t> Probe(int32_t layers, std::string_view dtype);

  // Several requests can be under way. Start, StartInspection, Step, Take and array() act on request number `request` from now on; at first on
  // 0. The caller may switch before any call.
  void Select(uint32_t request);
  Status Start(std::string_view request);
  // After FinishWeights: returns the model's tokenizer, with the model's length limit.
  Result<TokenizerSession> Tokenize() const;
  Status StartInspection(std::string_view request);
  // Returns the program that computes the head's outputs; nullptr before Open.
  const Program* program() const;
  Result<bool> Step();
  Result<bool> BeginStep();
  Result<bool> EndStep();
  // Returns the results since the last call (Run::Take), and their float arrays, which are valid until the next step or request. Taking the
  // last results ends the request.
  Result<std::string> Take();
  std::span<const float> array(size_t index) const { return run_ ? run_->array(index) : std::span<const float>(); }
  int64_t tokens_read() const;

 private:
  using Stage = SessionStage;
  static constexpr std::string_view kFailed = "a session whose loading failed";

  Status ExpectWeights(std::string_view call) const;
  Status Fail(Status status);
  Status CreateParts(std::string_view request);
  Result<std::shared_ptr<const text::Tokenizer>> CreateTokenizer();
  Result<std::string> WithAdapterLabels(const std::string& config_json) const;
  // Recreates the loader for an adapter with a different number of labels or token embeddings.
  Status FitToAdapter();
  // Whether the model has embeddings for all tokens of the tokenizer.
  Status CheckVocabulary() const;
  // Reads how the folder ranks. Sets the head, and the labels of scores.
  Status ReadRanking(const std::string& config_json, const text::Tokenizer* tokenizer, ModelOptions* options);
  Status CheckLabels() const;
  ReadModelFile ReadFiles() const;
  Result<std::optional<SentenceModules>> ReadModules() const;
  Status CreateSentence(SentenceModules modules);
  Status SetPooling(std::string_view pooling, std::optional<SentenceModules>* modules) const;
  Status ReadLabelsTokenizer();
  TaskContext context() {
    return {*tokenizer_, *runner_, &ranking_, sentence_.get(), labels_tokenizer_.get(), &label_vectors_};
  }
  template <typename Create>  // Result<std::unique_ptr<Run>>(JsonValue request)
  Status StartRun(std::string_view call, std::string_view request, Create create);
  void EndRun();
  Result<Task*> Running(std::string_view call);

  std::shared_ptr<Backend> backend_;
  const Precision usual_;
  std::unique_ptr<SpeedProbe> probe_;
  // Before Open these belong to the session whose weights this one shares.
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::shared_ptr<const LoadedModel> model_;
  uint64_t config_hash_ = 0;
  uint64_t tokenizer_hash_ = 0;
  std::unique_ptr<ModelLoader> loader_;  // set from Open to FinishWeights
  std::unique_ptr<Runner> runner_;       // set by FinishWeights
  std::string task_;
  RankingSettings ranking_;
  std::unique_ptr<SentenceEmbedder>
      sentence_;  // for feature-extraction, and for folders whose modules classify or rank
  std::unique_ptr<text::Tokenizer> labels_tokenizer_;
  LabelVectors label_vectors_;
  std::unique_ptr<Run> run_;                         // the selected request, until it ends
  uint32_t selected_ = 0;                            // its number
  std::map<uint32_t, std::unique_ptr<Run>> paused_;  // the other requests that are under way
  int64_t tokens_read_ = 0;                          // tokens of all earlier requests
  std::unique_ptr<LoraAdapter> adapter_;             // null once the adapter is complete
  // Needed until an adapter is complete: if it changes the number of labels, the model must be created again.
  std::string adapter_base_;  // the model's config.json
  ModelOptions model_options_;
};

}  // namespace peruse
