// Processor time of one block of each kind, by text length (section 4 of the ConvBERT paper), on the CPU backend with one thread. A block
// maps [length, hidden] to [length, hidden], including output projection, residual and layer norm, but not feed-forward. Weights are
// random; times are medians.
//
//   blocks_bench [hidden 768] [heads 12] [kernel 9] [seconds per cell 0.2]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/bench/filled_program.h"

namespace peruse {
namespace {

constexpr int32_t kLengths[] = {16, 32, 64, 128, 256, 512};

struct Shape {
  int32_t hidden = 768;
  int32_t heads = 12;
  int32_t kernel = 9;
};

using Block = void (*)(FilledProgram& p, Value x, const Shape& s);

float Scale(const Shape& shape) { return 1.0f / std::sqrt(static_cast<float>(shape.hidden / shape.heads)); }

Value Linear(FilledProgram& p, Value x, int32_t in, int32_t out) {
  const Value result = p.New(out);
  p.Add(ops::Linear{.x = x, .weight = p.Linear({.in = in, .out = out}), .out = result});
  return result;
}

void Output(FilledProgram& p, Value context, Value x, const Shape& s) {
  const NormArgs norm = {p.Constant(1, s.hidden), p.Constant(1, s.hidden), 1e-12f};
  const LinearId weight = p.Linear({.in = s.hidden, .out = s.hidden});
  p.Add(ops::Linear{.x = context, .weight = weight, .residual = x, .norm = norm, .out = p.New(s.hidden)});
}

ops::Attention Attention(FilledProgram& p, Value x, const Shape& s) {
  const Value qkv = Linear(p, x, s.hidden, 3 * s.hidden);
  return {.query = p.Columns(qkv, 0, s.hidden),
          .key = p.Columns(qkv, s.hidden, s.hidden),
          .value = p.Columns(qkv, 2 * s.hidden, s.hidden),
          .heads = s.heads,
          .scale = Scale(s),
          .out = p.New(s.hidden)};
}

void SelfAttention(FilledProgram& p, Value x, const Shape& s) {
  const ops::Attention op = Attention(p, x, s);
  p.Add(op);
  Output(p, op.out, x, s);
}

// DeBERTa's attention: both position terms, from a folded table of 2 * 512 rows.
void Disentangled(FilledProgram& p, Value x, const Shape& s) {
  constexpr int32_t kReach = 512;
  ops::Attention op = Attention(p, x, s);
  op.position_key = p.Constant(2 * kReach, s.hidden);
  op.position_query = p.Constant(2 * kReach, s.hidden);
  op.slots = p.Slots({.rows = 2 * kReach});
  p.Add(op);
  Output(p, op.out, x, s);
}

// Wu et al.: a gated linear unit, then a convolution with fixed or predicted kernels.
void GatedConvolution(FilledProgram& p, Value x, const Shape& s, bool dynamic) {
  const Value projected = Linear(p, x, s.hidden, 2 * s.hidden);
  const Value gates = p.New(s.hidden);
  p.Add(ops::Activate{p.Columns(projected, s.hidden, s.hidden), Activation::kSigmoid, gates});
  const Value gated = p.New(s.hidden);
  p.Add(ops::Multiply{p.Columns(projected, 0, s.hidden), gates, gated});
  const Value convolved = p.New(s.hidden);
  if (dynamic) {
    const Value logits = Linear(p, gated, s.hidden, s.heads * s.kernel);
    p.Add(
        ops::SpanConv{.logits = logits, .values = gated, .heads = s.heads, .kernel_size = s.kernel, .out = convolved});
  } else {
    p.Add(ops::DepthwiseConv{gated, p.Constant(s.kernel, s.hidden), convolved});
  }
  Output(p, convolved, x, s);
}
void LightConvolution(FilledProgram& p, Value x, const Shape& s) { GatedConvolution(p, x, s, false); }
void DynamicConvolution(FilledProgram& p, Value x, const Shape& s) { GatedConvolution(p, x, s, true); }

// ConvBERT's convolution branch with `width` of the hidden size; attention has the remaining width.
void SpanConvolution(FilledProgram& p, Value x, const Shape& s, int32_t width) {
  const int32_t rest = s.hidden - width;
  const int32_t heads = s.heads * width / s.hidden;
  const Value projected = Linear(p, x, s.hidden, 2 * width + 2 * rest);  // query, conv_out, key, value
  const Value query = p.Columns(projected, 0, width);
  const Value mixed = p.New(s.hidden);
  const Value local = p.New(s.hidden);
  p.Add(ops::DepthwiseConv{x, p.Constant(s.kernel, s.hidden), local});
  const Value product = p.New(width);
  p.Add(ops::Linear{.x = local, .weight = p.Linear({.in = s.hidden, .out = width}), .factor = query, .out = product});
  p.Add(ops::SpanConv{.logits = Linear(p, product, width, heads * s.kernel),
                      .values = p.Columns(projected, width, width),
                      .heads = heads,
                      .kernel_size = s.kernel,
                      .out = p.Columns(mixed, rest, width)});
  if (rest > 0) {
    p.Add(ops::Attention{.query = query,
                         .key = p.Columns(projected, 2 * width, rest),
                         .value = p.Columns(projected, 2 * width + rest, rest),
                         .heads = s.heads - heads,
                         .scale = Scale(s),
                         .out = p.Columns(mixed, 0, rest)});
  }
  Output(p, mixed, x, s);
}
void WholeSpanConvolution(FilledProgram& p, Value x, const Shape& s) { SpanConvolution(p, x, s, s.hidden); }
void MixedAttention(FilledProgram& p, Value x, const Shape& s) { SpanConvolution(p, x, s, s.hidden / 2); }

struct Cell {
  double flops;
  double seconds;
};

Cell Measure(Backend& backend, Block block, int32_t length, const Shape& shape, double seconds) {
  FilledProgram program(backend, length);
  block(program, program.Tokens(shape.hidden), shape);
  const double flops = program.flops();
  std::vector<double> times;
  double total = 0;
  for (int run = 0; run < 4 || total < seconds; ++run) {
    const std::clock_t start = std::clock();
    program.Run();
    const double time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (run == 0) continue;  // the first run touches the memory
    times.push_back(time);
    total += time;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return {flops, times[times.size() / 2]};
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
  const std::pair<const char*, Block> blocks[] = {
      {"self-attention", SelfAttention},
      {"disentangled attention", Disentangled},
      {"lightweight convolution", LightConvolution},
      {"dynamic convolution", DynamicConvolution},
      {"span-based dynamic convolution", WholeSpanConvolution},
      {"mixed attention", MixedAttention},
  };
  std::printf("One block, hidden %d, %d heads, kernel %d: MFLOP and milliseconds\n%-32s", shape.hidden, shape.heads,
              shape.kernel, "tokens");
  for (const int32_t length : kLengths) std::printf("%18d", length);
  std::printf("\n");
  for (const auto& [name, block] : blocks) {
    std::printf("%-32s", name);
    for (const int32_t length : kLengths) {
      const std::unique_ptr<Backend> backend = CreateCpuBackend(1).value();  // and its weights go with it
      const Cell cell = Measure(*backend, block, length, shape, seconds);
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
