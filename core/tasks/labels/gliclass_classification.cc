#include "core/tasks/labels/gliclass_classification.h"

#include <utility>

#include "core/tasks/scores.h"

namespace peruse {

Status LabelClassification::Start() {
  if (request.candidate_labels.empty()) {
    return InvalidArgument("option candidate_labels must name at least one label");
  }
  PERUSE_ASSIGN_OR_RETURN(std::vector<Reading> readings, reader_.Start(request.candidate_labels));
  for (Reading& reading : readings) Enqueue(std::move(reading));
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(Reading reading, reader_.Read(i, request.inputs[i], true));
    Enqueue(std::move(reading));
  }
  return OkStatus();
}

Status LabelClassification::Collect(const Reading& reading, size_t text) {
  if (reading.label >= 0) {
    reader_.Collect(reading, outputs_.Get(kLabelVectors, text).values);
    return OkStatus();
  }
  const std::span<const float> logits = outputs_.Get(kLogits, text).values;
  std::vector<float> scores(logits.begin(), logits.end());
  if (request.multi_label) {
    Sigmoid(scores);
  } else {
    Softmax(scores);
  }
  Give(reading.input, BestLabels(request.candidate_labels, std::move(scores)));
  return OkStatus();
}

}  // namespace peruse
