#pragma once

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/tasks/labels/gliner2_schema.h"

namespace peruse {

// Reads the schema of an extraction in the form of gliner2's Schema.from_dict:
//   {"entities": ["person"] or {"person": "description"} or {"person": {"description", "dtype", "threshold"}},
//    "structures": {"order": {"fields": [{"name", "dtype", "choices", "description", "threshold"}]}},
//    "relations": ["works_for"] or {"works_for": "description"} or {"works_for": {"description", "threshold"}},
//    "classifications": [{"task", "labels", "multi_label", "cls_threshold", "top_k", "class_act", "prompt", "examples"}]}
// Errors: kInvalidArgument for wrong types and unknown members, kUnsupported for members of other models.
Result<Schema> ReadSchema(JsonValue json);

}  // namespace peruse
