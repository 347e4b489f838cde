#include "core/program/flops.h"

#include <algorithm>
#include <functional>

#include "core/base/sort.h"

namespace peruse {
namespace {

struct Run {
  const Program& program;
  const RaggedBatch& batch;
  const Sizes& sizes;
  std::span<const std::span<const int32_t>> indices;

  double rows(Value value) const { return static_cast<double>(sizes(program.info(value).rows)); }
  double cols(Value value) const { return static_cast<double>(program.info(value).cols.factor); }
  double Product(Value x, LinearId weight) const {
    const LinearSpec& spec = program.linears[static_cast<size_t>(weight.id)];
    return 2.0 * rows(x) * spec.in / spec.groups * spec.out;
  }
  double Convolution(Value x, int32_t taps) const { return 2.0 * rows(x) * cols(x) * taps; }
};

template <typename AnyOp>
double Cost(const AnyOp&, const Run&) {
  return 0;
}

double Cost(const ops::Linear& op, const Run& run) {
  const LinearSpec& spec = run.program.linears[static_cast<size_t>(op.weight.id)];
  return run.Product(op.x, op.weight) * run.cols(op.out) / spec.out;
}
double Cost(const ops::Experts& op, const Run& run) {
  return run.Product(op.x, op.weight) * op.chosen / run.cols(op.router);
}
double Cost(const ops::Conv1d& op, const Run& run) { return run.Product(op.x, op.weight); }
double Cost(const ops::DepthwiseConv& op, const Run& run) {
  return run.Convolution(op.x, run.program.info(op.taps).rows.factor);
}
double Cost(const ops::SpanConv& op, const Run& run) {
  const double logits = op.weight.valid() ? run.Product(op.logits, op.weight) : 0;
  return logits + run.Convolution(op.values, op.kernel_size);
}

// Counts scores and contexts for the keys within the window. Each position term multiplies every row by every slot that the text can reach.
double Cost(const ops::Attention& op, const Run& run) {
  const int terms = (op.position_key.valid() ? 1 : 0) + (op.position_query.valid() ? 1 : 0);
  double flops = 0;
  for (int32_t s = 0; s < run.batch.sequences(); ++s) {
    const int32_t length = run.batch.length(s);
    double pairs = 0;
    for (int32_t i = 0; i < length; ++i) pairs += op.EndKey(i, length) - op.FirstKey(i);
    flops += 4.0 * pairs * run.cols(op.query);
    if (terms == 0) continue;
    const std::span<const int32_t> slots = run.indices[static_cast<size_t>(op.slots.id)];
    const auto met =
        slots.subspan(static_cast<size_t>(run.batch.longest() - length), 2 * static_cast<size_t>(length) - 1);
    std::vector<int32_t> distinct(met.begin(), met.end());
    HeapSort(distinct.begin(), distinct.end(), std::less());
    const auto end = std::unique(distinct.begin(), distinct.end());
    flops += terms * 2.0 * length * static_cast<double>(end - distinct.begin()) * run.cols(op.query);
  }
  return flops;
}

double Cost(const ops::MatMul& op, const Run& run) { return 2.0 * run.rows(op.x) * run.cols(op.x) * run.rows(op.y); }
double Cost(const ops::Lstm& op, const Run& run) {
  return 8.0 * run.rows(op.out) * run.cols(op.out) * run.cols(op.out);
}
double Cost(const ops::CrossAttention& op, const Run& run) {
  return 2.0 * run.rows(op.query) * run.rows(op.key) * (run.cols(op.query) + run.cols(op.value));
}

}  // namespace

double Flops(const Program& program, const Op& op, const RaggedBatch& batch, const Sizes& sizes,
             std::span<const std::span<const int32_t>> indices) {
  const Run run = {program, batch, sizes, indices};
  return std::visit([&](const auto& o) { return Cost(o, run); }, op);
}

}  // namespace peruse
