// Converts JSON requests and examples (teach_session.h describes them) to a teacher's types.
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
  // The model's labels ("O", "B-PER", "I-PER", ... for tokens); empty means those of config.json.
  std::vector<std::string> labels;
  TeachOptions options;
  bool chooses_method = false;  // whether the request leaves the choice of the method to Trials
  float validation_split = 0;
  int32_t max_length = 0;  // 0 means the model's limit
  bool explains = false;   // whether the model will only be explained (TeachSession::Explain)

  bool pretrains() const { return head == Head::kMaskedLm || head == Head::kReplacedTokenDetection; }
  // Returns the options for a method, a hidden size and a number of examples. Sets a learning rate of -1 and 0 epochs to defaults.
  TeachOptions OptionsFor(Method method, int32_t width, int64_t examples) const;
};

Result<TeachRequest> ReadTeachRequest(std::string_view json);

class ExampleReader {
 public:
  // `labels` are the model's. `format` is null unless the model reads labels. Tokenizer and format must outlive the reader.
  ExampleReader(const text::Tokenizer& tokenizer, const TeachRequest& request, std::vector<std::string> labels,
                const LabelledInput* format, int32_t max_tokens);

  // Reads one example. Question answering and pre-training append one example per window. Errors: kInvalidArgument, kEmptyText.
  Status Read(JsonValue example, std::vector<Example>* examples);
  Goal goal() const { return goal_; }
  // Returns the number of texts that max_length truncated; lost_entities() returns the number of entities without tokens (truncated, or
  // only white space).
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
  const LabelledInput* const format_;
  const std::unordered_map<std::string_view, int32_t> label_numbers_;
  const int32_t max_length_;
  Goal goal_;
  bool hard_labels_ = false;
  int64_t cut_ = 0, lost_entities_ = 0;
};

}  // namespace peruse::train
