// How near the CPU backend's operations come to the machine: each against a loop of multiply-adds that stays in
// registers, measured in turns with it, so that a busy machine slows both. One thread is measured in processor time,
// several in elapsed time.
//
//   kernels_bench [threads] [seconds] [filter]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#endif

#include "core/backend/quantize.h"
#include "core/backend/xnnpack/xnnpack_backend.h"
#include "tests/bench/engine/peak_loops.h"

namespace peruse {
namespace {

double WallTime() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Seconds of processor time of this process: what others on the machine take does not count. In wasm this needs Node.
#if defined(__EMSCRIPTEN__)
EM_JS(double, CpuTime, (), {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) * 1e-6;
});
#else
double CpuTime() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
#endif

struct Measure {
  std::string name;
  double flops;  // of one call
  std::function<void()> call;
  std::vector<double> shares;  // of the peak, one for each turn
  std::vector<double> times;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<float> Noise(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / (1 << 23) - 1;
  }
  return values;
}

class Bench {
 public:
  explicit Bench(Backend& backend) : backend_(backend) { backend_.BeginRun(); }

  void AddLinear(int32_t rows, int32_t in, int32_t out, Activation activation, Precision precision = Precision::kF32) {
    const bool int8 = precision == Precision::kQ8;
    const Weight weight = backend_.CreateLinear({in, out, 1, precision, int8 && in > out}).value();
    if (!(int8 ? WriteInt8(weight) : backend_.WriteLinear(weight, 0, Noise(int64_t{in} * out))).ok()) std::abort();
    const Tensor x = Input(rows, in);
    const Tensor y = backend_.New(rows, out);
    Add("linear " + Shape({rows, in, out}) + (activation == Activation::kGelu ? " gelu" : "") +
            (int8 ? " int8" : precision == Precision::kF16 ? " half" : ""),
        2.0 * rows * in * out, [=, this] { backend_.Linear(x, weight, activation, y); });
  }

  void AddNorm(int32_t rows, int32_t cols) {
    const Norm norm{Input(1, cols), Input(1, cols), 1e-7f};
    const Tensor x = Input(rows, cols);
    const Tensor y = Input(rows, cols);
    const Tensor out = backend_.New(rows, cols);
    Add("add norm " + Shape({rows, cols}), 0, [=, this] { backend_.AddNorm(x, y, norm, out); });
  }

  // With DeBERTa v3's slots (256 buckets over 512) or without position terms.
  void AddAttention(int32_t length, int32_t heads, int32_t head_dim, bool positions) {
    const int32_t width = heads * head_dim;
    AttentionArgs args;
    args.query = Input(length, width);
    args.key = Input(length, width);
    args.value = Input(length, width);
    args.heads = heads;
    args.scale = 0.05f;
    const Tensor out = backend_.New(length, width);
    RaggedBatch batch;
    batch.Append(length);
    RelativePositions relative;
    int32_t slots_met = 0;
    if (positions) {
      slots_.push_back(LogBuckets(length));
      relative.slots = slots_.back();
      relative.reach = length;
      relative.position_key = Input(512, width);
      relative.position_query = Input(512, width);
      slots_met = std::min(length, 256 + (length - 128) / 2);  // about what one query meets
    }
    const double flops = 2.0 * length * width * (2.0 * length + 2.0 * slots_met);
    Add((positions ? "disentangled " : "attention ") + Shape({length, heads, head_dim}), flops, [=, this] {
      if (positions) backend_.DisentangledAttention(args, relative, batch, out);
      if (!positions) backend_.Attention(args, batch, out);
    });
  }

  void AddConvolutions(int32_t rows, int32_t width, int32_t heads, int32_t taps) {
    RaggedBatch batch;
    batch.Append(rows);
    const Tensor x = Input(rows, width);
    const Tensor kernel = Input(taps, width);
    const Tensor out = backend_.New(rows, width);
    Add("depthwise " + Shape({rows, width, taps}), 2.0 * rows * width * taps,
        [=, this] { backend_.DepthwiseConv(x, kernel, batch, out); });
    const Tensor logits = Input(rows, heads * taps);
    Add("span conv " + Shape({rows, width, taps}), 2.0 * rows * width * taps,
        [=, this] { backend_.SpanConv(logits, x, heads, batch, out, Tensor()); });
  }

  void AddActivation(int32_t rows, int32_t cols, Activation activation, const char* name) {
    const Tensor x = Input(rows, cols);
    const Tensor out = backend_.New(rows, cols);
    Add(std::string(name) + " " + Shape({rows, cols}), 0, [=, this] { backend_.Activate(x, activation, out); });
  }

  void Run(double seconds, int threads, const char* filter) {
    double (*const clock)() = threads == 1 ? CpuTime : WallTime;
    std::vector<float> sink = {0, 0, 0};
    std::erase_if(measures_, [&](const Measure& m) { return m.name.find(filter) == std::string::npos; });
    for (Measure& m : measures_) {
      for (int i = 0; i < 3; ++i) m.call();
    }
    for (int i = 0; i < 2000; ++i) bench::FloatPeakLoop(sink.data());  // until the optimising compiler has replaced it
    std::vector<double> peaks;
    for (const double end = WallTime() + seconds; WallTime() < end;) {
      for (Measure& m : measures_) {
        const double peak = Peak(sink.data(), clock) * threads;
        // Short calls are repeated, to be long against the clock's step.
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

  static std::vector<int32_t> LogBuckets(int32_t reach) {
    std::vector<int32_t> slots;
    for (int32_t distance = -(reach - 1); distance < reach; ++distance) {
      const double size = std::abs(distance);
      const double log = std::ceil(std::log(size / 128) / std::log(511.0 / 128) * 127) + 128;
      const int32_t bucket = size <= 128 ? distance : static_cast<int32_t>(distance < 0 ? -log : log);
      slots.push_back(std::clamp(bucket + 256, 0, 511));
    }
    return slots;
  }

  Tensor Input(int32_t rows, int32_t cols) {
    const Tensor tensor = backend_.New(rows, cols);
    backend_.Upload(Noise(int64_t{rows} * cols), tensor);
    return tensor;
  }

  void Add(std::string name, double flops, std::function<void()> call) {
    measures_.push_back({std::move(name), flops, std::move(call), {}, {}});
  }

  Status WriteInt8(Weight weight) {
    const std::vector<float> noise = Noise(int64_t{weight.in} * weight.out);
    std::vector<int8_t> rows(noise.size());
    const float scale = QuantizeRow(std::span<const float>(noise), kWeightLevels, rows.data());
    PERUSE_RETURN_IF_ERROR(
        backend_.WriteScales(weight, 0, std::vector<float>(static_cast<size_t>(weight.out), scale)));
    return backend_.WriteInt8(weight, 0, rows);
  }

  Backend& backend_;
  std::vector<Measure> measures_;
  std::vector<std::vector<int32_t>> slots_;
};

int Main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  const auto backend = CreateXnnpackBackend(threads).value();
  Bench bench(*backend);
  // A layer of DeBERTa v3 base, at several lengths.
  for (int32_t rows : {16, 128, 512}) {
    bench.AddLinear(rows, 768, 768, Activation::kNone);
    bench.AddLinear(rows, 768, 3072, Activation::kGelu);
    bench.AddLinear(rows, 3072, 768, Activation::kNone);
    bench.AddLinear(rows, 768, 3072, Activation::kGelu, Precision::kF16);
    bench.AddLinear(rows, 768, 768, Activation::kNone, Precision::kQ8);
    bench.AddLinear(rows, 768, 3072, Activation::kGelu, Precision::kQ8);
    bench.AddLinear(rows, 3072, 768, Activation::kNone, Precision::kQ8);
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
