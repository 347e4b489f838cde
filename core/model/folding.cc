#include "core/model/folding.h"

#include <algorithm>
#include <variant>

#include "core/tensor/ragged_batch.h"

namespace peruse {
namespace {

// Rows are made in whole steps, so that texts that grow a little from one to the next do not each bring a few.
constexpr int32_t kRowStep = 16;

// The index by which an operation reads rows of `table`; not valid: it reads all.
IndexId IndexInto(const Op& op, Value table) {
  if (const auto* attention = std::get_if<ops::Attention>(&op)) {
    if (table == attention->position_key || table == attention->position_query) return attention->slots;
  }
  if (const auto* select = std::get_if<ops::SelectRows>(&op)) return select->rows;
  return {};
}

}  // namespace

Folding::Folding(const Hoisted& programs)
    : plan_(PlanMemory(Fuse(programs.load))), is_by_row_(programs.rows > 0), all_{0, std::max(programs.rows, 1)} {
  for (const ProgramOutput& output : programs.load.outputs) {
    const ValueInfo& info = programs.run.info(output.value);
    tables_.push_back({info.constant, info.rows.factor, info.cols.factor});
  }
  if (tables_.empty()) *made_ = all_;
}

Status Folding::Create(Backend& backend, Weights* weights) const {
  for (const Table& table : tables_) {
    PERUSE_ASSIGN_OR_RETURN(weights->constants[static_cast<size_t>(table.constant)],
                            backend.CreateConstant(table.rows, table.cols));
  }
  return OkStatus();
}

// What belongs together has the order in which the encoder makes it.
bool Folding::Share(const Folding& other, const Weights& from, Weights* weights) {
  if (tables_.size() != other.tables_.size()) return false;
  for (size_t i = 0; i < tables_.size(); ++i) {
    PERUSE_CHECK(tables_[i].rows == other.tables_[i].rows && tables_[i].cols == other.tables_[i].cols);
    weights->constants[static_cast<size_t>(tables_[i].constant)] =
        from.constants[static_cast<size_t>(other.tables_[i].constant)];
  }
  made_ = other.made_;
  return true;
}

Status Folding::MakeAll(Backend& backend, const Weights& weights) { return Make(all_, backend, weights); }

Status Folding::MakeFor(const Program& run, Indices indices, Backend& backend, const Weights& weights) {
  if (made_->first == all_.first && made_->end == all_.end) return OkStatus();
  return Make(ReadBy(run, indices), backend, weights);
}

bool Folding::IsTable(const Program& run, Value value) const {
  const int32_t constant = run.info(run.Root(value)).constant;
  return constant >= 0 &&
         std::any_of(tables_.begin(), tables_.end(), [&](const Table& table) { return table.constant == constant; });
}

Folding::Rows Folding::ReadBy(const Program& run, Indices indices) const {
  Rows read;
  IndexId last;  // the layers have one in common
  for (const Op& op : run.ops) {
    for (const Value* value : InputsOf(op)) {
      if (!IsTable(run, *value)) continue;
      const IndexId index = IndexInto(op, *value);
      if (!index.valid()) return all_;
      if (index == last) continue;
      last = index;
      for (const int32_t row : indices[static_cast<size_t>(index.id)]) {
        read = read.end == 0 ? Rows{row, row + 1} : Rows{std::min(read.first, row), std::max(read.end, row + 1)};
      }
    }
  }
  return read;
}

// Rows between those that are there and these are made too.
Status Folding::Make(Rows rows, Backend& backend, const Weights& weights) {
  if (rows.end == 0) return OkStatus();
  rows.first = rows.first / kRowStep * kRowStep;
  rows.end = std::min((rows.end + kRowStep - 1) / kRowStep * kRowStep, all_.end);
  const RaggedBatch none;
  const auto run = [&](Rows missing) {
    if (missing.first >= missing.end) return OkStatus();
    RunInputs inputs = {.batch = none, .first_row = missing.first};
    inputs.sizes[Domain::kFolded] = missing.end - missing.first;
    PERUSE_RETURN_IF_ERROR(backend.Run(plan_, weights, inputs, {}));
    return backend.Submit();
  };
  if (made_->end == 0) *made_ = {rows.first, rows.first};
  PERUSE_RETURN_IF_ERROR(run({rows.first, made_->first}));
  made_->first = std::min(made_->first, rows.first);
  PERUSE_RETURN_IF_ERROR(run({made_->end, rows.end}));
  made_->end = std::max(made_->end, rows.end);
  return OkStatus();
}

}  // namespace peruse
