// A task processes one request: texts in, typed results out, batch by batch.
//
//   class Mine : public TextClassification { void Give(size_t input, std::vector<LabelScore> labels) override ... };
//   Mine task({tokenizer, model});
//   task.request.inputs = ...;
//   task.Start();
//   while (task.Step()) ...
//
// Each request needs a new task. Requests and results are plain structs, which core/api converts from and to JSON. Between two steps the
// host may do anything else, and may abandon the task.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/model/runner.h"
#include "core/tasks/outputs.h"
#include "core/text/text_span.h"
#include "core/text/tokenizer.h"

namespace peruse {

// The environment of a task, which outlives it.
struct TaskContext {
  const text::Tokenizer& tokenizer;
  Runner& model;
  // a cross-encoder's activation and prompt, from config_sentence_transformers.json; the activation overrides config.json's
  std::string_view ranking_activation = {};
  std::string_view ranking_prompt = {};
  const class SentenceEmbedder* sentence = nullptr;  // text embedding by the folder's modules, if any
  // For a model that encodes labels separately: their tokenizer, and the cached vectors.
  const text::Tokenizer* labels_tokenizer = nullptr;
  class LabelVectors* label_vectors = nullptr;
};

// One text, or a pair of texts.
struct TextInput {
  std::string text;
  std::optional<std::string> pair;
};

class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Factors of the heads, 0 to disable one (RunOptions::head_mask). Call before Start. Errors: kInvalidArgument if the model has other
  // numbers of layers or heads.
  Status SetHeadMask(const std::vector<std::vector<float>>& layers);

  // Checks and tokenizes the request. Call once, before the first step.
  virtual Status Start() = 0;
  // Runs one batch. Returns true while batches remain.
  Result<bool> Step();
  // Step in halves, for a backend that only records (Backend::deferred): the host replays the run in between. BeginStep returns false when
  // no batch remains; then EndStep must not be called.
  Result<bool> BeginStep();
  Result<bool> EndStep();

  // After Start: whether all batches have run.
  bool done() const { return done_ == queue_.size(); }

  // Number of tokens that the model has read, including special tokens and repetitions in windows or pairs.
  int64_t tokens_read() const { return tokens_read_; }

 protected:
  explicit Task(const TaskContext& context)
      : tokenizer_(context.tokenizer), model_(context.model), outputs_(context.model) {}

  // The requested outputs (outputs.h).
  virtual std::vector<OutputId> Wanted() const { return {kLogits}; }
  // Processes a reading's outputs, `outputs_.Get(id, text)`. Readings arrive in the order of Enqueue.
  virtual Status Collect(const Reading& reading, size_t text) = 0;

  Result<std::vector<text::Encoding>> Encode(const TextInput& input, const text::EncodeOptions& options) const;
  // Returns the checked first window of input `number`.
  Result<text::Encoding> Checked(Result<std::vector<text::Encoding>> windows, size_t number,
                                 std::string_view advice) const;
  // Errors: kEmptyText if the texts are blank.
  static Status CheckText(const text::Encoding& tokens, size_t number);
  // Like CheckText; also kTextTooLong above the model's limit, with `advice` in the message.
  Status CheckTokens(const text::Encoding& tokens, size_t number, std::string_view advice) const;

  void Enqueue(size_t input, text::Encoding tokens, std::vector<int32_t> rows = {});
  void Enqueue(Reading reading) { queue_.push_back(std::move(reading)); }
  // Enqueues all windows of one input.
  void EnqueueAll(size_t input, std::vector<text::Encoding> windows);

  // Maximum length in tokens for tokenizer and model, or ModelConfig::kUnlimited.
  int32_t MaxTokens() const;
  // Returns `max_length`, or `usual` if unset. Errors: kInvalidArgument above the model's limit.
  Result<int32_t> Length(std::optional<int32_t> max_length, int32_t usual) const;
  // Limit for a model without one: the number of positions in its configuration, to which transformers cuts; usually 512.
  int32_t UsualTokens() const { return std::min(MaxTokens(), model_.config().max_position_embeddings); }
  // Options that cut to `max_length` tokens, or do not cut if it is kUnlimited.
  static text::EncodeOptions CutTo(int32_t max_length, text::Truncation truncation);

  const text::Tokenizer& tokenizer_;
  Runner& model_;
  ModelOutputs outputs_;

 private:
  // Upper bound of the memory that Collect needs for `count` readings.
  size_t CollectBytesBound(size_t count) const;

  std::vector<Reading> queue_;
  std::vector<OutputId> wanted_;
  std::vector<float> head_mask_;
  size_t done_ = 0;   // readings
  size_t begun_ = 0;  // readings of the batch between BeginStep and EndStep
  int64_t tokens_read_ = 0;
};

// A task with its request and result types.
template <typename RequestType, typename ResultType>
class TaskOf : public Task {
 public:
  using Request = RequestType;
  using Output = ResultType;
  explicit TaskOf(const TaskContext& context) : Task(context) {}

  Request request;  // constant after Start

 protected:
  // Receives the result of an input, or a part of it: parts are lists, to be concatenated in order.
  virtual void Give(size_t input, Output result) = 0;
};

}  // namespace peruse
