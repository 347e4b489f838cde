// The bench engine as a native program: one JSON request a line on standard input, one JSON answer a line on standard output.
//
//   bench_program <threads>
//   {"verb": "load", "weights": path, "config": {...}, "task": string, "dtype": string}
//   {"verb": "batch", "ids": [[...], ...]}   {"verb": "run", "calls": n}   {"verb": "peak", "seconds": s}
//   {"verb": "logits"}   {"verb": "profile"}
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/json_writer.h"
#include "tests/bench/engine/bench_engine.h"

namespace peruse::bench {
namespace {

Result<std::string> Load(BenchEngine& engine, std::string_view line, const std::string& path) {
  PERUSE_RETURN_IF_ERROR(engine.Open(line));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return Status(StatusCode::kNotFound, "cannot open " + path);
  std::vector<uint8_t> chunk(1 << 20);
  while (const size_t size = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    PERUSE_RETURN_IF_ERROR(engine.FeedWeights(std::span(chunk).first(size)));
  }
  return engine.FinishWeights();
}

// Returns {"peakBytes"}, the program's maximum memory.
std::string Memory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return "{\"peakBytes\":" + std::to_string(usage.ru_maxrss * 1024) + "}";
}

Result<std::string> Answer(BenchEngine& engine, std::string_view line) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(line, "the request"));
  const JsonValue root = document.root();
  const std::string_view verb = root.FindMember("verb").GetString().value_or("");
  if (verb == "load") return Load(engine, line, std::string(root.FindMember("weights").GetString().value_or("")));
  if (verb == "batch") {
    PERUSE_RETURN_IF_ERROR(engine.SetBatch(line));
    return std::string("{}");
  }
  if (verb == "run") return engine.Run(static_cast<int32_t>(root.FindMember("calls").GetInt64().value_or(1)));
  if (verb == "logits") return engine.Logits();
  if (verb == "profile") return engine.Profile();
  if (verb == "peak") return engine.Peak(root.FindMember("seconds").GetDouble().value_or(0.01));
  if (verb == "memory") return Memory();
  return InvalidArgument("no verb \"" + std::string(verb) + "\"");
}

std::string ErrorJson(const Status& status) {
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("error");
  writer.String(status.message());
  writer.EndObject();
  return json;
}

int Main(int argc, char** argv) {
  BenchEngine engine(argc > 1 ? std::atoi(argv[1]) : 1);
  std::string line;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    const Result<std::string> answer = Answer(engine, line);
    std::printf("%s\n", (answer.ok() ? *answer : ErrorJson(answer.status())).c_str());
    std::fflush(stdout);
    line.clear();
  }
  return 0;
}

}  // namespace
}  // namespace peruse::bench

int main(int argc, char** argv) { return peruse::bench::Main(argc, argv); }
