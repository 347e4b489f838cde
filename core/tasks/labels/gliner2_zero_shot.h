// The zero-shot tasks with a GLiNER2 model, whose schema has one part.
#pragma once

#include <vector>

#include "core/tasks/labels/gliner2_task.h"
#include "core/tasks/zero_shot_classification.h"
#include "core/tasks/zero_shot_token_classification.h"

namespace peruse {

// Entities of any label. Overlaps are resolved as for a GLiNER, across labels.
class SchemaEntities : public TaskOf<ZeroShotEntityRequest, std::vector<LabelledSpan>, SchemaTask> {
 public:
  static constexpr Head kHead = Head::kEntities;
  explicit SchemaEntities(const TaskContext& context) : TaskOf(context) {}
  Status Start() override;

 protected:
  Status Found(size_t input, std::vector<FoundPart> parts) override;
};

// Scores of labels. The schema calls the task "classification".
class SchemaLabels : public TaskOf<ZeroShotRequest, ZeroShotScores, SchemaTask> {
 public:
  static constexpr Head kHead = Head::kSequenceClassification;
  explicit SchemaLabels(const TaskContext& context) : TaskOf(context) {}
  Status Start() override;

 protected:
  Status Found(size_t input, std::vector<FoundPart> parts) override;
};

}  // namespace peruse
