// Compares operations of the CPU backend with a loop of multiply-adds in registers, in turns, so that a busy machine slows both. One thread
// is measured in processor time, several threads in elapsed time.
//
//   kernels_bench [threads] [seconds] [filter]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/bench/clocks.h"
#include "tests/bench/engine/peak_loops.h"
#include "tests/bench/filled_program.h"

namespace peruse {
namespace {

using bench::CpuTime;
using bench::Median;
using bench::WallTime;

struct Measure {
  std::string name;
  double flops;  // of one call
  std::function<void()> call;
  std::vector<double> shares;  // of the peak, one for each turn
  std::vector<double> times;
};

class Bench {
 public:
  explicit Bench(Backend& backend) : backend_(backend) {}

  void AddLinear(int32_t rows, int32_t in, int32_t out, Activation activation, Precision precision = Precision::kF32) {
    const bool integers = precision == Precision::kQ8 || precision == Precision::kQ4;
    FilledProgram& p = New(rows);
    const LinearId weight = p.Linear({in, out, 1, precision, integers && in > out});
    p.Add(ops::Linear{.x = p.Tokens(in), .weight = weight, .activation = activation, .out = p.New(out)});
    Add("linear " + Shape({rows, in, out}) + (activation == Activation::kGelu ? " gelu" : "") +
        (precision == Precision::kQ8    ? " int8"
         : precision == Precision::kQ4  ? " int4"
         : precision == Precision::kF16 ? " half"
                                        : ""));
  }

  void AddNorm(int32_t rows, int32_t cols) {
    FilledProgram& p = New(rows);
    const NormArgs norm = {p.Constant(1, cols), p.Constant(1, cols), 1e-7f};
    p.Add(ops::LayerNorm{.x = p.Tokens(cols), .residual = p.Tokens(cols), .norm = norm, .out = p.New(cols)});
    Add("add norm " + Shape({rows, cols}));
  }

  // With DeBERTa v3's slots (256 buckets over 512), or without position terms.
  void AddAttention(int32_t length, int32_t heads, int32_t head_dim, bool positions) {
    const int32_t width = heads * head_dim;
    FilledProgram& p = New(length);
    ops::Attention op = {
        .query = p.Tokens(width), .key = p.Tokens(width), .value = p.Tokens(width), .heads = heads, .scale = 0.05f};
    if (positions) {
      op.position_key = p.Constant(512, width);
      op.position_query = p.Constant(512, width);
      op.slots = p.Slots({.rows = 512, .kind = indices::Slots::Buckets::kLog, .buckets = 256, .max_position = 512});
    }
    op.out = p.New(width);
    p.Add(op);
    Add((positions ? "disentangled " : "attention ") + Shape({length, heads, head_dim}));
  }

  void AddConvolutions(int32_t rows, int32_t width, int32_t heads, int32_t taps) {
    FilledProgram& depthwise = New(rows);
    depthwise.Add(ops::DepthwiseConv{depthwise.Tokens(width), depthwise.Constant(taps, width), depthwise.New(width)});
    Add("depthwise " + Shape({rows, width, taps}));
    FilledProgram& span = New(rows);
    span.Add(ops::SpanConv{.logits = span.Tokens(heads * taps),
                           .values = span.Tokens(width),
                           .heads = heads,
                           .kernel_size = taps,
                           .out = span.New(width)});
    Add("span conv " + Shape({rows, width, taps}));
  }

  void AddActivation(int32_t rows, int32_t cols, Activation activation, const char* name) {
    FilledProgram& p = New(rows);
    p.Add(ops::Activate{p.Tokens(cols), activation, p.New(cols)});
    Add(std::string(name) + " " + Shape({rows, cols}));
  }

  void Run(double seconds, int threads, const char* filter) {
    double (*const clock)() = threads == 1 ? CpuTime : WallTime;
    std::vector<float> sink = {0, 0, 0};
    std::erase_if(measures_, [&](const Measure& m) { return m.name.find(filter) == std::string::npos; });
    for (Measure& m : measures_) {
      for (int i = 0; i < 3; ++i) m.call();
    }
    for (int i = 0; i < 2000; ++i)
      bench::FloatPeakLoop(sink.data());  // until the optimising compiler has replaced the code
    std::vector<double> peaks;
    for (const double end = WallTime() + seconds; WallTime() < end;) {
      for (Measure& m : measures_) {
        const double peak = Peak(sink.data(), clock) * threads;
        // Repeats short calls, to exceed the resolution of the clock.
        const int calls = m.times.empty() ? 1 : std::clamp(static_cast<int>(2e-3 / m.times[0]), 1, 100);
        const double start = clock();
        for (int i = 0; i < calls; ++i) m.call();
        const double time = std::max(clock() - start, 1e-6) / calls;
        m.times.push_back(time);
        m.shares.push_back(m.flops / time / peak);
        peaks.push_back(peak);
      }
    }
    std::printf("peak, registers only, %d thread(s): %.1f GFLOP/s\n", threads, Median(peaks) / 1e9);
    std::printf("int8 peak, registers only: %.2f times that\n", Int8Peak(sink.data(), clock));
    for (const Measure& m : measures_) {
      std::printf("%-34s %9.1f us", m.name.c_str(), Median(m.times) * 1e6);
      if (m.flops > 0) {
        std::printf("  %7.1f GFLOP/s  %5.1f%% of peak", m.flops / Median(m.times) / 1e9, 100 * Median(m.shares));
      }
      std::printf("\n");
    }
  }

 private:
  static double Peak(float* sink, double (*clock)(), double (*loop)(float*) = bench::FloatPeakLoop) {
    double flops = 0;
    const double start = clock();
    for (int i = 0; i < 200; ++i) flops += loop(sink);
    return flops / (clock() - start);
  }

  // Relative to the floating-point loop, measured in turns with it.
  static double Int8Peak(float* sink, double (*clock)()) {
    for (int i = 0; i < 2000; ++i) bench::IntegerPeakLoop(sink);
    std::vector<double> ratios;
    for (int i = 0; i < 9; ++i) ratios.push_back(Peak(sink, clock, bench::IntegerPeakLoop) / Peak(sink, clock));
    return Median(ratios);
  }

  static std::string Shape(std::initializer_list<int32_t> sizes) {
    std::string text;
    for (int32_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
    return text;
  }

  FilledProgram& New(int32_t rows) {
    programs_.push_back(std::make_unique<FilledProgram>(backend_, rows));
    return *programs_.back();
  }

  // Adds the program that was begun last. Copying its inputs takes a part of the time.
  void Add(std::string name) {
    FilledProgram& program = *programs_.back();
    measures_.push_back({std::move(name), program.flops(), [&program] { program.Run(); }, {}, {}});
  }

  Backend& backend_;
  std::vector<Measure> measures_;
  std::vector<std::unique_ptr<FilledProgram>> programs_;
};

int Main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  const auto backend = CreateCpuBackend(threads).value();
  Bench bench(*backend);
  for (int32_t rows : {16, 128, 512}) {
    bench.AddLinear(rows, 768, 768, Activation::kNone);
    bench.AddLinear(rows, 768, 3072, Activation::kGelu);
    bench.AddLinear(rows, 3072, 768, Activation::kNone);
    bench.AddLinear(rows, 768, 3072, Activation::kGelu, Precision::kF16);
    for (const Precision precision : {Precision::kQ8, Precision::kQ4}) {
      bench.AddLinear(rows, 768, 768, Activation::kNone, precision);
      bench.AddLinear(rows, 1024, 3072, Activation::kNone, precision);
      bench.AddLinear(rows, 768, 3072, Activation::kGelu, precision);
      bench.AddLinear(rows, 3072, 768, Activation::kNone, precision);
    }
  }
  bench.AddLinear(1, 768, 768, Activation::kNone);
  for (int32_t hidden : {256, 384}) {  // the small shapes
    for (const Precision precision : {Precision::kF32, Precision::kQ8}) {
      bench.AddLinear(128, hidden, 4 * hidden, Activation::kGelu, precision);
      bench.AddLinear(128, hidden, 4 * hidden, Activation::kNone, precision);
      bench.AddLinear(128, 4 * hidden, hidden, Activation::kNone, precision);
      bench.AddLinear(128, hidden, hidden, Activation::kNone, precision);
    }
  }
  for (int32_t length : {32, 128, 512}) {
    bench.AddAttention(length, 12, 64, false);
    bench.AddAttention(length, 12, 64, true);
  }
  bench.AddNorm(128, 768);
  bench.AddConvolutions(128, 768, 6, 9);
  bench.AddActivation(128, 3072, Activation::kGelu, "gelu");
  bench.AddActivation(128, 3072, Activation::kTanh, "tanh");
  bench.Run(seconds, threads, argc > 3 ? argv[3] : "");
  return 0;
}

}  // namespace
}  // namespace peruse

int main(int argc, char** argv) { return peruse::Main(argc, argv); }
