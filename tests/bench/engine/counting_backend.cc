#include "tests/bench/engine/counting_backend.h"

#include <chrono>
#include <set>

namespace peruse::bench {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double LinearFlops(Tensor x, Weight weight) { return 2.0 * x.rows * weight.in / weight.groups * weight.out; }

// Scores and context.
double AttentionFlops(const AttentionArgs& args, const RaggedBatch& batch) {
  double flops = 0;
  for (int32_t s = 0; s < batch.sequences(); ++s) {
    flops += 4.0 * batch.length(s) * batch.length(s) * args.query.cols;
  }
  return flops;
}

// Each term: every row with every slot that its text's length can meet.
double PositionFlops(const AttentionArgs& args, const RelativePositions& positions, const RaggedBatch& batch) {
  const int terms = (positions.position_key.valid() ? 1 : 0) + (positions.position_query.valid() ? 1 : 0);
  double flops = 0;
  for (int32_t s = 0; s < batch.sequences(); ++s) {
    const int32_t length = batch.length(s);
    const auto met =
        positions.slots.subspan(static_cast<size_t>(positions.reach - length), static_cast<size_t>(2 * length - 1));
    flops +=
        terms * 2.0 * length * static_cast<double>(std::set<int32_t>(met.begin(), met.end()).size()) * args.query.cols;
  }
  return flops;
}

double ConvolutionFlops(Tensor x, int32_t taps) { return 2.0 * x.rows * x.cols * taps; }

}  // namespace

template <typename Operation>
void CountingBackend::Count(const char* name, double flops, std::initializer_list<int32_t> shape,
                            const Operation& operation) {
  flops_ += flops;
  if (!profiling_) return operation();
  const double start = Now();
  operation();
  const double seconds = Now() - start;
  std::string key = name;
  char separator = ' ';
  for (const int32_t size : shape) {
    key += separator + std::to_string(size);
    separator = 'x';
  }
  Entry& entry = entries_[key];
  entry.calls += 1;
  entry.flops += flops;
  entry.seconds += seconds;
}

void CountingBackend::Upload(std::span<const float> values, Tensor out) {
  Count("Upload", 0, {out.rows, out.cols}, [&] { inner_->Upload(values, out); });
}
void CountingBackend::Download(Tensor x, std::span<float> destination) {
  Count("Download", 0, {x.rows, x.cols}, [&] { inner_->Download(x, destination); });
}
void CountingBackend::Linear(Tensor x, Weight weight, Activation activation, Tensor out) {
  Count(activation == Activation::kNone ? "Linear" : "Linear+activation", LinearFlops(x, weight),
        {x.rows, weight.in, weight.out}, [&] { inner_->Linear(x, weight, activation, out); });
}
void CountingBackend::LinearAddNorm(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) {
  Count("LinearAddNorm", LinearFlops(x, weight), {x.rows, weight.in, weight.out},
        [&] { inner_->LinearAddNorm(x, weight, residual, norm, out); });
}
void CountingBackend::LayerNorm(Tensor x, const Norm& norm, Tensor out) {
  Count("LayerNorm", 0, {x.rows, x.cols}, [&] { inner_->LayerNorm(x, norm, out); });
}
void CountingBackend::AddNorm(Tensor x, Tensor y, const Norm& norm, Tensor out) {
  Count("AddNorm", 0, {x.rows, x.cols}, [&] { inner_->AddNorm(x, y, norm, out); });
}
void CountingBackend::Attention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) {
  Count("Attention", AttentionFlops(args, batch), {batch.rows(), args.query.cols},
        [&] { inner_->Attention(args, batch, out); });
}
void CountingBackend::DisentangledAttention(const AttentionArgs& args, const RelativePositions& positions,
                                            const RaggedBatch& batch, Tensor out) {
  Count("DisentangledAttention", AttentionFlops(args, batch) + PositionFlops(args, positions, batch),
        {batch.rows(), args.query.cols}, [&] { inner_->DisentangledAttention(args, positions, batch, out); });
}
void CountingBackend::DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) {
  Count("DepthwiseConv", ConvolutionFlops(x, taps.rows), {x.rows, x.cols, taps.rows},
        [&] { inner_->DepthwiseConv(x, taps, batch, out); });
}
void CountingBackend::SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                               Tensor kernels) {
  const int32_t taps = logits.cols / heads;
  Count("SpanConv", ConvolutionFlops(values, taps), {values.rows, values.cols, taps},
        [&] { inner_->SpanConv(logits, values, heads, batch, out, kernels); });
}
void CountingBackend::Conv1d(Tensor x, Weight weight, int32_t kernel_size, Activation activation,
                             const RaggedBatch& batch, Tensor out) {
  Count("Conv1d", LinearFlops(x, weight), {x.rows, weight.in, weight.out},
        [&] { inner_->Conv1d(x, weight, kernel_size, activation, batch, out); });
}
void CountingBackend::Multiply(Tensor x, Tensor y, Tensor out) {
  Count("Multiply", 0, {x.rows, x.cols}, [&] { inner_->Multiply(x, y, out); });
}
void CountingBackend::Add(Tensor x, Tensor y, Tensor out) {
  Count("Add", 0, {x.rows, x.cols}, [&] { inner_->Add(x, y, out); });
}
void CountingBackend::Activate(Tensor x, Activation activation, Tensor out) {
  Count("Activate", 0, {x.rows, x.cols}, [&] { inner_->Activate(x, activation, out); });
}
void CountingBackend::SelectRows(Tensor x, std::span<const int32_t> rows, Tensor out) {
  Count("SelectRows", 0, {out.rows, out.cols}, [&] { inner_->SelectRows(x, rows, out); });
}

}  // namespace peruse::bench
