// Zero-shot classification with a GLiClass model: all labels in one run (gliclass's ZeroShotClassificationPipeline). A label's score
// depends on the other labels and on their order.
#pragma once

#include <string>
#include <vector>

#include "core/tasks/labels/gliclass_reader.h"
#include "core/tasks/zero_shot_classification.h"

namespace peruse {

class LabelClassification : public TaskOf<ZeroShotRequest, ZeroShotScores> {
 public:
  static constexpr Head kHead = Head::kSequenceClassification;
  explicit LabelClassification(const TaskContext& context) : TaskOf(context), reader_(context) {}
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  LabelledTextReader reader_;
};

}  // namespace peruse
