// From a request and examples as JSON to what a teacher takes (the formats: teach_session.h).
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
  std::vector<std::string> labels;  // of the model: for tokens "O", "B-PER", "I-PER", ...; empty: those of config.json
  TeachOptions options;
  bool chooses_method = false;  // the request names none
  float validation_split = 0;
  int32_t max_length = 0;  // 0: what the model takes

  bool pretrains() const { return head == Head::kMaskedLm || head == Head::kReplacedTokenDetection; }
  // The options of a method, with the learning rate and the epochs if the request did not say them (they are -1 and 0 until then), for a
  // model of this hidden size and so many examples.
  TeachOptions OptionsFor(Method method, int32_t width, int64_t examples) const;
};

Result<TeachRequest> ReadTeachRequest(std::string_view json);

class ExampleReader {
 public:
  // `labels`: of the model. `prompt`: of a model that reads labels next to the text, else null. The tokenizer and the prompt outlive this.
  ExampleReader(const text::Tokenizer& tokenizer, const TeachRequest& request, std::vector<std::string> labels,
                const LabelPrompt* prompt, int32_t max_tokens);

  // One example; of question answering and pre-training one for each window. Errors: kInvalidArgument, kEmptyText.
  Status Read(JsonValue example, std::vector<Example>* examples);
  // What the examples so far are for.
  Goal goal() const { return goal_; }
  // Texts that max_length cut, and entities of which no token is left (they are after the cut, or white space).
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
