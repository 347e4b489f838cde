// What one block of each kind costs, by length: the comparison of the ConvBERT paper (section 4), on the CPU backend with
// one thread. A block maps [length, hidden] to [length, hidden], output projection, residual and layer norm included, feed-
// forward not. Weights are random; time is the median of repeated runs, in processor time.
//
//   blocks_bench [hidden 768] [heads 12] [kernel 9] [seconds per cell 0.2]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "core/backend/xnnpack/xnnpack_backend.h"

namespace peruse {
namespace {

constexpr int32_t kLengths[] = {16, 32, 64, 128, 256, 512};

struct Shape {
  int32_t hidden = 768;
  int32_t heads = 12;
  int32_t kernel = 9;
};

// A backend that counts multiply-adds (two operations each) of the products and convolutions it runs.
class Counter {
 public:
  explicit Counter(Backend& backend) : backend_(backend) {}

  Backend& backend() { return backend_; }
  double flops = 0;

  Weight NewWeight(int32_t in, int32_t out) {
    const Weight weight = backend_.CreateLinear({.in = in, .out = out}).value();
    if (!backend_.WriteLinear(weight, 0, Random(static_cast<int64_t>(in) * out)).ok()) std::abort();
    return weight;
  }
  Tensor NewConstant(int32_t rows, int32_t cols) {
    const Tensor constant = backend_.CreateConstant(rows, cols).value();
    if (!backend_.WriteConstant(constant, 0, Random(static_cast<int64_t>(rows) * cols)).ok()) std::abort();
    return constant;
  }

  Tensor Linear(Tensor x, Weight weight) {
    flops += 2.0 * x.rows * weight.in * weight.out;
    const Tensor out = backend_.New(x.rows, weight.out);
    backend_.Linear(x, weight, Activation::kNone, out);
    return out;
  }
  void Output(Tensor x, Weight weight, Tensor residual, const Norm& norm, Tensor out) {
    flops += 2.0 * x.rows * weight.in * weight.out;
    backend_.LinearAddNorm(x, weight, residual, norm, out);
  }
  // scores and context; with position terms, one more product of the scores' size for each
  void CountAttention(int32_t length, int32_t width, int32_t position_terms) {
    flops += 2.0 * length * length * width * (2 + position_terms);
  }
  void CountConvolution(int32_t length, int32_t width, int32_t kernel) { flops += 2.0 * length * width * kernel; }

 private:
  std::vector<float> Random(int64_t size) {
    std::vector<float> values(static_cast<size_t>(size));
    for (float& value : values) {
      state_ = state_ * 1664525u + 1013904223u;
      value = (static_cast<float>(state_ >> 8) / (1 << 24) - 0.5f) * 0.1f;
    }
    return values;
  }

  Backend& backend_;
  uint32_t state_ = 1;
};

using Block = std::function<void(Counter&, Tensor x, const RaggedBatch&, Tensor out)>;

Norm NewNorm(Counter& counter, int32_t width) {
  return {counter.NewConstant(1, width), counter.NewConstant(1, width), 1e-12f};
}

float Scale(const Shape& shape) { return 1.0f / std::sqrt(static_cast<float>(shape.hidden / shape.heads)); }

// BERT's: query, key, value at full width.
Block SelfAttention(Counter& setup, const Shape& s) {
  const Weight qkv = setup.NewWeight(s.hidden, 3 * s.hidden);
  const Weight output = setup.NewWeight(s.hidden, s.hidden);
  const Norm norm = NewNorm(setup, s.hidden);
  return [=](Counter& counter, Tensor x, const RaggedBatch& batch, Tensor out) {
    const Tensor p = counter.Linear(x, qkv);
    const Tensor context = counter.backend().New(x.rows, s.hidden);
    counter.backend().Attention({p.Columns(0, s.hidden), p.Columns(s.hidden, s.hidden),
                                 p.Columns(2 * s.hidden, s.hidden), s.heads, Scale(s), Tensor()},
                                batch, context);
    counter.CountAttention(x.rows, s.hidden, 0);
    counter.Output(context, output, x, norm, out);
  };
}

// DeBERTa's: both position terms, from a folded table of 2 * 512 rows.
Block Disentangled(Counter& setup, const Shape& s) {
  constexpr int32_t kReach = 512;
  const Weight qkv = setup.NewWeight(s.hidden, 3 * s.hidden);
  const Weight output = setup.NewWeight(s.hidden, s.hidden);
  const Norm norm = NewNorm(setup, s.hidden);
  const Tensor position_key = setup.NewConstant(2 * kReach, s.hidden);
  const Tensor position_query = setup.NewConstant(2 * kReach, s.hidden);
  std::vector<int32_t> slots(2 * kReach);
  std::iota(slots.begin(), slots.end(), 0);
  return [=](Counter& counter, Tensor x, const RaggedBatch& batch, Tensor out) {
    const Tensor p = counter.Linear(x, qkv);
    const Tensor context = counter.backend().New(x.rows, s.hidden);
    const size_t reach = static_cast<size_t>(x.rows);
    const RelativePositions positions = {
        position_key, position_query, std::span<const int32_t>(slots).subspan(kReach - reach, 2 * reach - 1), x.rows};
    counter.backend().DisentangledAttention({p.Columns(0, s.hidden), p.Columns(s.hidden, s.hidden),
                                             p.Columns(2 * s.hidden, s.hidden), s.heads, Scale(s), Tensor()},
                                            positions, batch, context);
    counter.CountAttention(x.rows, s.hidden, 2 * 2);  // 2 * length - 1 rows in use for each term
    counter.Output(context, output, x, norm, out);
  };
}

// Wu et al.: gated linear unit, then a convolution with fixed or predicted kernels.
Block GatedConvolution(Counter& setup, const Shape& s, bool dynamic) {
  const Weight in_proj = setup.NewWeight(s.hidden, 2 * s.hidden);
  const Weight kernel = dynamic ? setup.NewWeight(s.hidden, s.heads * s.kernel) : Weight();
  const Tensor taps = dynamic ? Tensor() : setup.NewConstant(s.kernel, s.hidden);
  const Weight output = setup.NewWeight(s.hidden, s.hidden);
  const Norm norm = NewNorm(setup, s.hidden);
  return [=](Counter& counter, Tensor x, const RaggedBatch& batch, Tensor out) {
    Backend& backend = counter.backend();
    const Tensor p = counter.Linear(x, in_proj);
    const Tensor gates = backend.New(x.rows, s.hidden);
    backend.Activate(p.Columns(s.hidden, s.hidden), Activation::kSigmoid, gates);
    const Tensor gated = backend.New(x.rows, s.hidden);
    backend.Multiply(p.Columns(0, s.hidden), gates, gated);
    const Tensor convolved = backend.New(x.rows, s.hidden);
    if (dynamic) {
      backend.SpanConv(counter.Linear(gated, kernel), gated, s.heads, batch, convolved, Tensor());
    } else {
      backend.DepthwiseConv(gated, taps, batch, convolved);
    }
    counter.CountConvolution(x.rows, s.hidden, s.kernel);
    counter.Output(convolved, output, x, norm, out);
  };
}

// ConvBERT's convolution branch at `width` of the hidden size, and beside it attention with the rest.
Block SpanConvolution(Counter& setup, const Shape& s, int32_t width) {
  const int32_t rest = s.hidden - width;
  const int32_t heads = s.heads * width / s.hidden;
  const Weight projection = setup.NewWeight(s.hidden, 2 * width + 2 * rest);  // query, conv_out, key, value
  const Tensor depthwise = setup.NewConstant(s.kernel, s.hidden);
  const Weight pointwise = setup.NewWeight(s.hidden, width);
  const Weight kernel = setup.NewWeight(width, heads * s.kernel);
  const Weight output = setup.NewWeight(s.hidden, s.hidden);
  const Norm norm = NewNorm(setup, s.hidden);
  return [=](Counter& counter, Tensor x, const RaggedBatch& batch, Tensor out) {
    Backend& backend = counter.backend();
    const Tensor p = counter.Linear(x, projection);
    const Tensor query = p.Columns(0, width);
    const Tensor mixed = backend.New(x.rows, s.hidden);
    if (rest > 0) {
      backend.Attention(
          {query, p.Columns(2 * width, rest), p.Columns(2 * width + rest, rest), s.heads - heads, Scale(s), Tensor()},
          batch, mixed.Columns(0, rest));
      counter.CountAttention(x.rows, rest, 0);
    }
    const Tensor local = backend.New(x.rows, s.hidden);
    backend.DepthwiseConv(x, depthwise, batch, local);
    counter.CountConvolution(x.rows, s.hidden, s.kernel);
    const Tensor product = backend.New(x.rows, width);
    backend.Multiply(counter.Linear(local, pointwise), query, product);
    backend.SpanConv(counter.Linear(product, kernel), p.Columns(width, width), heads, batch, mixed.Columns(rest, width),
                     Tensor());
    counter.CountConvolution(x.rows, width, s.kernel);
    counter.Output(mixed, output, x, norm, out);
  };
}

struct Cell {
  double flops;
  double seconds;
};

Cell Measure(Counter& counter, const Block& block, int32_t length, int32_t hidden, double seconds) {
  Backend& backend = counter.backend();
  const std::vector<float> values(static_cast<size_t>(length) * static_cast<size_t>(hidden), 0.5f);
  RaggedBatch batch;
  batch.Append(length);
  std::vector<double> times;
  double total = 0;
  for (int run = 0; run < 4 || total < seconds; ++run) {
    backend.BeginRun();
    Scope scope(backend);
    const Tensor x = backend.New(length, hidden);
    backend.Upload(values, x);
    const Tensor out = backend.New(length, hidden);
    counter.flops = 0;
    const std::clock_t start = std::clock();
    block(counter, x, batch, out);
    const double time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (!backend.Submit().ok()) std::abort();
    if (run == 0) continue;  // first touch of the memory
    times.push_back(time);
    total += time;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return {counter.flops, times[times.size() / 2]};
}

int Main(int argc, char** argv) {
  Shape shape;
  if (argc > 1) shape.hidden = std::atoi(argv[1]);
  if (argc > 2) shape.heads = std::atoi(argv[2]);
  if (argc > 3) shape.kernel = std::atoi(argv[3]);
  const double seconds = argc > 4 ? std::atof(argv[4]) : 0.2;
  const bool sound = shape.hidden > 0 && shape.heads > 1 && shape.kernel > 0 && shape.kernel % 2 == 1 &&
                     shape.heads % 2 == 0 && shape.hidden % shape.heads == 0;
  if (!sound) {
    std::fprintf(stderr, "usage: blocks_bench [hidden] [even heads that divide it] [odd kernel] [seconds]\n");
    return 2;
  }
  const std::unique_ptr<Backend> backend = CreateXnnpackBackend(1).value();
  Counter counter(*backend);
  const std::pair<const char*, Block> blocks[] = {
      {"self-attention", SelfAttention(counter, shape)},
      {"disentangled attention", Disentangled(counter, shape)},
      {"lightweight convolution", GatedConvolution(counter, shape, false)},
      {"dynamic convolution", GatedConvolution(counter, shape, true)},
      {"span-based dynamic convolution", SpanConvolution(counter, shape, shape.hidden)},
      {"mixed attention", SpanConvolution(counter, shape, shape.hidden / 2)},
  };
  std::printf("One block, hidden %d, %d heads, kernel %d: MFLOP and milliseconds\n%-32s", shape.hidden, shape.heads,
              shape.kernel, "tokens");
  for (const int32_t length : kLengths) std::printf("%18d", length);
  std::printf("\n");
  for (const auto& [name, block] : blocks) {
    std::printf("%-32s", name);
    for (const int32_t length : kLengths) {
      const Cell cell = Measure(counter, block, length, shape.hidden, seconds);
      std::printf("%9.0f %8.2f", cell.flops * 1e-6, cell.seconds * 1e3);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  return 0;
}

}  // namespace
}  // namespace peruse

int main(int argc, char** argv) { return peruse::Main(argc, argv); }
