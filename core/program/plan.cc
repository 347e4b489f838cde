#include "core/program/plan.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/program/passes/passes.h"

namespace peruse {
namespace {

class Planner {
 public:
  explicit Planner(Program program) {
    PERUSE_CHECK(IsSound(program));
    plan_.program = std::move(program);
    plan_.slot_of.assign(plan_.program.values.size(), -1);
    plan_.finished.resize(plan_.program.ops.size());
  }

  Plan Run() {
    FindLastUses();
    const std::vector<Op>& ops = plan_.program.ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      for (const Value* value : OutputsOf(ops[i])) Begin(*value);
      for (size_t slot = 0; slot < owner_.size(); ++slot) {
        if (owner_[slot] >= 0 && last_use_[static_cast<size_t>(owner_[slot])] == static_cast<int32_t>(i))
          owner_[slot] = -1;
      }
    }
    // A block of columns shares the memory of the value that contains it.
    for (size_t v = 0; v < plan_.slot_of.size(); ++v) {
      const int32_t base = plan_.program.values[v].base;
      if (base >= 0) plan_.slot_of[v] = plan_.slot_of[static_cast<size_t>(base)];
    }
    return std::move(plan_);
  }

 private:
  size_t Root(Value value) const { return static_cast<size_t>(plan_.program.Root(value).id); }

  void FindLastUses() {
    const Program& program = plan_.program;
    last_use_.assign(program.values.size(), -1);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      for (const Value* value : InputsOf(program.ops[i])) last_use_[Root(*value)] = static_cast<int32_t>(i);
      for (const Value* value : OutputsOf(program.ops[i])) last_use_[Root(*value)] = static_cast<int32_t>(i);
    }
    // An output is complete after the last operation that writes a part of it.
    std::vector<int32_t> last_write(program.values.size(), -1);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      for (const Value* value : OutputsOf(program.ops[i])) last_write[Root(*value)] = static_cast<int32_t>(i);
    }
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      const int32_t at = last_write[Root(program.outputs[i].value)];
      if (at >= 0) plan_.finished[static_cast<size_t>(at)].push_back(static_cast<int32_t>(i));
    }
  }

  void Begin(Value value) {
    const size_t root = Root(value);
    const ValueInfo& info = plan_.program.values[root];
    if (info.constant >= 0 || plan_.slot_of[root] >= 0) return;
    const size_t slot = Choose(info);
    owner_[slot] = static_cast<int32_t>(root);
    plan_.slot_of[root] = static_cast<int32_t>(slot);
    int32_t& width = plan_.slots[slot].cols.factor;
    width = std::max(width, info.cols.factor);
  }

  // Returns a free slot: the narrowest that is wide enough, otherwise the widest, otherwise a new one.
  size_t Choose(const ValueInfo& info) {
    size_t best = owner_.size();
    for (size_t i = 0; i < owner_.size(); ++i) {
      const PlanSlot& slot = plan_.slots[i];
      if (owner_[i] >= 0 || slot.rows != info.rows || slot.cols.domain != info.cols.domain) continue;
      if (best == owner_.size() || Fits(slot, plan_.slots[best], info.cols.factor)) best = i;
    }
    if (best == owner_.size()) {
      owner_.push_back(-1);
      plan_.slots.push_back({info.rows, info.cols});
    }
    return best;
  }
  static bool Fits(const PlanSlot& a, const PlanSlot& b, int32_t width) {
    const bool a_fits = a.cols.factor >= width;
    const bool b_fits = b.cols.factor >= width;
    if (a_fits != b_fits) return a_fits;
    return a_fits ? a.cols.factor < b.cols.factor : a.cols.factor > b.cols.factor;
  }

  Plan plan_;
  std::vector<int32_t> last_use_;  // for each value: the last operation that reads or writes it
  std::vector<int32_t> owner_;     // for each slot: the value that uses it, or -1 if the slot is free
};

}  // namespace

Plan PlanMemory(Program program) { return Planner(std::move(program)).Run(); }

Plan PlanFor(const Program& program, std::span<const int32_t> outputs, bool brings_inputs) {
  Program kept = KeepOutputs(brings_inputs ? program : DropInputs(program), outputs);
  return PlanMemory(PlaceColumns(Fuse(DropRows(std::move(kept)))));
}

}  // namespace peruse
