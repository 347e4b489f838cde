// A model that is run on token ids and timed: the same core as shipped, without tokenizer and task. Every answer is JSON text,
// because the engine is driven from JavaScript, through Embind in wasm and through a pipe natively.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/model/model_loader.h"
#include "core/model/runner.h"
#include "tests/bench/engine/profile.h"

namespace peruse::bench {

class BenchEngine {
 public:
  explicit BenchEngine(int32_t threads) : threads_(threads) {}

  // request: {"config": {...}, "task": string, "dtype": "f32" | "f16" | "q8"}
  Status Open(std::string_view request);
  Status FeedWeights(std::span<const uint8_t> chunk);
  Result<std::string> FinishWeights();  // {"weightBytes"}

  // request: {"ids": [[...], ...]}, a batch of texts for the calls below. Runs it once to count its operations, unless it has "count": false.
  Status SetBatch(std::string_view request);
  // So many calls in a row: {"seconds", "threadSeconds", "flops"}, of one of them on average. threadSeconds is processor time
  // of the calling thread, zero where the platform does not tell.
  Result<std::string> Run(int32_t calls);
  std::string Logits() const;
  // One call, by operation and shape: [{"operation", "calls", "flops", "seconds"}].
  Result<std::string> Profile();
  // What as many threads of this machine reach in registers, measured for `seconds` each:
  // {"float", "integer"}, each {"operations", "seconds", "threadSeconds"}.
  Result<std::string> Peak(double seconds);

 private:
  Status RunModel();
  Status Count();

  const int32_t threads_;
  OpProfile counts_;
  double flops_ = 0;  // of a call
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ModelLoader> loader_;  // until FinishWeights
  std::unique_ptr<Runner> model_;        // from then on
  std::vector<std::vector<int32_t>> ids_;
  std::vector<ModelInput> inputs_;
};

}  // namespace peruse::bench
