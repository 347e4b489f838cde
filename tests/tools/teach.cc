// Teaches a model natively: teach FOLDER REQUEST TRAINING [VALIDATION [OUT]], with JSON files and a folder (formats:
// core/train/session/teach_session.h). Prints replies of Begin, Step (for each validation) and Report, and the time taken.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "core/train/session/teach_session.h"

namespace {

using peruse::train::TeachSession;

bool Read(const std::string& path, std::string* bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

bool Ok(const peruse::Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok();
}

bool Load(TeachSession& session, const std::string& folder, const std::string& request) {
  std::string bytes;
  for (const char* name :
       {"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"}) {
    if (Read(folder + "/" + name, &bytes) && !Ok(session.AddFile(name, bytes))) return false;
  }
  if (!Ok(session.Open(request)) || !Read(folder + "/model.safetensors", &bytes)) return false;
  const std::span<const uint8_t> weights(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (!Ok(session.FeedWeights(weights))) return false;
  const auto report = session.FinishWeights();
  if (Ok(report.status())) std::printf("weights %s\n", report->c_str());
  return report.ok();
}

bool Save(TeachSession& session, const std::string& folder) {
  const auto files = session.Files();
  if (!Ok(files.status())) return false;
  for (const char* name : {"config.json", "model.safetensors", "adapter_config.json", "adapter_model.safetensors"}) {
    if (files->find("\"" + std::string(name) + "\"") == std::string::npos) continue;
    std::ofstream out(folder + "/" + name, std::ios::binary);
    for (uint64_t at = 0;; at += 1 << 20) {
      const auto part = session.ReadFile(name, at, 1 << 20);
      if (!Ok(part.status())) return false;
      out.write(reinterpret_cast<const char*>(part->data()), static_cast<std::streamsize>(part->size()));
      if (part->size() < 1 << 20) break;
    }
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return std::fprintf(stderr, "teach FOLDER REQUEST TRAINING [VALIDATION [OUT]]\n"), 2;
  TeachSession session;
  if (!Load(session, arguments[1], arguments[2])) return 1;
  for (int i = 3; i < count && i < 5; ++i) {
    std::string examples;
    if (!Read(arguments[i], &examples) || !Ok(session.AddExamples(examples).status())) return 1;
  }
  const auto plan = session.Begin();
  if (!Ok(plan.status())) return 1;
  std::printf("plan %s\n", plan->c_str());
  const auto start = std::chrono::steady_clock::now();
  for (bool more = true; more;) {
    const auto progress = session.Step();
    if (!Ok(progress.status())) return 1;
    more = progress->find("\"more\":true") != std::string::npos;
    if (progress->find("\"validation\":") != std::string::npos) std::printf("%s\n", progress->c_str());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("report %s\nseconds %.2f\n", session.Report()->c_str(), seconds.count());
  return count < 6 || Save(session, arguments[5]) ? 0 : 1;
}
