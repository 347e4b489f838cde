#include "core/backend/cpu/cpu_backend.h"

#include <cstring>
#include <utility>

#include "core/backend/cpu/runner.h"

namespace peruse {
namespace cpu {

constexpr int64_t kFloat = sizeof(float);

Block Runner::View(Tensor x) const {
  if (!x.valid()) return {};
  const std::byte* data = x.buffer >= kFirstConstant
                              ? memory_.constants[static_cast<size_t>(x.buffer - kFirstConstant)].get()
                              : memory_.arena.data(x.buffer);
  return {reinterpret_cast<float*>(const_cast<std::byte*>(data)) + x.first, x.rows, x.cols, x.stride};
}

Status Runner::Download(Tensor x, std::span<float> destination) const {
  CopyBlock(View(x), {destination.data(), x.rows, x.cols, x.cols});
  return OkStatus();
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(ThreadPool pool) : pool_(std::move(pool)), runner_(pool_, memory_) {}

  std::string_view name() const override { return "cpu"; }
  const ThreadPool* pool() const override { return &pool_; }

  Result<Weight> CreateLinear(const LinearSpec& spec) override;
  Status WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) override;
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values) override;
  void FreeLinear(Weight weight) override;
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols) override;
  Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) override;
  int64_t WeightBytes() const override { return weight_bytes_; }

  Status Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
             std::span<FloatBuffer> results) override;

 private:
  PackedLinear& linear(Weight weight);

  ThreadPool pool_;
  Memory memory_;
  Runner runner_;
  int64_t weight_bytes_ = 0;
};

Result<Weight> CpuBackend::CreateLinear(const LinearSpec& spec) {
  PERUSE_RETURN_IF_ERROR(CheckSpec(spec));
  PERUSE_ASSIGN_OR_RETURN(std::unique_ptr<PackedLinear> linear, PackedLinear::Create(spec));
  weight_bytes_ += linear->bytes();
  memory_.linears.push_back(std::move(linear));
  return Weight{static_cast<int32_t>(memory_.linears.size()) - 1};
}

PackedLinear& CpuBackend::linear(Weight weight) {
  PERUSE_CHECK(weight.valid() && weight.id < static_cast<int32_t>(memory_.linears.size()));
  const std::unique_ptr<PackedLinear>& packed = memory_.linears[static_cast<size_t>(weight.id)];
  PERUSE_CHECK(packed != nullptr);
  return *packed;
}

Status CpuBackend::WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) {
  CheckRows(linear(weight).spec(), first_row, rows);
  linear(weight).WriteRows(first_row, rows);
  return OkStatus();
}

Status CpuBackend::WriteBias(Weight weight, int32_t first, std::span<const float> values) {
  PERUSE_CHECK(first >= 0 && first + static_cast<int64_t>(values.size()) <= linear(weight).spec().out);
  linear(weight).WriteBias(first, values);
  return OkStatus();
}

void CpuBackend::FreeLinear(Weight weight) {
  weight_bytes_ -= linear(weight).bytes();
  memory_.linears[static_cast<size_t>(weight.id)].reset();
}

Result<Tensor> CpuBackend::CreateConstant(int32_t rows, int32_t cols) {
  PERUSE_CHECK(rows >= 0 && cols >= 0);
  const int64_t bytes = int64_t{rows} * cols * kFloat;
  AlignedBytes memory = AllocateAligned(bytes);
  if (!memory) return OutOfMemory("no memory for a constant");
  std::memset(memory.get(), 0, static_cast<size_t>(bytes));
  weight_bytes_ += bytes;
  memory_.constants.push_back(std::move(memory));
  return Tensor{kFirstConstant + static_cast<int32_t>(memory_.constants.size()) - 1, rows, cols, cols, 0};
}

Status CpuBackend::WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) {
  const Block block = runner_.View(constant);
  const int64_t count = static_cast<int64_t>(rows.size()) / block.cols;
  PERUSE_CHECK(first_row >= 0 && static_cast<int64_t>(rows.size()) == count * block.cols);
  PERUSE_CHECK(first_row + count <= block.rows);
  CopyBlock({const_cast<float*>(rows.data()), count, block.cols, block.cols},
            {block.row(first_row), count, block.cols, block.stride});
  return OkStatus();
}

Status CpuBackend::Run(const Plan& plan, const Weights& weights, const RunInputs& inputs,
                       std::span<FloatBuffer> results) {
  memory_.arena.Reset();
  runner_.Begin(plan, weights, inputs);
  for (const PlanSlot& slot : plan.slots) {
    const int64_t bytes = int64_t{runner_.size(slot.rows)} * runner_.size(slot.cols) * kFloat;
    if (!memory_.arena.Push(bytes)) return NoWorkspace();
  }
  const Status status = RunOperations(runner_, observer_, results);
  memory_.arena.Reset();  // also allocates the memory of the next run
  return status;
}

}  // namespace cpu

Result<std::unique_ptr<Backend>> CreateCpuBackend(int32_t threads) {
  PERUSE_ASSIGN_OR_RETURN(cpu::ThreadPool pool, cpu::ThreadPool::Create(threads));
  return std::unique_ptr<Backend>(std::make_unique<cpu::CpuBackend>(std::move(pool)));
}

}  // namespace peruse
