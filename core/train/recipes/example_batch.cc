#include "core/train/recipes/example_batch.h"

namespace peruse::train {

void ExampleBatch::Fill(const Part& part) {
  rows_.Clear();
  texts_.clear();
  chosen_.clear();
  head_ = &part[0]->read_labels;
  for (const Example* example : part) {
    for (const int32_t place : example->chosen) chosen_.push_back(rows_.rows() + place);
    texts_.push_back({example->ids, example->types});
    rows_.Append(static_cast<int32_t>(example->ids.size()));
  }
}

}  // namespace peruse::train
