// Training for hosts: takes files and JSON, returns progress and a trained checkpoint. bindings/teach_binding.cc exports it to JavaScript
// as the class Teacher. Every text is JSON.
//
//   AddFile("config.json", ...), AddFile("tokenizer.json", ...)   small files, whole, as for Session
//   Open(request)
//   FeedWeights(chunk)...  FinishWeights()                        model.safetensors or pytorch_model.bin; of several files
//                                                                SetShardIndex first, and EndShard after each
//   AddExamples(examples)                                         any number of times
//   Begin()                                                       the plan
//   Step()                                                        until "more" is false; to stop, do not call it again
//   Report();  Files(), ReadFile(...)                             any time after Begin
// or, to explain the model that was loaded instead of training it:
//   Explain(request)                                              any number of times after FinishWeights
//
// Open's request. Only task is required; the values below are the defaults.
//   { "task": "text-classification" | "zero-shot-classification" | "token-classification" | "question-answering" | "masked-lm" |
//             "replaced-token-detection",       // zero-shot-classification: a GLiClass, which reads the labels with the text
//     "labels": ["negative", "positive"],       // text: every label; tokens: the kinds of entities, without B- and I-
//     "problem_type": "single_label_classification" | "multi_label_classification" | "regression",   // of texts
//     "method": "full" | "head" | "contrast" | "lora" | "layers",  "layers": 2,     // chosen by trials.h if absent
//     "lora_rank": 8, "lora_alpha": 16, "lora_targets": ["query", "value", ...],   // ends of the names of linears
//     "freeze_words": false, "epochs": <at least 3, for 150 updates>,
//     "learning_rate": <by method and hidden size, teach_request.cc>,
//     "batch_size": 16 (contrast: 32), "batch_tokens": 2048, "weight_decay": 0.01, "warmup": 0.1, "clip": 1, "layer_decay": 1,
//     "dropout": 0.1, "attention_dropout": 0.1, "label_smoothing": 0, "class_weights": [1, 1], "sift": 0,
//     "validation_split": 0, "patience": 0, "max_length": <what the model takes, at most 512>, "seed": 42,
//     "threads": 1,                             // results do not depend on it
//     "explains": false,                        // whether Explain follows, instead of examples
//     "mask_share": 0.15,                       // pre-training: share of tokens to mask
//     "detection_weight": <50, of DeBERTa 10> } // replaced-token-detection: weight of the discriminator's loss relative to the generator's
//
// The two pre-training tasks learn from plain text. Replaced-token detection also trains a generator: with the file "generator/config.json"
// its checkpoint is fed and finished after the model's; without it the generator is new.
//
// AddExamples. Positions in texts are UTF-16 code units, as in the results of pipelines.
//   { "set": "training" | "validation", "examples": [
//       { "text": string, "pair"?: string, "label": "positive" }                                   // one label
//       { "text": string, "pair"?: string, "label": ["a", "b"] }                                   // multi-label; may be []
//       { "text": string, "pair"?: string, "label": 0.5 }                                          // regression: a number, or a list
//       { "text": string, "pair"?: string, "probabilities": [0.1, 0.9] }                           // soft labels, in the labels' order
//       { "text": string, "entities": [{ "start": 0, "end": 5, "label": "PER" }] }                 // token-classification
//       { "text": string }                                                                         // pre-training; a line
//       { "question": string, "context": string, "answer": { "start": 10, "end": 14 } } ] }        // question-answering; null without an
//       answer
// Errors name a bad example by its number, counted over all calls: "example 3: ...".
//
// Explain: one of
//   { "text": string, "pair"?: string, "label"?: string, "steps": 50 }            // the label's logit; optional for a single label
//   { "text": string, "pair": string, "entailment": true, "steps": 50 }           // the logit of entailment
//   { "question": string, "context": string, "answer": { "start": 10, "end": 14 }, "steps": 50 }   // the sum of both ends' logits
//
// Results:
//   SetShardIndex  [string, ...]: the files, in the order in which to feed them
//   FinishWeights  { "tensors": n, "parameters": n, "fresh": ["classifier.weight", ...] }    fresh: starts at random
//   Begin          { "steps": n, "epochs": n, "examples": n, "validation_examples": n, "trained_parameters": n, "memory_bytes": n }
//   Step           { "more": bool, "phase": "features" | "training" | "validation", "step": n, "steps": n, "epoch": n,
//                    "loss": x | null, "learning_rate": x, "generator_loss"?: x, "validation"?: Metrics }
//   Report         { "method": string, "learning_rate": x, "steps": n, "tokens": n, "trained_parameters": n, "memory_bytes": n,
//                    "best_epoch": n | null, "l2"?: x, "temperature"?: x, "losses": [x, ...], "labels": [string, ...], "notices": [string, ...],
//                    "epochs": [{ "loss": x, "generator_loss"?: x, "validation"?: Metrics }], "compared"?: [Score, ...],
//                    "accuracy"?: Score with { "labels": [{ "label": string, "examples": n, "right": n }],
//                                              "wrong": [{ "example": n, "label": string, "predicted": string, "score": x }] } }
//   Score          { "method": string, "accuracy": x, "folds": n }: by cross-validation
//   Metrics        { "loss": x, "examples": n, "accuracy"?: x, "f1"?: x, "mean_squared_error"?: x, "confusion"?: [[n, ...], ...] }
//                  confusion: rows are the true labels, columns the predicted ones
//   Files          [{ "name": "config.json", "bytes": n }, ...]: config.json and model.safetensors; with LoRA config.json (its labels),
//                  adapter_config.json and adapter_model.safetensors, for the unchanged checkpoint. The caller has the tokenizer's
//                  files. For replaced-token detection also generator/config.json and generator/model.safetensors.
//   Explain        { "value": x, "baseline_value": x, "tokens": [{ "start": n, "end": n, "sequence": 0 | 1 | null, "score": x }] }
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/file_stages.h"
#include "core/base/json.h"
#include "core/base/json_writer.h"
#include "core/base/status.h"
#include "core/tasks/sentence_modules.h"
#include "core/text/encoding.h"
#include "core/text/tokenizer.h"
#include "core/train/recipes/trials.h"
#include "core/train/session/attribution.h"
#include "core/train/session/example_reader.h"
#include "core/train/session/exporter.h"

namespace peruse::train {

inline constexpr std::string_view kGeneratorFolder = "generator/";

enum class TeachStage { kFiles, kWeights, kExamples, kTeaching, kExplaining, kFailed };

class TeachSession : public FileStages<TeachStage> {
 public:
  TeachSession() : FileStages("a teacher that failed before") {}

  Status Open(std::string_view request);
  Result<std::string> SetShardIndex(std::string_view index_json);
  Status EndShard();
  Status FeedWeights(std::span<const uint8_t> chunk);
  Result<std::string> FinishWeights();
  // Returns the number of examples in the set.
  Result<std::string> AddExamples(std::string_view json);
  Result<std::string> Begin();
  Result<std::string> Explain(std::string_view json);
  Result<std::string> Step();
  Result<std::string> Report() const;
  Result<std::string> Files();
  // Returns the bytes [first, first + count) of one of Files(), valid until the next call.
  Result<std::span<const uint8_t>> ReadFile(std::string_view name, uint64_t first, uint64_t count);

 private:
  using Stage = TeachStage;

  Status OpenParts(std::string_view request);
  Status CheckTask() const;
  Status OpenPretraining();
  Status ReadSentence(std::string* classifier);
  Status PrepareExplanations();
  Result<text::Encoding> EncodeExplained(JsonValue request) const;
  Result<std::vector<AttributionRequest::Logit>> ExplainedLogits(JsonValue request, const text::Encoding& tokens) const;
  void SplitValidation();
  void NoteExamples();
  void WriteScores(JsonWriter& writer) const;
  std::vector<std::string> Notices() const;
  Trainee& Fed() { return trainee_is_fed_ ? *generator_ : *trainee_; }

  std::string config_json_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  TeachRequest request_;
  std::optional<SentenceModules> sentence_;  // modules of a sentence_transformers folder, except its classifier
  std::unique_ptr<Trainee> trainee_;
  std::string generator_json_;
  std::unique_ptr<Trainee> generator_;
  bool generator_comes_ = false;  // whether a checkpoint of the generator follows that of the model
  bool trainee_is_fed_ = false;
  std::unique_ptr<Exporter> generator_exporter_;
  std::unique_ptr<ExampleReader> reader_;
  std::unique_ptr<Attributor> attributor_;
  int64_t max_tokens_ = 0;
  std::vector<Example> training_, validation_;
  std::unique_ptr<Trials> trials_;
  bool cross_validates_ = false;
  std::unique_ptr<Exporter> exporter_;
  int64_t training_read_ = 0, validation_read_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace peruse::train
