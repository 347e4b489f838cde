#include "tests/bench/engine/bench_engine.h"

#include <chrono>
#include <ctime>
#include <utility>

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#endif

#include "core/api/run.h"
#include "core/backend/cpu/cpu_backend.h"
#include "core/base/json.h"
#include "core/base/json_writer.h"
#include "core/cpu/int8_gemm.h"
#include "core/cpu/thread_pool.h"
#include "tests/bench/engine/peak_loops.h"

namespace peruse::bench {
namespace {

double WallTime() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Processor time of this thread in seconds; zero if the platform does not report it.
#if defined(__EMSCRIPTEN__)
// clang-format off: this is JavaScript
EM_JS(double, ThreadTime, (), {
  if (typeof process !== "object" || !process.threadCpuUsage) return 0;
  const usage = process.threadCpuUsage();
  return (usage.user + usage.system) * 1e-6;
});
// clang-format on
#else
double ThreadTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
#endif

struct Moment {
  double wall = WallTime();
  double thread = ThreadTime();
};

Result<Precision> ParsePrecision(std::string_view name) {
  if (name == "f32") return Precision::kF32;
  if (name == "f16") return Precision::kF16;
  if (name == "q8") return Precision::kQ8;
  return InvalidArgument("no dtype \"" + std::string(name) + "\"");
}

std::string NumbersJson(std::initializer_list<std::pair<std::string_view, double>> numbers) {
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  for (const auto& [name, value] : numbers) {
    writer.Key(name);
    writer.Double(value);
  }
  writer.EndObject();
  return json;
}

}  // namespace

Status BenchEngine::Open(std::string_view request) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, "the request"));
  ModelOptions options;
  PERUSE_ASSIGN_OR_RETURN(const TaskNeeds needs,
                          NeedsOfTask(document.root().FindMember("task").GetString().value_or("")));
  options.head = needs.head;
  PERUSE_ASSIGN_OR_RETURN(options.precision,
                          ParsePrecision(document.root().FindMember("dtype").GetString().value_or("")));
  model_.reset();
  loader_.reset();
  PERUSE_ASSIGN_OR_RETURN(backend_, CreateCpuBackend(threads_));
  PERUSE_ASSIGN_OR_RETURN(loader_,
                          ModelLoader::Create(document.root().FindMember("config").ToString(), options, *backend_));
  return OkStatus();
}

Status BenchEngine::FeedWeights(std::span<const uint8_t> chunk) {
  if (!loader_) return InvalidArgument("no model is open");
  return loader_->Feed(chunk);
}

Result<std::string> BenchEngine::FinishWeights() {
  if (!loader_) return InvalidArgument("no model is open");
  PERUSE_ASSIGN_OR_RETURN(const std::shared_ptr<const LoadedModel> model, loader_->Finish());
  loader_.reset();
  model_ = CreateRunner(model);
  return NumbersJson({{"weightBytes", static_cast<double>(model->report.weight_bytes)}});
}

Status BenchEngine::SetBatch(std::string_view request) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, "the request"));
  ids_.clear();
  for (const JsonValue text : document.root().FindMember("ids")) {
    std::vector<int32_t>& ids = ids_.emplace_back();
    for (const JsonValue id : text) ids.push_back(static_cast<int32_t>(id.GetInt64().value_or(-1)));
  }
  inputs_.clear();
  for (const std::vector<int32_t>& ids : ids_) inputs_.push_back({ids, {}});
  counts_.Clear();
  if (document.root().FindMember("count").GetBool().value_or(true)) PERUSE_RETURN_IF_ERROR(Count());
  flops_ = counts_.flops();
  return OkStatus();
}

Status BenchEngine::RunModel() {
  if (!model_) return InvalidArgument("no model is open");
  PERUSE_RETURN_IF_ERROR(model_->Begin(inputs_));
  return model_->Finish();
}

// A call with an observer; timed calls do not have one.
Status BenchEngine::Count() {
  if (!model_) return InvalidArgument("no model is open");
  counts_.Clear();
  backend_->set_observer(&counts_);
  const Status status = RunModel();
  backend_->set_observer(nullptr);
  return status;
}

Result<std::string> BenchEngine::Run(int32_t calls) {
  if (calls < 1) return InvalidArgument("no calls were asked for");
  const Moment start;
  for (int32_t i = 0; i < calls; ++i) PERUSE_RETURN_IF_ERROR(RunModel());
  const Moment end;
  return NumbersJson({{"seconds", (end.wall - start.wall) / calls},
                      {"threadSeconds", (end.thread - start.thread) / calls},
                      {"flops", flops_}});
}

std::string BenchEngine::Logits() const {
  const ModelOutput logits = model_->output(kLogits);
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("rows");
  writer.Int(logits.row_count());
  writer.Key("cols");
  writer.Int(logits.cols);
  writer.Key("values");
  writer.BeginArray();
  for (const float value : logits.values) writer.Double(value);
  writer.EndArray();
  writer.EndObject();
  return json;
}

Result<std::string> BenchEngine::Profile() {
  const double start = WallTime();
  PERUSE_RETURN_IF_ERROR(Count());
  const double seconds = WallTime() - start;
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("seconds");
  writer.Double(seconds);
  writer.Key("operations");
  writer.BeginArray();
  for (const auto& [name, entry] : counts_.entries()) {
    writer.BeginObject();
    writer.Key("operation");
    writer.String(name);
    writer.Key("calls");
    writer.Int(entry.calls);
    writer.Key("flops");
    writer.Double(entry.flops);
    writer.Key("seconds");
    writer.Double(entry.seconds);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  return json;
}

Result<std::string> BenchEngine::Peak(double seconds) {
  PERUSE_ASSIGN_OR_RETURN(const cpu::ThreadPool pool, cpu::ThreadPool::Create(threads_));
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  const auto measure = [&](std::string_view name, double (*loop)(float*)) {
    constexpr int kRepeats = 20;
    float sink[16] = {};
    const double operations = loop(sink) * kRepeats * threads_;
    double done = 0;
    const Moment start;
    do {
      pool.For(threads_, [&](int32_t, int64_t) {
        float own_sink[16] = {};
        for (int i = 0; i < kRepeats; ++i) loop(own_sink);
      });
      done += operations;
    } while (WallTime() - start.wall < seconds);
    const Moment end;
    writer.Key(name);
    writer.BeginObject();
    writer.Key("operations");
    writer.Double(done);
    writer.Key("seconds");
    writer.Double(end.wall - start.wall);
    writer.Key("threadSeconds");
    writer.Double(end.thread - start.thread);
    writer.EndObject();
  };
  measure("float", FloatPeakLoop);
  measure("integer", IntegerPeakLoop);
#if defined(__wasm_relaxed_simd__)
  if (cpu::ChosenInt8Path() != cpu::Int8Path::kI16) {
    measure("byte", BytePeakLoop);
    measure("loadedByte", LoadedBytePeakLoop);
  }
#endif
  writer.EndObject();
  return json;
}

}  // namespace peruse::bench
