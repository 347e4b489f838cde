// A loaded model with its tokenizer and task: the complete interface for hosts, in calling order. Requests and results are JSON, so that
// every host (Embind, a command line, a native test) uses the same format.
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
// Calls out of order are errors. After a failed run the next one may succeed; after a failed load the session is unusable, and a new one is
// needed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/api/run.h"
#include "core/api/tokenizer_session.h"
#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/model/loaded_model.h"
#include "core/model/model_loader.h"
#include "core/model/runner.h"
#include "core/model/speed_probe.h"
#include "core/tasks/label_reader.h"
#include "core/tasks/model_file.h"
#include "core/tasks/sentence_embedder.h"
#include "core/text/tokenizer.h"
#include "core/weights/lora.h"

namespace peruse {

class Session {
 public:
  // Another task of the checkpoint that `first` has loaded: weights that both need are stored once, and those that `first` has are not read
  // again. config.json and tokenizer files must be added again, and be identical. Either session may be destroyed first.
  explicit Session(const Session& first)
      : backend_(first.backend_), usual_(first.usual_), tokenizer_(first.tokenizer_), model_(first.model_) {
    config_hash_ = first.config_hash_;
    tokenizer_hash_ = first.tokenizer_hash_;
  }
  Session& operator=(const Session&) = delete;
  // `usual` is the weight format if the caller does not choose one.
  explicit Session(std::unique_ptr<Backend> backend, Precision usual = Precision::kF32)
      : backend_(std::move(backend)), usual_(usual) {}

  Status AddFile(std::string_view name, std::string_view bytes);
  // After Open: whether weights must be fed, which is false if another session has them all.
  bool needs_weights() const { return loader_ == nullptr || loader_->needs_weights(); }
  // `request` is {"task": string, "dtype"?: "auto" | "f32" | "f16" | "q8"}; "auto" means q8 for a q8 checkpoint, else the usual format.
  Status Open(std::string_view request);
  // If the file "adapter_config.json" was added: feeds the adapter's weights, before the checkpoint's, into which they are merged.
  Status FeedAdapter(std::span<const uint8_t> chunk);
  Status FinishAdapter();
  // Takes the index (model.safetensors.index.json or pytorch_model.bin.index.json) and returns a JSON array of the files to feed, in this
  // order (Checkpoint::SetShardIndex).
  Result<std::string> SetShardIndex(std::string_view index_json);
  Status EndShard();
  Status FeedWeights(std::span<const uint8_t> chunk);
  // After Open: ModelLoader::WeightBytes and header_read(); 0 and false otherwise.
  int64_t WeightBytes() const { return loader_ == nullptr ? 0 : loader_->WeightBytes(); }
  bool header_read() const { return loader_ != nullptr && loader_->header_read(); }
  // Returns a JSON object with the load report (LoadReport).
  Result<std::string> FinishWeights();

  // Measures the backend's speed with a model of config.json's size. After AddFile("config.json"): runs `layers` typical layers
  // (SpeedProbe), which the caller times; 0 means the model's number of layers. `dtype` as in Open. Returns the model's number of layers.
  // Afterwards the session cannot be opened.
  Result<int32_t> Probe(int32_t layers, std::string_view dtype);

  Status Start(std::string_view request);
  // After FinishWeights: the model's tokenizer with the model's length limit.
  Result<TokenizerSession> Tokenize() const;
  // Replaces Start, for an inspection.
  Status StartInspection(std::string_view request);
  // The program of the head's outputs; nullptr before Open.
  const Program* program() const;
  Result<bool> Step();
  // Step in halves (Task::BeginStep).
  Result<bool> BeginStep();
  Result<bool> EndStep();
  // Returns the results since the last call (Run::Take), and their float arrays, valid until the next step or request. Taking the last
  // parts ends the request.
  Result<std::string> Take();
  std::span<const float> array(size_t index) const { return run_ ? run_->array(index) : std::span<const float>(); }
  // Total Task::tokens_read() of all requests.
  int64_t tokens_read() const { return tokens_read_ + (run_ ? run_->task().tokens_read() : 0); }

 private:
  enum class Stage { kFiles, kProbing, kWeights, kReady, kFailed };

  Status Expect(Stage stage, std::string_view call) const;
  Status ExpectWeights(std::string_view call) const;
  Status Fail(Status status);
  Status CreateParts(std::string_view request);
  // Creates the tokenizer from its files.
  Result<std::shared_ptr<const text::Tokenizer>> CreateTokenizer();
  Result<std::string> WithAdapterLabels(const std::string& config_json) const;
  // Recreates the loader, for an adapter with this number of labels.
  Status Relabel(int32_t labels);
  Status ReadRanking();
  ReadModelFile ReadFiles() const;
  Result<std::optional<SentenceModules>> ReadModules() const;
  Status CreateSentence(SentenceModules modules);
  Status ReadLabelsTokenizer();
  TaskContext context() {
    return {*tokenizer_,    *runner_, ranking_activation_, ranking_prompt_, sentence_.get(), labels_tokenizer_.get(),
            &label_vectors_};
  }
  template <typename Create>  // Result<std::unique_ptr<Run>>(JsonValue request)
  Status StartRun(std::string_view call, std::string_view request, Create create);
  void EndRun();
  // Returns the current run. Errors: kInvalidArgument without a run.
  Result<Task*> Running(std::string_view call);

  std::shared_ptr<Backend> backend_;
  const Precision usual_;
  Stage stage_ = Stage::kFiles;
  std::map<std::string, std::string, std::less<>> files_;
  std::unique_ptr<SpeedProbe> probe_;
  // Until Open, those of the session that shares its weights.
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::shared_ptr<const LoadedModel> model_;
  uint64_t config_hash_ = 0;
  uint64_t tokenizer_hash_ = 0;
  std::unique_ptr<ModelLoader> loader_;  // from Open to FinishWeights
  std::unique_ptr<Runner> runner_;       // after FinishWeights
  std::string task_;
  std::string ranking_activation_;  // TaskContext's
  std::string ranking_prompt_;
  std::unique_ptr<SentenceEmbedder> sentence_;  // for feature-extraction, and for classifiers in module folders
  // For a model with a label encoder.
  std::unique_ptr<text::Tokenizer> labels_tokenizer_;
  LabelVectors label_vectors_;
  std::unique_ptr<Run> run_;              // of the last request
  int64_t tokens_read_ = 0;               // by earlier requests
  std::unique_ptr<LoraAdapter> adapter_;  // until it is complete
  // Until an adapter is complete: the adapter may change the number of labels, which requires creating the model again.
  std::string adapter_base_;  // config.json
  ModelOptions model_options_;
};

}  // namespace peruse
