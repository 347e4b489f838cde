#pragma once

#include <cstdint>
#include <vector>

#include "core/program/indices.h"
#include "core/tensor/ragged_batch.h"
#include "core/train/recipes/objective.h"

namespace peruse::train {

// A batch of examples as a program reads it. Views the examples of the last Fill.
class ExampleBatch {
 public:
  void Fill(const Part& part);
  const RaggedBatch& rows() const { return rows_; }
  BatchInputs inputs() const { return {texts_, rows_, chosen_, head_->inputs()}; }

 private:
  RaggedBatch rows_;
  std::vector<ModelInput> texts_;
  std::vector<int32_t> chosen_;
  const HeadLists* head_ = nullptr;  // an example with lists is always the only one in its batch
};

}  // namespace peruse::train
