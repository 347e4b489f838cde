// The declaration half of Binder: what each kind of parameter is in a file, and how its rows reach the backend.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

void Binder::GroupedLinear(const std::string& name, int32_t in, int32_t out, int32_t groups, Weight* weight) {
  if (groups == 1) return Linear(name, in, out, weight);
  Stack(in, groups, precision_, weight).AddGrouped(name + ".weight", out).AddBias(name + ".bias", {out}, 0, out);
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

Binder::LinearStack& Binder::LinearStack::Add(const std::string& name, int32_t out) {
  const int32_t first = plan_.spec.out;
  AddWeight(name + ".weight", {out, plan_.spec.in}, out);
  return AddBias(name + ".bias", {out}, first, out);
}

Binder::LinearStack& Binder::LinearStack::AddWeight(const std::string& name, std::vector<int64_t> shape, int32_t out) {
  const int32_t first = plan_.spec.out;
  plan_.spec.out += out;
  binder_.Require(name, std::move(shape), out,
                  [binder = &binder_, plan = &plan_, first](int32_t row, std::span<const float> values) -> Status {
                    PERUSE_RETURN_IF_ERROR(binder->EnsureLinear(*plan));
                    return binder->backend_.WriteLinear(*plan->weight, first + row, values);
                  });
  return *this;
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
  plan_.spec.out += out;
  const auto write = [binder = &binder_, plan = &plan_, first, heads, parts, head_dim](
                         int32_t row, std::span<const float> values) -> Status {
    PERUSE_RETURN_IF_ERROR(binder->EnsureLinear(*plan));
    const size_t in = static_cast<size_t>(plan->spec.in);
    while (!values.empty()) {
      const int32_t head = row / (parts * head_dim);
      const int32_t part = row / head_dim % parts;
      const int32_t channel = row % head_dim;
      const int32_t run = std::min(head_dim - channel, static_cast<int32_t>(values.size() / in));
      const int32_t to = first + (part * heads + head) * head_dim + channel;
      const size_t count = static_cast<size_t>(run) * in;
      PERUSE_RETURN_IF_ERROR(binder->backend_.WriteLinear(*plan->weight, to, values.first(count)));
      values = values.subspan(count);
      row += run;
    }
    return OkStatus();
  };
  binder_.Require(name, {out, plan_.spec.in}, out, write);
  return *this;
}

Binder::LinearStack& Binder::LinearStack::AddGrouped(const std::string& name, int32_t out) {
  plan_.spec.out += out;
  const int32_t groups = plan_.spec.groups;
  const int32_t group_in = plan_.spec.in / groups;
  const int32_t group_out = out / groups;
  // One group at a time: [in / groups, out / groups] -> [out / groups, in / groups].
  const auto write = [binder = &binder_, plan = &plan_, group_in, group_out](int32_t group,
                                                                             std::span<const float> values) -> Status {
    PERUSE_RETURN_IF_ERROR(binder->EnsureLinear(*plan));
    const size_t size = static_cast<size_t>(group_in) * static_cast<size_t>(group_out);
    for (; !values.empty(); values = values.subspan(size), ++group) {
      PERUSE_ASSIGN_OR_RETURN(const auto rows, Transpose(values.first(size), group_in, group_out));
      PERUSE_RETURN_IF_ERROR(
          binder->backend_.WriteLinear(*plan->weight, group * group_out, std::span<const float>(rows.get(), size)));
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
    PERUSE_RETURN_IF_ERROR(binder->EnsureLinear(*plan));
    const size_t size = static_cast<size_t>(channels) * static_cast<size_t>(kernel_size);
    for (; !values.empty(); values = values.subspan(size), ++row) {
      PERUSE_ASSIGN_OR_RETURN(const auto taps, Transpose(values.first(size), channels, kernel_size));
      PERUSE_RETURN_IF_ERROR(
          binder->backend_.WriteLinear(*plan->weight, row, std::span<const float>(taps.get(), size)));
    }
    return OkStatus();
  };
  binder_.Require(name, {out, channels, kernel_size}, out, write);
  return *this;
}

}  // namespace peruse
