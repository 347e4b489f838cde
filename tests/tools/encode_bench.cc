// encode_bench: how long a tokenizer takes to load and to encode the lines of a text file, best of several rounds.
//
// Usage: encode_bench <text file> tokenizer.json=<path> [tokenizer_config.json=<path> ...]
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "core/tokenizer/tokenizer.h"

namespace {

bool ReadFile(const char* path, std::string* out) {
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) out->append(buffer, n);
  std::fclose(file);
  return true;
}

// Processor time: the work is single-threaded, and other programs on the machine should not count.
double Seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Seconds for all of `texts` and the number of tokens.
double EncodeAll(const peruse::Tokenizer& tokenizer, const std::vector<std::string_view>& texts, size_t* tokens) {
  const double start = Seconds();
  *tokens = 0;
  for (const std::string_view text : texts) {
    const auto windows = tokenizer.Encode(text);
    if (windows.ok()) *tokens += (*windows)[0].size();
  }
  return Seconds() - start;
}

}  // namespace

int main(int argc, char** argv) {
  std::string text;
  if (argc < 3 || !ReadFile(argv[1], &text)) return 2;
  std::vector<std::string> contents(static_cast<size_t>(argc));
  peruse::TokenizerFiles files;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (equals == std::string::npos || !ReadFile(argv[i] + equals + 1, &contents[static_cast<size_t>(i)])) return 2;
    files[argument.substr(0, equals)] = contents[static_cast<size_t>(i)];
  }
  double load = 1e9;
  auto tokenizer = peruse::Tokenizer::Create(files);
  for (int round = 0; round < 3; ++round) {
    const double start = Seconds();
    tokenizer = peruse::Tokenizer::Create(files);
    load = std::min(load, Seconds() - start);
  }
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().message().c_str());
    return 1;
  }
  std::vector<std::string_view> lines;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(std::string_view(text).substr(start, end - start));
    start = end + 1;
  }
  double by_line = 1e9, at_once = 1e9;
  size_t tokens = 0, whole_tokens = 0;
  for (int round = 0; round < 5; ++round) {
    by_line = std::min(by_line, EncodeAll(**tokenizer, lines, &tokens));
    at_once = std::min(at_once, EncodeAll(**tokenizer, {std::string_view(text)}, &whole_tokens));
  }
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf("{\"load_ms\":%.2f,\"lines_mb_per_s\":%.2f,\"whole_mb_per_s\":%.2f,\"tokens\":%zu}\n", load * 1e3,
              megabytes / by_line, megabytes / at_once, tokens);
  return 0;
}
