#include "core/tasks/outputs.h"

namespace peruse {

Status ModelOutputs::Begin(std::span<const Reading> batch, std::span<const OutputId> ids,
                           std::span<const float> head_mask) {
  inputs_.clear();
  chosen_.clear();
  first_chosen_.clear();
  int32_t rows = 0;
  for (const Reading& reading : batch) {
    inputs_.push_back({reading.tokens.ids, reading.tokens.type_ids});
    first_chosen_.push_back(chosen_.size());
    for (const int32_t position : reading.rows) chosen_.push_back(rows + position);
    rows += static_cast<int32_t>(reading.tokens.size());
  }
  first_chosen_.push_back(chosen_.size());
  return model_.Begin(inputs_, {.outputs = ids,
                                .logit_rows = chosen_,
                                // a reading with head inputs is always the only one in its batch
                                .head_inputs = batch[0].head.inputs(),
                                .head_mask = head_mask,
                                .keys = batch[0].keys});
}

Matrix ModelOutputs::Get(OutputId id, size_t text) const {
  const ModelOutput all = model_.output(id);
  size_t first = text;
  size_t count = 1;
  // these kinds of rows only exist for a batch of one text
  if (all.rows.domain > Domain::kChosen) return {all.values, static_cast<size_t>(all.cols)};
  if (all.rows.domain == Domain::kChosen && !chosen_.empty()) {
    first = first_chosen_[text];
    count = first_chosen_[text + 1] - first;
  } else if (all.rows.domain != Domain::kSequences) {
    first = static_cast<size_t>(model_.batch().start(static_cast<int32_t>(text)));
    count = static_cast<size_t>(model_.batch().length(static_cast<int32_t>(text)));
  }
  const auto cols = static_cast<size_t>(all.cols);
  const size_t row = cols * static_cast<size_t>(all.rows.factor);
  return {all.values.subspan(first * row, count * row), cols};
}

}  // namespace peruse
