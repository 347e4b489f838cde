// The tokenizer as a wasm module, which run.mjs compares with the JavaScript library. It holds one tokenizer.
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/text/tokenizer.h"

namespace {

std::unique_ptr<peruse::text::Tokenizer> tokenizer;

}  // namespace

extern "C" {

double bench_allocated() { return static_cast<double>(mallinfo().uordblks); }

void bench_unload() { tokenizer.reset(); }

// Reads a tokenizer.json; returns false if it is rejected.
bool bench_load(const char* json, size_t json_bytes, const char* config, size_t config_bytes) {
  const peruse::text::TokenizerFiles files = {{"tokenizer.json", std::string_view(json, json_bytes)},
                                              {"tokenizer_config.json", std::string_view(config, config_bytes)}};
  auto made = peruse::text::Tokenizer::Create(files);
  if (made.ok()) tokenizer = std::move(*made);
  return made.ok();
}

// Returns the number of tokens of `text`, or -1; their ids are at bench_ids() until the next call.
std::vector<int32_t> ids;

int32_t bench_encode(const char* text, size_t bytes) {
  auto windows = tokenizer->Encode(std::string_view(text, bytes));
  if (!windows.ok()) return -1;
  ids = std::move((*windows)[0].ids);
  return static_cast<int32_t>(ids.size());
}

const int32_t* bench_ids() { return ids.data(); }

}  // extern "C"
