// A task processes one request, batch by batch: takes texts, returns typed results. Requests and results are plain structs; core/api
// converts them from and to JSON. Between two steps the host may do anything else, and may abandon the task.
//
//   class Mine : public TextClassification { void Give(size_t input, std::vector<LabelScore> labels) override ... };
//   Mine task({tokenizer, model});
//   task.request.inputs = ...;
//   task.Start();
//   while (task.Step()) ...
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
#include "core/tasks/text_span.h"
#include "core/text/tokenizer.h"

namespace peruse {

// All members must outlive the task.
struct TaskContext {
  const text::Tokenizer& tokenizer;
  Runner& model;
  const struct RankingSettings* ranking = nullptr;   // a cross-encoder's settings of sentence-transformers; may be null
  const class SentenceEmbedder* sentence = nullptr;  // embeds texts with the folder's modules; may be null
  // Only for a model that encodes labels separately: the labels' tokenizer, and cached vectors of labels.
  const text::Tokenizer* labels_tokenizer = nullptr;
  class LabelVectors* label_vectors = nullptr;
};

struct TextInput {
  std::string text;
  std::optional<std::string> pair;
};

class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Sets factors of attention heads, 0 to disable a head (RunOptions::head_mask). Must precede Start. Errors: kInvalidArgument if the model
  // has a different number of layers or heads.
  Status SetHeadMask(const std::vector<std::vector<float>>& layers);

  // Checks and tokenizes the request. Must be called once, before the first step.
  virtual Status Start() = 0;
  // Runs one batch. Returns true while batches remain.
  Result<bool> Step();
  // The halves of Step, for a backend that only records (Backend::deferred): the host replays the run between them. BeginStep returns false
  // if no batch is left; EndStep must not follow then.
  Result<bool> BeginStep();
  Result<bool> EndStep();

  bool done() const { return done_ == queue_.size(); }

  // Returns the number of tokens that the model has processed, including special tokens, and repetitions in windows and pairs.
  int64_t tokens_read() const { return tokens_read_; }

 protected:
  explicit Task(const TaskContext& context)
      : tokenizer_(context.tokenizer), model_(context.model), outputs_(context.model) {}

  virtual std::vector<OutputId> Wanted() const { return {kLogits}; }
  // The outputs of a batch that begins with `reading`.
  virtual std::vector<OutputId> WantedBy(const Reading& reading) const {
    return reading.label < 0 ? Wanted() : std::vector{kLabelVectors};
  }
  // Processes a reading's outputs, `outputs_.Get(id, text)`. Called in the order of Enqueue.
  virtual Status Collect(const Reading& reading, size_t text) = 0;

  Result<std::vector<text::Encoding>> Encode(const TextInput& input, const text::EncodeOptions& options) const;
  // Checks the windows of input number `number`, and returns the first window.
  Result<text::Encoding> Checked(Result<std::vector<text::Encoding>> windows, size_t number,
                                 std::string_view advice) const;
  // Returns the error of an input without tokens, kEmptyText.
  static Status NoText(size_t number);
  // Like transformers, tasks read an empty text by its special tokens. Errors: kEmptyText if there is no token at all; kTextTooLong, with
  // `advice` in the message, if there are more than the model reads.
  Status CheckTokens(const text::Encoding& tokens, size_t number, std::string_view advice) const;
  // Errors: kTextTooLong.
  Status CheckLength(const text::Encoding& tokens, size_t number, std::string_view advice) const;

  void Enqueue(size_t input, text::Encoding tokens, std::vector<int32_t> rows = {});
  void Enqueue(Reading reading) { queue_.push_back(std::move(reading)); }
  void EnqueueAll(size_t input, std::vector<text::Encoding> windows);
  // Collect may call this for a reading that runs alone: `reading` takes its place and runs next.
  void Continue(Reading reading) { next_ = std::move(reading); }

  // Maximum number of tokens for both tokenizer and model, or ModelConfig::kUnlimited.
  int32_t MaxTokens() const;
  // Returns `max_length`, or `usual` if it is nullopt. Errors: kInvalidArgument above the model's limit.
  Result<int32_t> Length(std::optional<int32_t> max_length, int32_t usual) const;
  // Returns MaxTokens(), but at most max_position_embeddings of config.json, to which transformers truncates; usually 512.
  int32_t UsualTokens() const { return std::min(MaxTokens(), model_.config().max_position_embeddings); }
  // Returns options that truncate to `max_length` tokens, or do not truncate if it is kUnlimited.
  static text::EncodeOptions CutTo(int32_t max_length, text::Truncation truncation);

  const text::Tokenizer& tokenizer_;
  Runner& model_;
  ModelOutputs outputs_;

 private:
  // Returns an upper bound of the bytes that Collect needs for `count` readings.
  size_t CollectBytesBound(size_t count) const;

  std::vector<Reading> queue_;
  std::optional<Reading> next_;  // continues the reading that is being collected
  std::vector<OutputId> wanted_;
  std::vector<float> head_mask_;
  size_t done_ = 0;   // number of readings that have run
  size_t begun_ = 0;  // number of readings in the batch between BeginStep and EndStep
  int64_t tokens_read_ = 0;
};

template <typename RequestType, typename ResultType, typename Base = Task>
class TaskOf : public Base {
 public:
  using Request = RequestType;
  using Output = ResultType;
  explicit TaskOf(const TaskContext& context) : Base(context) {}

  Request request;  // must not change after Start

 protected:
  // Receives the result of an input, or a part of it. Parts are lists; the receiver concatenates them in order.
  virtual void Give(size_t input, Output result) = 0;
};

}  // namespace peruse
