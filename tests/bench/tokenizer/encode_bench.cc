// Measures how long a tokenizer takes to load, and to encode the lines of a text file. Prints {"load": s, "lines": s, "tokens": n} in
// processor seconds of one thread.
//
//   encode_bench <tokenizer.json> <text file>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer.h"

namespace {

bool ReadFile(const char* path, std::string* out) {
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) out->append(buffer, n);
  std::fclose(file);
  return true;
}

double Seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  std::string json, text;
  if (argc != 3 || !ReadFile(argv[1], &json) || !ReadFile(argv[2], &text)) return 2;
  double start = Seconds();
  const auto tokenizer = peruse::text::Tokenizer::Create({{"tokenizer.json", json}});
  const double load = Seconds() - start;
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().message().c_str());
    return 1;
  }
  const std::vector<std::string_view> lines = Lines(text);
  for (size_t i = 0; i < lines.size() / 20; ++i) (void)(*tokenizer)->Encode(lines[i]).ok();  // warms caches
  size_t tokens = 0;
  start = Seconds();
  for (const std::string_view line : lines) {
    const auto windows = (*tokenizer)->Encode(line);
    if (windows.ok()) tokens += (*windows)[0].size();
  }
  std::printf("{\"load\":%.6f,\"lines\":%.6f,\"tokens\":%zu}\n", load, Seconds() - start, tokens);
  return 0;
}
