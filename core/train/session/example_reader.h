// Converts JSON examples (teach_session.h describes them) to a teacher's types. Each form of example has a class of its own in
// example_reader.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/families/label_input.h"
#include "core/text/tokenizer.h"
#include "core/train/recipes/objective.h"
#include "core/train/session/teach_request.h"

namespace peruse::train {

// Appends the numbers of a JSON list. `what` names the list in errors.
Status ReadFloats(JsonValue list, const char* what, std::vector<float>* values);

class ExampleReader {
 public:
  // `labels` are the model's. `format` is null unless the model reads labels. Tokenizer and format must outlive the reader.
  static std::unique_ptr<ExampleReader> Create(const text::Tokenizer& tokenizer, const TeachRequest& request,
                                               std::vector<std::string> labels, const LabelledInput* format,
                                               int32_t max_tokens);
  virtual ~ExampleReader() = default;

  // Reads one example. Question answering and pre-training append one example per window. Errors: kInvalidArgument, kEmptyText.
  Status Read(JsonValue example, std::vector<Example>* examples);
  Goal goal() const { return goal_; }
  // Returns the number of texts that max_length truncated; lost_entities() returns the number of entities without tokens (truncated, or
  // only white space).
  int64_t cut() const { return cut_; }
  int64_t lost_entities() const { return lost_entities_; }
  int32_t max_length() const { return max_length_; }

 protected:
  struct Context {
    const text::Tokenizer& tokenizer;
    std::vector<std::string> labels;
    const LabelledInput* format;
    int32_t max_length;
  };

  ExampleReader(Goal goal, Context context);

  virtual Status ReadObject(JsonValue example, std::vector<Example>* examples) = 0;
  Result<text::Encoding> Encode(std::string_view text, const JsonValue& pair);
  Result<int32_t> LabelOf(std::string_view name) const;

  const text::Tokenizer& tokenizer_;
  const std::vector<std::string> labels_;
  const LabelledInput* const format_;
  const std::unordered_map<std::string_view, int32_t> label_numbers_;
  const int32_t max_length_;
  Goal goal_;
  int64_t cut_ = 0, lost_entities_ = 0;
};

}  // namespace peruse::train
