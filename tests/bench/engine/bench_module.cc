#include <emscripten/bind.h>

#include <cstdlib>
#include <string>

#include "core/base/json_writer.h"
#include "tests/bench/engine/bench_engine.h"

namespace peruse::bench {
namespace {

std::string Answer(const Result<std::string>& result) {
  if (result.ok()) return *result;
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("error");
  writer.String(result.status().message());
  writer.EndObject();
  return json;
}

std::string Answer(const Status& status) { return status.ok() ? "{}" : Answer(Result<std::string>(status)); }

class Binding {
 public:
  explicit Binding(int threads) : engine_(threads) {}
  ~Binding() { std::free(staging_); }

  uintptr_t Reserve(uint32_t bytes) {
    std::free(staging_);
    staging_ = static_cast<uint8_t*>(std::malloc(bytes));
    return reinterpret_cast<uintptr_t>(staging_);
  }
  std::string Open(const std::string& request) { return Answer(engine_.Open(request)); }
  std::string FeedWeights(uint32_t bytes) { return Answer(engine_.FeedWeights({staging_, bytes})); }
  std::string FinishWeights() {
    Reserve(0);
    return Answer(engine_.FinishWeights());
  }
  std::string SetBatch(const std::string& request) { return Answer(engine_.SetBatch(request)); }
  std::string Run(int calls) { return Answer(engine_.Run(calls)); }
  std::string Logits() const { return engine_.Logits(); }
  std::string Profile() { return Answer(engine_.Profile()); }
  std::string Peak(double seconds) { return Answer(engine_.Peak(seconds)); }

 private:
  BenchEngine engine_;
  uint8_t* staging_ = nullptr;
};

EMSCRIPTEN_BINDINGS(peruse_bench) {
  emscripten::class_<Binding>("BenchEngine")
      .constructor<int>()
      .function("reserve", &Binding::Reserve)
      .function("open", &Binding::Open)
      .function("feedWeights", &Binding::FeedWeights)
      .function("finishWeights", &Binding::FinishWeights)
      .function("setBatch", &Binding::SetBatch)
      .function("run", &Binding::Run)
      .function("logits", &Binding::Logits)
      .function("profile", &Binding::Profile)
      .function("peak", &Binding::Peak);
}

}  // namespace
}  // namespace peruse::bench
