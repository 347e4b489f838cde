// A task turns texts into answers: it reads a request, runs the model over ragged batches, and writes results.
//
// Requests and results are JSON, so that every host (Embind, a command line, a native test) speaks the same
// language and all semantics stand here. A run has three steps, so that a host can stop between batches:
//   Start(request), then Step() until it says false, then Finish().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/json_writer.h"
#include "core/base/status.h"
#include "core/models/model.h"
#include "core/tokenizer/tokenizer.h"

namespace peruse {

class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Reads {"inputs": [...], "options": {...}} and tokenises. Forgets whatever an earlier run left.
  Status Start(JsonValue request);
  // Runs one batch. True while batches remain.
  Result<bool> Step();
  // The same in halves, for a backend that only records (Backend::deferred): between them a host replays the run.
  // BeginStep is false when there is no batch left to run, and then there is nothing to end.
  Result<bool> BeginStep();
  Result<bool> EndStep();
  // The results, one per input, in order: a JSON array.
  Result<std::string> Finish();

  // Tokens that the model has read in all runs so far, special tokens and texts read again in another window or pair included.
  int64_t tokens_read() const { return tokens_read_; }

 protected:
  Task(const Tokenizer& tokenizer, Model& model) : tokenizer_(tokenizer), model_(model) {}

  // Forgets the last run, reads one request and calls Enqueue for every text that the model must read.
  virtual Status Read(JsonValue inputs, JsonValue options) = 0;
  // What a run is to keep beside its outputs; read anew for every batch.
  virtual RunOptions run_options() const { return {}; }
  // What the model made of the text that was enqueued as number `index`: logits, [labels] or [tokens, labels] by head;
  // without a head the last hidden state, [tokens, hidden_size].
  virtual Status Collect(size_t index, std::span<const float> outputs) = 0;
  virtual void Write(JsonWriter& writer) const = 0;
  // Without a head: which hidden state Collect is given, of Model::hidden_state_count.
  virtual int32_t HiddenState() const { return model_.config().num_hidden_layers; }
  // The tokens of a text that the head is to score, by position; empty: all. A task names some for every text or for none,
  // and Collect is given the logits of these. The positions live until Finish.
  virtual std::span<const int32_t> RowsOf(size_t index) const { return {}; }

  // kEmptyText when `encoding` holds special tokens alone, kTextTooLong when the model does not take so many tokens;
  // `input` is the number of the input and `advice` what to do about a long one, for the message.
  Status CheckText(const Encoding& encoding, size_t input, std::string_view advice) const;
  size_t Enqueue(Encoding encoding);
  const Encoding& encoding(size_t index) const { return queue_[index]; }

  // Tokens of the longest text that tokenizer and model both take; ModelConfig::kUnlimited when neither sets a limit.
  int32_t MaxTokens() const;

  const Tokenizer& tokenizer_;
  Model& model_;

 private:
  // What the last batch gave for its text `sequence`, whose chosen rows begin at `first_row` of the logits.
  std::span<const float> OutputsOf(int32_t sequence, size_t first_row) const;
  // A bound on the memory that Collect takes for one batch.
  size_t CollectBytesBound() const;

  std::vector<Encoding> queue_;
  size_t done_ = 0;
  int64_t tokens_read_ = 0;
  size_t begun_ = 0;                 // texts of the batch between BeginStep and EndStep
  std::vector<int32_t> logit_rows_;  // of that batch, RunOptions::logit_rows
};

// The head that a task reads; nothing for a name that is not a task.
Result<Head> HeadOfTask(std::string_view task);

// Both must outlive the task.
Result<std::unique_ptr<Task>> CreateTask(std::string_view task, const Tokenizer& tokenizer, Model& model);

}  // namespace peruse
