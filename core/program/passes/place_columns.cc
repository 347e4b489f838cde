#include <utility>
#include <vector>

#include "core/program/passes/passes.h"
#include "core/program/passes/uses.h"

namespace peruse {
namespace {

// Makes `part` the columns of `whole` from first_col on. Returns false if a run does not compute `part`, or if it already has a place.
bool Place(Program& program, const Uses& uses, Value part, Value whole, int32_t first_col) {
  if (program.info(part).base >= 0 || program.info(part).constant >= 0 || uses.producer(part) < 0) return false;
  const Value root = program.Root(whole);
  const int32_t offset = program.info(whole).first_col + first_col;
  for (ValueInfo& info : program.values) {
    if (info.base != part.id) continue;
    info.base = root.id;
    info.first_col += offset;
  }
  program.info(part).base = root.id;
  program.info(part).first_col = offset;
  return true;
}

Value ColumnsLike(Program& program, Value x, Value whole, int32_t first_col) {
  ValueInfo info = program.info(whole);
  info.base = program.Root(whole).id;
  info.first_col += first_col;
  info.cols = program.info(x).cols;
  program.values.push_back(info);
  return {static_cast<int32_t>(program.values.size()) - 1};
}

}  // namespace

Program PlaceColumns(Program program) {
  const Uses uses(program);
  // The remaining operations; visited in reverse order, so that outer concatenations are placed before inner ones.
  std::vector<Op> ops;
  for (auto op = program.ops.rbegin(); op != program.ops.rend(); ++op) {
    const auto* concat = std::get_if<ops::Concat>(&*op);
    if (concat == nullptr) {
      ops.push_back(std::move(*op));
      continue;
    }
    int32_t first_col = 0;
    for (const Value part : {concat->x, concat->y}) {
      if (!Place(program, uses, part, concat->out, first_col)) {
        ops.push_back(ops::Activate{part, Activation::kNone, ColumnsLike(program, part, concat->out, first_col)});
      }
      first_col += program.info(part).cols.factor;
    }
  }
  program.ops.assign(std::make_move_iterator(ops.rbegin()), std::make_move_iterator(ops.rend()));
  return program;
}

}  // namespace peruse
