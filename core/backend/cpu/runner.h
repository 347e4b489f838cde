#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend/plan_run.h"
#include "core/cpu/arena.h"
#include "core/cpu/block.h"
#include "core/cpu/norms.h"
#include "core/cpu/packed_linear.h"
#include "core/cpu/thread_pool.h"

namespace peruse::cpu {

struct Memory {
  Arena arena;  // the slots of the plan come first, then scratch memory of the current operation
  std::vector<std::unique_ptr<PackedLinear>> linears;  // null after FreeLinear
  std::vector<AlignedBytes> constants;
};

class Runner : public PlanRun {
 public:
  // The arguments must outlive the runner.
  Runner(const ThreadPool& pool, Memory& memory) : pool_(pool), memory_(memory) {}

  const ThreadPool& pool() const { return pool_; }
  Memory& memory() { return memory_; }

  // Returns the memory of a value; null data if the value is invalid.
  Block View(Value value) const { return View(at(value)); }
  Block View(Tensor x) const;
  NormWeights View(const NormArgs& norm) const { return {View(norm.weight).data, View(norm.bias).data, norm.eps}; }
  const PackedLinear& linear(LinearId id) const { return *memory_.linears[static_cast<size_t>(at(id).id)]; }

  Status Download(Tensor x, std::span<float> destination) const;

 private:
  const ThreadPool& pool_;
  Memory& memory_;
};

// Workspace of one operation, freed on destruction. Converts to false if memory ran out.
class Scratch {
 public:
  Scratch(Runner& runner, int64_t bytes) : arena_(runner.memory().arena), ok_(arena_.Push(bytes)) {}
  ~Scratch() { arena_.Pop(arena_.size() - 1); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  explicit operator bool() const { return ok_; }
  std::byte* bytes() const { return arena_.data(arena_.size() - 1); }
  float* floats() const { return reinterpret_cast<float*>(bytes()); }

 private:
  Arena& arena_;
  const bool ok_;
};

inline Status NoWorkspace() { return OutOfMemory("no memory for the run's workspace"); }

// Computes an operation. Each operation specialises this template in its own file; the linker reports missing ones.
template <typename Operation>
Status Run(Runner& r, const Operation& op);

template <>
inline Status Run(Runner& r, const ops::Concat& op) {
  return peruse::Run(static_cast<PlanRun&>(r), op);
}

// Parts of operations that others contain, each defined in the file of its operation.

// out = activation(x W^T + b). first_output: see PackedLinear::Run.
Status Project(Runner& r, const Block& x, LinearId weight, Activation activation, const Block& out,
               int64_t first_output = 0);

// out = norm(x + y). y.data may be null; `out` may be x.
void AddNormRows(const ThreadPool& pool, const Block& x, const Block& y, const NormWeights& norm, const Block& out);

// `y` may have one row; `out` may be `x`.
void MultiplyBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out);

}  // namespace peruse::cpu
