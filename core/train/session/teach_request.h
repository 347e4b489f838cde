#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_writer.h"
#include "core/base/status.h"
#include "core/families/config.h"
#include "core/heads/heads.h"
#include "core/train/recipes/objective.h"
#include "core/train/recipes/teach_options.h"

namespace peruse::train {

struct TeachRequest {
  std::string task;
  Head head = Head::kNone;
  bool needs_labels = false;  // whether the task is for models that read labels with the text
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

// Writes nothing for NaN, which means that a metric does not exist.
void WriteNumber(JsonWriter& writer, const char* name, double value);
void WriteCount(JsonWriter& writer, const char* name, int64_t value);
void Write(JsonWriter& writer, const Metrics& metrics);

}  // namespace peruse::train
