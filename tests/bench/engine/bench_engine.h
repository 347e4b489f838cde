// Runs a model on token ids and measures times, without tokenizer and task. Replies are JSON, because JavaScript drives the engine: through
// Embind in wasm, through a pipe natively.
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

  // request: {"ids": [[...], ...]}, a batch of texts for the calls below. Unless it has "count": false, runs it once to count operations.
  Status SetBatch(std::string_view request);
  // Runs `calls` calls and returns averages: {"seconds", "threadSeconds", "flops"}. threadSeconds is processor time of the calling thread,
  // zero if the platform does not report it.
  Result<std::string> Run(int32_t calls);
  std::string Logits() const;
  // Returns one call by operation and shape: [{"operation", "calls", "flops", "seconds"}].
  Result<std::string> Profile();
  // Returns what this number of threads reaches in registers, measured for `seconds` each: {"float", "integer"}, each {"operations",
  // "seconds", "threadSeconds"}.
  Result<std::string> Peak(double seconds);

 private:
  Status RunModel();
  Status Count();

  const int32_t threads_;
  OpProfile counts_;
  double flops_ = 0;  // of a call
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ModelLoader> loader_;  // null after FinishWeights
  std::unique_ptr<Runner> model_;        // null before FinishWeights
  std::vector<std::vector<int32_t>> ids_;
  std::vector<ModelInput> inputs_;
};

}  // namespace peruse::bench
