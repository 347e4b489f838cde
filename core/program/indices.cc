#include "core/program/indices.h"

namespace peruse {

Sizes SizesOf(const BatchInputs& inputs) {
  Sizes sizes;
  sizes[Domain::kTokens] = inputs.batch.rows();
  sizes[Domain::kSequences] = inputs.batch.sequences();
  sizes[Domain::kLongest] = inputs.batch.longest();
  sizes[Domain::kChosen] = inputs.chosen.empty() ? inputs.batch.rows() : static_cast<int64_t>(inputs.chosen.size());
  sizes[Domain::kWords] = static_cast<int64_t>(inputs.head.words.size());
  sizes[Domain::kLabels] = static_cast<int64_t>(inputs.head.labels.size());
  sizes[Domain::kPairs] = static_cast<int64_t>(inputs.head.pair_first.size());
  return sizes;
}

void BatchIndices::Fill(const Program& program, const BatchInputs& inputs) {
  values_.resize(program.indices.size());
  views_.resize(program.indices.size());
  for (size_t i = 0; i < program.indices.size(); ++i) views_[i] = program.indices[i].Fill(inputs, values_[i]);
}

}  // namespace peruse
