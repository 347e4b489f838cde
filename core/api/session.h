// One loaded model with its tokenizer and task: everything that a host needs, in the order that it needs it. Requests and
// results are JSON, so that every host (Embind, a command line, a native test) speaks the same language.
//
//   AddFile("config.json", ...), AddFile("tokenizer.json", ...)  small files, whole; a second tokenizer, for labels, in
//                                                                "labels_tokenizer/"; of an adapter "adapter_config.json"
//                                                                and, if it has labels of its own, "adapter/config.json"
//   Open({"task": ..., "dtype": ...})                            reads them; now weights can come
//   FeedWeights(chunk)...  FinishWeights()                       model.safetensors as it arrives; or, of a sharded one,
//                                                                SetShardIndex, and EndShard after each file
//   Start(request)  then Step() and Take() while Step says true  any number of times
//   StartInspection(request)  the same, for an inspection        (core/tasks/inspector.h)
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
  // Another task of the same checkpoint, beside `first`, which has loaded its weights: what both need is stored once, and what `first` has
  // is not read again. config.json and its tokenizer are to be given anew, and must be the same. Either may go before the other.
  explicit Session(const Session& first)
      : backend_(first.backend_), usual_(first.usual_), tokenizer_(first.tokenizer_), model_(first.model_) {
    config_hash_ = first.config_hash_;
    tokenizer_hash_ = first.tokenizer_hash_;
  }
  Session& operator=(const Session&) = delete;
  // `usual`: the format of weights when the caller names none.
  explicit Session(std::unique_ptr<Backend> backend, Precision usual = Precision::kF32)
      : backend_(std::move(backend)), usual_(usual) {}

  Status AddFile(std::string_view name, std::string_view bytes);
  // After Open: whether a file of weights is to be fed; not where another session has all of them.
  bool needs_weights() const { return loader_ == nullptr || loader_->needs_weights(); }
  // `request`: {"task": string, "dtype"?: "auto" | "f32" | "f16" | "q8"}; "auto": q8 for a q8 checkpoint, else the usual.
  Status Open(std::string_view request);
  // With a file "adapter_config.json": the adapter's weights, before the checkpoint's, which they are merged into.
  Status FeedAdapter(std::span<const uint8_t> chunk);
  Status FinishAdapter();
  // The index (model.safetensors.index.json or pytorch_model.bin.index.json): a JSON array of the files to feed, in this
  // order (Checkpoint::SetShardIndex).
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
  // After FinishWeights: the calls of the model's tokenizer, with the model's limit of length.
  Result<TokenizerSession> Tokenize() const;
  // Instead of Start: an inspection.
  Status StartInspection(std::string_view request);
  // The program that computes the head's outputs; null before Open.
  const Program* program() const;
  Result<bool> Step();
  // The halves of Step (Task::BeginStep).
  Result<bool> BeginStep();
  Result<bool> EndStep();
  // What has come since the last call (Run::Take), and the floats of its arrays, until the next step or request. The last
  // parts end the request.
  Result<std::string> Take();
  std::span<const float> array(size_t index) const { return run_ ? run_->array(index) : std::span<const float>(); }
  // Task::tokens_read() of all requests so far.
  int64_t tokens_read() const { return tokens_read_ + (run_ ? run_->task().tokens_read() : 0); }

 private:
  enum class Stage { kFiles, kProbing, kWeights, kReady, kFailed };

  Status Expect(Stage stage, std::string_view call) const;
  Status ExpectWeights(std::string_view call) const;
  Status Fail(Status status);
  Status CreateParts(std::string_view request);
  // Of the files that make up the tokenizer.
  Result<std::shared_ptr<const text::Tokenizer>> CreateTokenizer();
  Result<std::string> WithAdapterLabels(const std::string& config_json) const;
  // Creates the loader again, for an adapter with as many labels.
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
  // The run that is under way; kInvalidArgument when there is none.
  Result<Task*> Running(std::string_view call);

  std::shared_ptr<Backend> backend_;
  const Precision usual_;
  Stage stage_ = Stage::kFiles;
  std::map<std::string, std::string, std::less<>> files_;
  std::unique_ptr<SpeedProbe> probe_;
  // Until Open those of the session that this one is beside.
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::shared_ptr<const LoadedModel> model_;
  uint64_t config_hash_ = 0;
  uint64_t tokenizer_hash_ = 0;
  std::unique_ptr<ModelLoader> loader_;  // from Open to FinishWeights
  std::unique_ptr<Runner> runner_;       // from FinishWeights on
  std::string task_;
  std::string ranking_activation_;  // TaskContext's
  std::string ranking_prompt_;
  std::unique_ptr<SentenceEmbedder> sentence_;  // for feature-extraction, and to classify by a folder of modules
  // Of a model with an encoder for labels.
  std::unique_ptr<text::Tokenizer> labels_tokenizer_;
  LabelVectors label_vectors_;
  std::unique_ptr<Run> run_;              // the last request's
  int64_t tokens_read_ = 0;               // by earlier ones
  std::unique_ptr<LoraAdapter> adapter_;  // until it is whole
  // With an adapter, until it is whole: it may have another number of labels, and then the model is created again.
  std::string adapter_base_;  // config.json
  ModelOptions model_options_;
};

}  // namespace peruse
