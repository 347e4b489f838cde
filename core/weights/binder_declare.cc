// The declaration half of Binder: what each kind of parameter is in a file, and how its rows reach the backend.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/backend/quantize.h"
#include "core/weights/binder.h"

namespace peruse {
namespace {

std::unique_ptr<float[]> AllocateFloats(size_t count) {
  return std::unique_ptr<float[]>(new (std::nothrow) float[count]);
}

// [rows, cols] -> [cols, rows]
Result<std::unique_ptr<float[]>> Transpose(std::span<const float> values, int32_t rows, int32_t cols) {
  std::unique_ptr<float[]> transposed = AllocateFloats(values.size());
  if (!transposed) return OutOfMemory("no memory to transpose a weight");
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    for (size_t c = 0; c < static_cast<size_t>(cols); ++c) {
      transposed[c * static_cast<size_t>(rows) + r] = values[r * static_cast<size_t>(cols) + c];
    }
  }
  return transposed;
}

// Of each row of `cols`.
std::vector<float> Softmax(std::span<const float> values, int32_t cols) {
  std::vector<float> result;
  for (const size_t size = static_cast<size_t>(cols); !values.empty(); values = values.subspan(size)) {
    const std::span<const float> row = values.first(size);
    const double largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
    double sum = 0;
    for (const float value : row) sum += std::exp(static_cast<double>(value) - largest);
    for (const float value : row) {
      result.push_back(static_cast<float>(std::exp(static_cast<double>(value) - largest) / sum));
    }
  }
  return result;
}

}  // namespace

void Binder::Require(const std::string& name, std::vector<int64_t> shape, int64_t rows, FloatReader::WriteRows write) {
  Requirement requirement;
  requirement.name = name;
  requirement.shape = std::move(shape);
  requirement.head = head_;
  requirement.rows = rows;
  requirement.write = std::move(write);
  requirements_.push_back(std::move(requirement));
}

Status Binder::EnsureLinear(const LinearPlan& plan) {
  if (plan.weight->valid()) return OkStatus();
  PERUSE_ASSIGN_OR_RETURN(*plan.weight, backend_.CreateLinear(plan.spec));
  return OkStatus();
}

Status Binder::WriteRows(const LinearPlan& plan, int32_t first_row, std::span<const float> rows) {
  PERUSE_RETURN_IF_ERROR(EnsureLinear(plan));
  if (plan.spec.precision != Precision::kQ8) return backend_.WriteLinear(*plan.weight, first_row, rows);
  const size_t width = static_cast<size_t>(plan.spec.in / plan.spec.groups);
  int8_.resize(rows.size());
  scales_.clear();
  for (size_t at = 0; at < rows.size(); at += width) {
    scales_.push_back(QuantizeRow(rows.subspan(at, width), kWeightLevels, int8_.data() + at));
  }
  PERUSE_RETURN_IF_ERROR(backend_.WriteScales(*plan.weight, first_row, scales_));
  return backend_.WriteInt8(*plan.weight, first_row, int8_);
}

template <typename Write>
Status Binder::PlaceEach(const PlaceRows& place, int32_t row, int32_t count, Write write) {
  for (int32_t done = 0; done < count;) {
    const RowRun run = place(row + done);
    const int32_t size = std::min(run.count, count - done);
    PERUSE_RETURN_IF_ERROR(write(run.first, static_cast<size_t>(done), static_cast<size_t>(size)));
    done += size;
  }
  return OkStatus();
}

Status Binder::WritePlaced(const Requirement& requirement, int32_t row, std::span<const float> values) {
  const LinearPlan& plan = *requirement.plan;
  const size_t width = static_cast<size_t>(plan.spec.in / plan.spec.groups);
  return PlaceEach(requirement.place, row, static_cast<int32_t>(values.size() / width),
                   [&](int32_t to, size_t first, size_t count) {
                     return WriteRows(plan, to, values.subspan(first * width, count * width));
                   });
}

Status Binder::WritePlacedInt8(const Requirement& requirement, int32_t row, std::span<const float> values) {
  const LinearPlan& plan = *requirement.plan;
  PERUSE_RETURN_IF_ERROR(EnsureLinear(plan));
  const size_t width = static_cast<size_t>(plan.spec.in / plan.spec.groups);
  int8_.resize(values.size());
#pragma clang loop vectorize(disable)
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == -128)
      return MalformedFile("tensor \"" + requirement.name + "\" holds -128, which int8 weights never do");
    int8_[i] = static_cast<int8_t>(values[i]);
  }
  return PlaceEach(requirement.place, row, static_cast<int32_t>(values.size() / width),
                   [&](int32_t to, size_t first, size_t count) {
                     return backend_.WriteInt8(*plan.weight, to,
                                               std::span<const int8_t>(int8_).subspan(first * width, count * width));
                   });
}

Status Binder::WritePlacedScales(const Requirement& requirement, int32_t row, std::span<const float> scales) {
  PERUSE_RETURN_IF_ERROR(EnsureLinear(*requirement.plan));
  return PlaceEach(requirement.place, row, static_cast<int32_t>(scales.size()),
                   [&](int32_t to, size_t first, size_t count) {
                     return backend_.WriteScales(*requirement.plan->weight, to, scales.subspan(first, count));
                   });
}

Status Binder::EnsureConstant(int32_t rows, int32_t cols, Tensor* constant) {
  if (constant->valid()) return OkStatus();
  PERUSE_ASSIGN_OR_RETURN(*constant, backend_.CreateConstant(rows, cols));
  return OkStatus();
}

Binder::LinearStack Binder::Stack(int32_t in, Weight* weight) { return Stack(in, 1, precision_, weight); }

Binder::LinearStack Binder::Stack(int32_t in, int32_t groups, Precision precision, Weight* weight) {
  plans_.push_back(LinearPlan{{.in = in, .out = 0, .groups = groups, .precision = precision}, weight});
  return LinearStack(*this, plans_.back());
}

void Binder::Linear(const std::string& name, int32_t in, int32_t out, Weight* weight) {
  Stack(in, weight).Add(name, out);
}

void Binder::LinearF32(const std::string& name, int32_t in, int32_t out, Weight* weight) {
  Stack(in, 1, Precision::kF32, weight).Add(name, out);
}

void Binder::GroupedLinear(const std::string& name, int32_t in, int32_t out, int32_t groups, Weight* weight,
                           bool wide_input) {
  LinearStack stack = Stack(in, groups, precision_, weight);
  plans_.back().spec.wide_input = wide_input;
  if (groups == 1) {
    stack.Add(name, out);
  } else {
    stack.AddGrouped(name + ".weight", out).AddBias(name + ".bias", {out}, 0, out);
  }
}

void Binder::Conv1d(const std::string& name, int32_t in, int32_t out, int32_t groups, int32_t kernel_size,
                    Weight* weight) {
  Stack(kernel_size * in, groups, precision_, weight)
      .AddConv1d(name + ".weight", out, in / groups, kernel_size)
      .AddBias(name + ".bias", {out}, 0, out);
}

void Binder::DepthwiseTaps(const std::string& name, int32_t channels, int32_t kernel_size, Tensor* taps) {
  Require(name, {channels, 1, kernel_size}, 1, [=, this](int32_t, std::span<const float> values) -> Status {
    PERUSE_RETURN_IF_ERROR(EnsureConstant(kernel_size, channels, taps));
    PERUSE_ASSIGN_OR_RETURN(const auto transposed, Transpose(values, channels, kernel_size));
    return backend_.WriteConstant(*taps, 0, std::span<const float>(transposed.get(), values.size()));
  });
}

void Binder::SoftmaxTaps(const std::string& name, int32_t heads, int32_t channels, int32_t kernel_size, Tensor* taps) {
  const auto write = [=, this](int32_t, std::span<const float> values) -> Status {
    PERUSE_RETURN_IF_ERROR(EnsureConstant(kernel_size, channels, taps));
    std::vector<float> row(static_cast<size_t>(channels));  // one tap of every channel
    std::vector<float> shared = Softmax(values, kernel_size);
    for (int32_t tap = 0; tap < kernel_size; ++tap) {
      for (int32_t c = 0; c < channels; ++c) {
        const int32_t head = c / (channels / heads);
        row[static_cast<size_t>(c)] = shared[static_cast<size_t>(head * kernel_size + tap)];
      }
      PERUSE_RETURN_IF_ERROR(backend_.WriteConstant(*taps, tap, row));
    }
    return OkStatus();
  };
  Require(name, {heads, kernel_size}, 1, write);
}

void Binder::LayerNorm(const std::string& name, int32_t width, float eps, Norm* norm) {
  norm->eps = eps;
  for (const auto& [suffix, tensor] : {std::pair(".weight", &norm->weight), std::pair(".bias", &norm->bias)}) {
    Require(name + suffix, {width}, 1,
            [this, width, tensor = tensor](int32_t, std::span<const float> values) -> Status {
              PERUSE_RETURN_IF_ERROR(EnsureConstant(1, width, tensor));
              return backend_.WriteConstant(*tensor, 0, values);
            });
  }
}

void Binder::Constant(const std::string& name, int32_t rows, int32_t cols, Tensor* constant) {
  Require(name, {rows, cols}, rows, [=, this](int32_t first_row, std::span<const float> values) -> Status {
    PERUSE_RETURN_IF_ERROR(EnsureConstant(rows, cols, constant));
    return backend_.WriteConstant(*constant, first_row, values);
  });
}

void Binder::TiledConstant(const std::string& name, int32_t rows, int32_t cols, int32_t copies, Tensor* constant) {
  const auto write = [=, this](int32_t row, std::span<const float> values) -> Status {
    PERUSE_RETURN_IF_ERROR(EnsureConstant(rows, copies * cols, constant));
    std::vector<float> tiled;
    for (const size_t size = static_cast<size_t>(cols); !values.empty(); values = values.subspan(size), ++row) {
      tiled.clear();
      for (int32_t i = 0; i < copies; ++i) tiled.insert(tiled.end(), values.begin(), values.begin() + cols);
      PERUSE_RETURN_IF_ERROR(backend_.WriteConstant(*constant, row, tiled));
    }
    return OkStatus();
  };
  Require(name, {rows, cols}, rows, write);
}

void Binder::Embedding(const std::string& name, int32_t rows, int32_t cols, EmbeddingTable* table) {
  Require(name, {rows, cols}, rows, [table](int32_t first_row, std::span<const float> values) {
    table->WriteRows(first_row, values);
    return OkStatus();
  });
  requirements_.back().table = table;
}

void Binder::WordEmbedding(const std::string& name, int32_t rows, int32_t cols, EmbeddingTable* table) {
  Embedding(name, rows, cols, table);
  requirements_.back().words = true;
}

Binder::LinearStack& Binder::LinearStack::Add(const std::string& name, int32_t out) {
  const int32_t first = plan_.spec.out;
  AddWeight(name + ".weight", {out, plan_.spec.in}, out);
  return AddBias(name + ".bias", {out}, first, out);
}

Binder::LinearStack& Binder::LinearStack::AddRows(const std::string& name, std::vector<int64_t> shape, int32_t out,
                                                  PlaceRows place) {
  binder_.Require(name, std::move(shape), out, nullptr);
  Requirement& requirement = binder_.requirements_.back();
  requirement.plan = &plan_;
  requirement.place = std::move(place);
  plan_.spec.out += out;
  return *this;
}

Binder::LinearStack& Binder::LinearStack::AddWeight(const std::string& name, std::vector<int64_t> shape, int32_t out) {
  const int32_t first = plan_.spec.out;
  return AddRows(name, std::move(shape), out, [=](int32_t row) { return RowRun{first + row, out - row}; });
}

Binder::LinearStack& Binder::LinearStack::AddBias(const std::string& name, std::vector<int64_t> shape, int32_t first,
                                                  int32_t count) {
  PERUSE_CHECK(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()) == count);
  binder_.Require(name, std::move(shape), 1,
                  [binder = &binder_, plan = &plan_, first](int32_t, std::span<const float> values) -> Status {
                    PERUSE_RETURN_IF_ERROR(binder->EnsureLinear(*plan));
                    return binder->backend_.WriteBias(*plan->weight, first, values);
                  });
  return *this;
}

Binder::LinearStack& Binder::LinearStack::AddInterleaved(const std::string& name, int32_t heads, int32_t parts,
                                                         int32_t head_dim) {
  const int32_t first = plan_.spec.out;
  const int32_t out = heads * parts * head_dim;
  return AddRows(name, {out, plan_.spec.in}, out, [=](int32_t row) {
    const int32_t head = row / (parts * head_dim);
    const int32_t part = row / head_dim % parts;
    const int32_t channel = row % head_dim;
    return RowRun{first + (part * heads + head) * head_dim + channel, head_dim - channel};
  });
}

Binder::LinearStack& Binder::LinearStack::AddGrouped(const std::string& name, int32_t out) {
  plan_.spec.out += out;
  const int32_t groups = plan_.spec.groups;
  const int32_t group_in = plan_.spec.in / groups;
  const int32_t group_out = out / groups;
  // One group at a time: [in / groups, out / groups] -> [out / groups, in / groups].
  const auto write = [binder = &binder_, plan = &plan_, group_in, group_out](int32_t group,
                                                                             std::span<const float> values) -> Status {
    const size_t size = static_cast<size_t>(group_in) * static_cast<size_t>(group_out);
    for (; !values.empty(); values = values.subspan(size), ++group) {
      PERUSE_ASSIGN_OR_RETURN(const auto rows, Transpose(values.first(size), group_in, group_out));
      PERUSE_RETURN_IF_ERROR(binder->WriteRows(*plan, group * group_out, std::span<const float>(rows.get(), size)));
    }
    return OkStatus();
  };
  binder_.Require(name, {groups, group_in, group_out}, groups, write);
  return *this;
}

Binder::LinearStack& Binder::LinearStack::AddConv1d(const std::string& name, int32_t out, int32_t channels,
                                                    int32_t kernel_size) {
  plan_.spec.out += out;
  const auto write = [binder = &binder_, plan = &plan_, channels, kernel_size](
                         int32_t row, std::span<const float> values) -> Status {
    const size_t size = static_cast<size_t>(channels) * static_cast<size_t>(kernel_size);
    for (; !values.empty(); values = values.subspan(size), ++row) {
      PERUSE_ASSIGN_OR_RETURN(const auto taps, Transpose(values.first(size), channels, kernel_size));
      PERUSE_RETURN_IF_ERROR(binder->WriteRows(*plan, row, std::span<const float>(taps.get(), size)));
    }
    return OkStatus();
  };
  binder_.Require(name, {out, channels, kernel_size}, out, write);
  return *this;
}

}  // namespace peruse
