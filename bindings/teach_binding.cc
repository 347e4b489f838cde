// The Embind class Teacher, a WebAssembly module of its own. core/train/session/teach_session.h documents requests and results. Replies are JSON
// text; texts and files are staged bytes (reply.h).
//
//   new Teacher()                    reserve(bytes) -> address in the heap, to be filled before the next call
//   addFile(name, bytes)             {"ok": true}
//   open(bytes)                      {"ok": true}
//   setShardIndex(bytes)             {"ok": true, "files": [...]}
//   endShard()                       {"ok": true}
//   feedWeights(bytes)               {"ok": true}
//   finishWeights()                  {"ok": true, "weights": {...}}
//   addExamples(bytes)               {"ok": true, "count": n}
//   begin()                          {"ok": true, "plan": {...}}
//   explain(bytes)                   {"ok": true, "explanation": {...}}
//   step()                           {"ok": true, "progress": {...}}
//   report()                         {"ok": true, "report": {...}}
//   files()                          {"ok": true, "files": [...]}
//   readFile(name, first, count)     {"ok": true, "bytes": n}; at fileAddress(), valid until the next call
//   every failure                    {"ok": false, "code": string, "message": string}
#include <emscripten/bind.h>

#include <cstdint>
#include <span>
#include <string>

#include "bindings/reply.h"
#include "core/train/session/teach_session.h"

namespace peruse {
namespace {

class TeachBinding {
 public:
  uintptr_t Reserve(uint32_t bytes) { return staging_.Reserve(bytes); }

  std::string AddFile(const std::string& name, uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_.AddFile(name, staging_.Text(bytes))); });
  }
  std::string Open(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_.Open(staging_.Text(bytes))); });
  }
  std::string SetShardIndex(uint32_t bytes) {
    return With(bytes, [&] { return Reply("files", session_.SetShardIndex(staging_.Text(bytes))); });
  }
  std::string EndShard() { return Reply(session_.EndShard()); }
  std::string FeedWeights(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_.FeedWeights(staging_.Bytes(bytes))); });
  }
  std::string FinishWeights() { return Reply("weights", session_.FinishWeights()); }
  std::string AddExamples(uint32_t bytes) {
    return With(bytes, [&] { return Reply("count", session_.AddExamples(staging_.Text(bytes))); });
  }
  std::string Begin() {
    staging_.FreeAbove(uint32_t{1} << 20);
    return Reply("plan", session_.Begin());
  }
  std::string Explain(uint32_t bytes) {
    return With(bytes, [&] { return Reply("explanation", session_.Explain(staging_.Text(bytes))); });
  }
  std::string Step() { return Reply("progress", session_.Step()); }
  std::string Report() const { return Reply("report", session_.Report()); }
  std::string Files() { return Reply("files", session_.Files()); }
  // `first` is a double, exact up to 2^53.
  std::string ReadFile(const std::string& name, double first, uint32_t count) {
    const Result<std::span<const uint8_t>> bytes = session_.ReadFile(name, static_cast<uint64_t>(first), count);
    if (!bytes.ok()) return Failure(bytes.status());
    file_ = *bytes;
    return Success("bytes", std::to_string(file_.size()));
  }
  uintptr_t FileAddress() const { return reinterpret_cast<uintptr_t>(file_.data()); }

 private:
  template <typename Call>
  std::string With(uint32_t bytes, Call call) {
    if (const Status status = staging_.Check(bytes); !status.ok()) return Failure(status);
    return call();
  }

  train::TeachSession session_;
  Staging staging_;
  std::span<const uint8_t> file_;
};

EMSCRIPTEN_BINDINGS(peruse_teach) {
  emscripten::class_<TeachBinding>("Teacher")
      .constructor<>()
      .function("reserve", &TeachBinding::Reserve)
      .function("addFile", &TeachBinding::AddFile)
      .function("open", &TeachBinding::Open)
      .function("setShardIndex", &TeachBinding::SetShardIndex)
      .function("endShard", &TeachBinding::EndShard)
      .function("feedWeights", &TeachBinding::FeedWeights)
      .function("finishWeights", &TeachBinding::FinishWeights)
      .function("addExamples", &TeachBinding::AddExamples)
      .function("begin", &TeachBinding::Begin)
      .function("explain", &TeachBinding::Explain)
      .function("step", &TeachBinding::Step)
      .function("report", &TeachBinding::Report)
      .function("files", &TeachBinding::Files)
      .function("readFile", &TeachBinding::ReadFile)
      .function("fileAddress", &TeachBinding::FileAddress);
}

}  // namespace
}  // namespace peruse
