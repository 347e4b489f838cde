#include "core/backend/webgpu/webgpu_memory.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace peruse::webgpu {
namespace {

// Limits a linear layer to 4 GiB with default limits of WebGPU, more than any model that a page can load.
constexpr int64_t kMostParts = 32;

std::span<const uint8_t> BytesOf(std::span<const float> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

uint64_t RowBytes(const LinearWeight& linear) {
  return static_cast<uint64_t>(linear.row_elements) * static_cast<uint64_t>(linear.format().element_bytes);
}

uint64_t ColumnBytes(const LinearWeight& linear) {
  return static_cast<uint64_t>(linear.spec.out) * sizeof(float) * (linear.format().quantizes_input ? 3 : 1);
}

int64_t Bytes(const LinearWeight& linear) {
  return static_cast<int64_t>(RowBytes(linear)) * linear.spec.out + static_cast<int64_t>(ColumnBytes(linear));
}

}  // namespace

Status Memory::Failure() const {
  if (recorder_.stream().failed()) return OutOfMemory("no memory for the commands to the GPU");
  return OutOfMemory("a matrix exceeds the " + std::to_string(recorder_.limits().binding_bytes >> 20) +
                     " MiB that this GPU takes in one piece");
}

Result<Weight> Memory::CreateLinear(const LinearSpec& spec) {
  PERUSE_RETURN_IF_ERROR(CheckSpec(spec));
  LinearWeight linear;
  linear.spec = spec;
  const int32_t width = spec.in / spec.groups;
  const int32_t multiple = linear.format().row_multiple;
  linear.row_elements = (width + multiple - 1) / multiple * multiple;
  // A part contains whole groups, whose rows must stay together, or any rows of a single group.
  const int32_t unit = spec.groups == 1 ? 1 : spec.out / spec.groups;
  const auto fit = static_cast<int64_t>(recorder_.limits().binding_bytes / RowBytes(linear)) / unit * unit;
  if (fit == 0 || spec.out / fit >= kMostParts) return Failure();
  for (int32_t first = 0; first < spec.out;) {
    const auto rows = static_cast<int32_t>(std::min<int64_t>(fit, spec.out - first));
    const int32_t buffer = recorder_.CreateBuffer(RowBytes(linear) * static_cast<uint64_t>(rows));
    if (buffer == Recorder::kNoBuffer) return Failure();
    linear.parts.push_back({first, rows, buffer});
    first += rows;
  }
  linear.bias = recorder_.CreateBuffer(ColumnBytes(linear));
  if (linear.bias == Recorder::kNoBuffer) return Failure();
  weight_bytes_ += Bytes(linear);
  linears_.push_back(std::move(linear));
  return Weight{static_cast<int32_t>(linears_.size()) - 1};
}

const LinearWeight& Memory::linear(Weight weight) const {
  PERUSE_CHECK(weight.id >= 0 && weight.id < static_cast<int32_t>(linears_.size()));
  PERUSE_CHECK(linears_[static_cast<size_t>(weight.id)].spec.out > 0);
  return linears_[static_cast<size_t>(weight.id)];
}

template <typename Fill>
Status Memory::WriteParts(const LinearWeight& linear, int32_t first_row, int64_t count, Fill fill) {
  PERUSE_CHECK(first_row >= 0 && first_row + count <= linear.spec.out);
  for (const LinearPart& part : linear.parts) {
    const int64_t begin = std::max(first_row, part.first_row);
    const int64_t end = std::min<int64_t>(first_row + count, part.first_row + part.rows);
    if (begin >= end) continue;
    const uint64_t bytes = RowBytes(linear) * static_cast<uint64_t>(end - begin);
    uint8_t* room = recorder_.WriteRoom(part.buffer, RowBytes(linear) * static_cast<uint64_t>(begin - part.first_row),
                                        static_cast<size_t>(bytes));
    if (room == nullptr) return Failure();
    PERUSE_RETURN_IF_ERROR(fill(static_cast<size_t>(begin - first_row), static_cast<size_t>(end - begin), room));
  }
  return OkStatus();
}

Status Memory::WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows) {
  const LinearWeight& linear = this->linear(weight);
  CheckRows(linear.spec, first_row, rows);
  const auto row = static_cast<size_t>(FormatOf(linear.spec.precision).RowBytes(linear.spec.in / linear.spec.groups));
  const size_t padded = RowBytes(linear);
  const auto fill = [&](size_t first, size_t count, uint8_t* room) -> Status {
    for (size_t r = 0; r < count; ++r, room += padded) {
      std::memcpy(room, rows.payload.data() + (first + r) * row, row);
      std::memset(room + row, 0, padded - row);
    }
    return OkStatus();
  };
  PERUSE_RETURN_IF_ERROR(WriteParts(linear, first_row, static_cast<int64_t>(rows.payload.size() / row), fill));
  if (linear.format().quantizes_input) PERUSE_RETURN_IF_ERROR(WriteSums(linear, first_row, rows.payload, row));
  return rows.scales.empty() ? OkStatus() : WriteScales(linear, first_row, rows.scales);
}

Status Memory::WriteScales(const LinearWeight& linear, int32_t first_row, std::span<const float> scales) {
  const int64_t offset = int64_t{linear.spec.out} + first_row;
  recorder_.Write(linear.bias, static_cast<uint64_t>(offset) * sizeof(float), BytesOf(scales));
  return recorder_.stream().failed() ? Failure() : OkStatus();
}

// Writes the sum of each row of int8 weights.
Status Memory::WriteSums(const LinearWeight& linear, int32_t first_row, std::span<const uint8_t> payload, size_t row) {
  if (payload.empty()) return OkStatus();
  const int64_t place = 2 * int64_t{linear.spec.out} + first_row;
  uint8_t* room = recorder_.WriteRoom(linear.bias, static_cast<uint64_t>(place) * sizeof(int32_t),
                                      payload.size() / row * sizeof(int32_t));
  if (room == nullptr) return Failure();
  for (; !payload.empty(); payload = payload.subspan(row), room += sizeof(int32_t)) {
    int32_t sum = 0;
    for (const uint8_t byte : payload.first(row)) sum += static_cast<int8_t>(byte);
    std::memcpy(room, &sum, sizeof(sum));
  }
  return OkStatus();
}

Status Memory::WriteBias(Weight weight, int32_t first, std::span<const float> values) {
  const LinearWeight& linear = this->linear(weight);
  PERUSE_CHECK(first >= 0 && first + static_cast<int64_t>(values.size()) <= linear.spec.out);
  recorder_.Write(linear.bias, static_cast<uint64_t>(first) * sizeof(float), BytesOf(values));
  return recorder_.stream().failed() ? Failure() : OkStatus();
}

void Memory::FreeLinear(Weight weight) {
  LinearWeight freed = linear(weight);
  for (const LinearPart& part : freed.parts) recorder_.FreeBuffer(part.buffer);
  recorder_.FreeBuffer(freed.bias);
  weight_bytes_ -= Bytes(freed);
  linears_[static_cast<size_t>(weight.id)] = {};
}

Result<Tensor> Memory::CreateConstant(int32_t rows, int32_t cols) {
  const uint64_t bytes = static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols) * sizeof(float);
  const int32_t buffer = recorder_.CreateBuffer(bytes);
  if (buffer == Recorder::kNoBuffer) return Failure();
  constants_.push_back(buffer);
  weight_bytes_ += static_cast<int64_t>(bytes);
  return Tensor{kFirstConstant + static_cast<int32_t>(constants_.size()) - 1, rows, cols, cols, 0};
}

Status Memory::WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows) {
  PERUSE_CHECK(constant.buffer >= kFirstConstant && constant.cols == constant.stride);
  PERUSE_CHECK(first_row >= 0 && rows.size() % static_cast<size_t>(constant.cols) == 0);
  PERUSE_CHECK(first_row + static_cast<int64_t>(rows.size()) / constant.cols <= constant.rows);
  recorder_.Write(buffer(constant), static_cast<uint64_t>(first_row) * static_cast<uint64_t>(constant.cols) * 4,
                  BytesOf(rows));
  return recorder_.stream().failed() ? Failure() : OkStatus();
}

uint64_t Memory::MatrixBytes(int32_t rows, int32_t cols) const {
  const uint64_t row_bytes = static_cast<uint64_t>(cols) * sizeof(float);
  const uint64_t bytes = static_cast<uint64_t>(rows) * row_bytes;
  if (bytes > recorder_.limits().binding_bytes) return bytes;
  return std::min(static_cast<uint64_t>(LengthBucket(rows)) * row_bytes, recorder_.limits().binding_bytes);
}

bool Memory::New(int32_t rows, int32_t cols) {
  PERUSE_CHECK(rows >= 0 && cols >= 0);
  const uint64_t bytes = MatrixBytes(rows, cols);
  workspace_.push_back({recorder_.Take(bytes, false), bytes});
  return workspace_.back().buffer != Recorder::kNoBuffer;
}

void Memory::Release() {
  for (const Workspace& place : workspace_) recorder_.Give(place.buffer);
  workspace_.clear();
}

bool Memory::IsConstant(Tensor tensor) const { return tensor.buffer >= kFirstConstant; }

bool Memory::Refresh(Tensor tensor) {
  PERUSE_CHECK(tensor.valid() && static_cast<size_t>(tensor.buffer) < workspace_.size());
  Workspace& place = workspace_[static_cast<size_t>(tensor.buffer)];
  recorder_.Give(place.buffer);
  place.buffer = recorder_.Take(place.bytes, true);
  return place.buffer != Recorder::kNoBuffer;
}

int32_t Memory::buffer(Tensor tensor) const {
  const bool constant = IsConstant(tensor);
  const auto index = static_cast<size_t>(constant ? tensor.buffer - kFirstConstant : tensor.buffer);
  PERUSE_CHECK(tensor.valid() && index < (constant ? constants_.size() : workspace_.size()));
  return constant ? constants_[index] : workspace_[index].buffer;
}

}  // namespace peruse::webgpu
