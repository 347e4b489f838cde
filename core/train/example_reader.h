// Converts requests and examples from JSON to a teacher's types (formats: teach_session.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/heads/heads.h"
#include "core/text/tokenizer.h"
#include "core/train/teacher.h"

namespace peruse::train {

struct TeachRequest {
  std::string task;
  Head head = Head::kNone;
  ProblemType problem = ProblemType::kSingleLabel;
  // the model's labels ("O", "B-PER", "I-PER", ... for tokens), or empty for those of config.json
  std::vector<std::string> labels;
  TeachOptions options;
  bool chooses_method = false;  // the request does not name a method
  float validation_split = 0;
  int32_t max_length = 0;  // 0 means the model's limit

  bool pretrains() const { return head == Head::kMaskedLm || head == Head::kReplacedTokenDetection; }
  // Returns the options of a method for a model of this hidden size and this number of examples. Fills in a learning rate of -1 and a
  // number of epochs of 0.
  TeachOptions OptionsFor(Method method, int32_t width, int64_t examples) const;
};

Result<TeachRequest> ReadTeachRequest(std::string_view json);

class ExampleReader {
 public:
  // `labels` are the model's. `prompt` is null unless the model reads labels next to the text. The tokenizer and the prompt outlive this.
  ExampleReader(const text::Tokenizer& tokenizer, const TeachRequest& request, std::vector<std::string> labels,
                const LabelPrompt* prompt, int32_t max_tokens);

  // Reads one example, which becomes one per window in question answering and pre-training. Errors: kInvalidArgument, kEmptyText.
  Status Read(JsonValue example, std::vector<Example>* examples);
  // The goal of the examples so far.
  Goal goal() const { return goal_; }
  // Number of texts that max_length cut, and of entities without tokens (after the cut, or only white space).
  int64_t cut() const { return cut_; }
  int64_t lost_entities() const { return lost_entities_; }
  int32_t max_length() const { return max_length_; }

 private:
  Result<text::Encoding> Encode(std::string_view text, const JsonValue& pair);
  Result<int32_t> LabelOf(std::string_view name) const;
  Status ReadLabel(JsonValue example, Example* read);
  Status ReadProbabilities(JsonValue probabilities, Example* read);
  Status ReadText(JsonValue example, std::vector<Example>* examples);
  Result<Example> ReadWithLabels(std::string_view text);
  Status ReadLine(JsonValue example, std::vector<Example>* examples);
  Status ReadEntities(JsonValue example, std::vector<Example>* examples);
  Status ReadAnswer(JsonValue example, std::vector<Example>* examples);

  const text::Tokenizer& tokenizer_;
  const std::vector<std::string> labels_;
  const LabelPrompt* const prompt_;
  const std::unordered_map<std::string_view, int32_t> label_numbers_;
  const int32_t max_length_;
  Goal goal_;
  bool hard_labels_ = false;
  int64_t cut_ = 0, lost_entities_ = 0;
};

}  // namespace peruse::train
