// A task is one request on its way: texts in, typed results out, which come batch by batch.
//
//   class Mine : public TextClassification { void Give(size_t input, std::vector<LabelScore> labels) override ... };
//   Mine task({tokenizer, model});
//   task.request.inputs = ...;
//   task.Start();
//   while (task.Step()) ...
//
// A task serves one request; the next request gets a task of its own. Requests and results are plain structs, which
// core/api reads and writes as JSON. Between two steps a host may do anything else, and may give up the task.
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

// What a task runs on. All of it outlives the task.
struct TaskContext {
  const text::Tokenizer& tokenizer;
  Runner& model;
  // A cross-encoder's activation, which overrides config.json's, and prompt, from config_sentence_transformers.json.
  std::string_view ranking_activation = {};
  std::string_view ranking_prompt = {};
  const class SentenceEmbedder* sentence = nullptr;  // what the folder says of turning a text into one vector
  // Of a model that reads labels apart from texts: their tokenizer, and what was made of them so far.
  const text::Tokenizer* labels_tokenizer = nullptr;
  class LabelVectors* label_vectors = nullptr;
};

// One text, or two that belong together.
struct TextInput {
  std::string text;
  std::optional<std::string> pair;
};

class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // What each head is multiplied by, 0 to mute it (RunOptions::head_mask); before Start. kInvalidArgument for a model without so many.
  Status SetHeadMask(const std::vector<std::vector<float>>& layers);

  // Checks and tokenises the request. Once, before the first step.
  virtual Status Start() = 0;
  // Runs one batch. True while batches remain.
  Result<bool> Step();
  // The same in halves, for a backend that only records (Backend::deferred): between them a host replays the run.
  // BeginStep is false when there is no batch left to run, and then there is nothing to end.
  Result<bool> BeginStep();
  Result<bool> EndStep();

  // After Start: whether nothing is left to run.
  bool done() const { return done_ == queue_.size(); }

  // Tokens that the model has read, special tokens and texts read again in another window or pair included.
  int64_t tokens_read() const { return tokens_read_; }

 protected:
  explicit Task(const TaskContext& context)
      : tokenizer_(context.tokenizer), model_(context.model), outputs_(context.model) {}

  // The outputs that the model is to give (outputs.h).
  virtual std::vector<OutputId> Wanted() const { return {kLogits}; }
  // What the model made of a reading: `outputs_.Get(id, text)`. Readings come in the order in which they were enqueued.
  virtual Status Collect(const Reading& reading, size_t text) = 0;

  Result<std::vector<text::Encoding>> Encode(const TextInput& input, const text::EncodeOptions& options) const;
  // The first window of input `number`, checked.
  Result<text::Encoding> Checked(Result<std::vector<text::Encoding>> windows, size_t number,
                                 std::string_view advice) const;
  // kEmptyText when the texts are blank.
  static Status CheckText(const text::Encoding& tokens, size_t number);
  // The same, and kTextTooLong when there are more than the model takes; `advice` says
  // what to do about that.
  Status CheckTokens(const text::Encoding& tokens, size_t number, std::string_view advice) const;

  void Enqueue(size_t input, text::Encoding tokens, std::vector<int32_t> rows = {});
  void Enqueue(Reading reading) { queue_.push_back(std::move(reading)); }
  // All for one input.
  void EnqueueAll(size_t input, std::vector<text::Encoding> windows);

  // Tokens of the longest text that tokenizer and model both take; ModelConfig::kUnlimited when neither sets a limit.
  int32_t MaxTokens() const;
  // `max_length`, or `usual` where it is unset. kInvalidArgument when the model does not take so many.
  Result<int32_t> Length(std::optional<int32_t> max_length, int32_t usual) const;
  // What a text is read in where a limit is wanted and the model has none of its own: as many tokens as its configuration
  // has positions, which is what the reference cuts to, 512 for most.
  int32_t UsualTokens() const { return std::min(MaxTokens(), model_.config().max_position_embeddings); }
  // Options that cut to `max_length` tokens; nothing is cut when that is kUnlimited.
  static text::EncodeOptions CutTo(int32_t max_length, text::Truncation truncation);

  const text::Tokenizer& tokenizer_;
  Runner& model_;
  ModelOutputs outputs_;

 private:
  // A bound on the memory that Collect takes for a batch of `count` readings.
  size_t CollectBytesBound(size_t count) const;

  std::vector<Reading> queue_;
  std::vector<OutputId> wanted_;
  std::vector<float> head_mask_;
  size_t done_ = 0;   // readings
  size_t begun_ = 0;  // of the batch between BeginStep and EndStep
  int64_t tokens_read_ = 0;
};

// A task with its types: what is asked, and what each input gets.
template <typename RequestType, typename ResultType>
class TaskOf : public Task {
 public:
  using Request = RequestType;
  using Output = ResultType;
  explicit TaskOf(const TaskContext& context) : Task(context) {}

  Request request;  // stays as it is from Start on

 protected:
  // Takes the result of an input, or a part of it: where an input gets several parts, they are lists, to be joined in the
  // order they come.
  virtual void Give(size_t input, Output result) = 0;
};

}  // namespace peruse
