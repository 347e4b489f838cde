// The Embind surface: Session, with every result as JSON text and every text coming in as staged UTF-8.
//
// Texts and weights enter through one staging buffer (reserve, then HEAPU8.set), because that is one copy, and
// because it keeps lone surrogates and NUL out of string conversions. Every method returns
//   {"ok": true, ...}  or  {"ok": false, "code": string, "message": string}.
#include <emscripten/bind.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#if defined(PERUSE_WEBGPU)
#include "core/backend/webgpu/webgpu_backend.h"
#endif
#include "core/backend/xnnpack/xnnpack_backend.h"
#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/tasks/session.h"

namespace peruse {
namespace {

std::string Failure(const Status& status) {
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("ok");
  writer.Bool(false);
  writer.Key("code");
  writer.String(StatusCodeName(status.code()));
  writer.Key("message");
  writer.String(status.message());
  writer.EndObject();
  return json;
}

// {"ok": true, "<key>": <value, JSON already>}.
std::string Success(std::string_view key, std::string_view value) {
  return "{\"ok\":true,\"" + std::string(key) + "\":" + std::string(value) + "}";
}

std::string Reply(const Status& status) { return status.ok() ? "{\"ok\":true}" : Failure(status); }

std::string Reply(std::string_view key, const Result<std::string>& result) {
  if (!result.ok()) return Failure(result.status());
  // The reply, and its copy on the way to JavaScript.
  if (const Status memory = EnsureMemory(SaturatingMultiply(3, result->size()), "the results"); !memory.ok()) {
    return Failure(memory);
  }
  return Success(key, *result);
}

class SessionBinding {
 public:
  // On the CPU.
  explicit SessionBinding(int threads) {
    Result<std::unique_ptr<Backend> > backend = CreateXnnpackBackend(threads);
    if (backend.ok()) {
      session_ = std::make_unique<Session>(std::move(*backend));
    } else {
      failure_ = backend.status();
    }
  }
#if defined(PERUSE_WEBGPU)
  // On a GPU with these webgpu::Limits. The first argument is that of the CPU, and of no use here.
  SessionBinding(int, uint32_t binding_bytes, bool shader_f16, bool packed_dot) {
    std::unique_ptr<WebGpuBackend> backend =
        CreateWebGpuBackend({.binding_bytes = binding_bytes, .shader_f16 = shader_f16, .packed_dot = packed_dot});
    gpu_ = backend.get();
    session_ = std::make_unique<Session>(std::move(backend), Precision::kF16);
  }
#endif
  ~SessionBinding() { std::free(staging_); }

  // Where to write the next `bytes` bytes: an address in the heap, valid until the next reserve; 0: out of memory.
  uintptr_t Reserve(uint32_t bytes) {
    if (bytes > capacity_) {
      std::free(staging_);
      staging_ = static_cast<uint8_t*>(std::malloc(bytes));
      capacity_ = staging_ ? bytes : 0;
    }
    return reinterpret_cast<uintptr_t>(staging_);
  }

  std::string AddFile(const std::string& name, uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->AddFile(name, Staged(bytes))); });
  }
  std::string Open(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->Open(Staged(bytes))); });
  }
  std::string SetShardIndex(uint32_t bytes) {
    return With(bytes, [&] { return Reply("files", session_->SetShardIndex(Staged(bytes))); });
  }
  std::string EndShard() {
    return With(0, [&] { return Reply(session_->EndShard()); });
  }
  std::string FeedWeights(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->FeedWeights({staging_, bytes})); });
  }
  std::string FinishWeights() {
    return With(0, [&] { return Reply("report", session_->FinishWeights()); });
  }
  // Session::Probe; on a GPU only recorded.
  std::string Probe(int layers, const std::string& dtype) {
    return With(0, [&] {
      const Result<int32_t> ran = session_->Probe(layers, dtype);
#if defined(PERUSE_WEBGPU)
      if (gpu_ != nullptr && ran.ok()) gpu_->EndRecording();
#endif
      return ran.ok() ? Success("layers", std::to_string(*ran)) : Failure(ran.status());
    });
  }
  std::string Start(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->Start(Staged(bytes))); });
  }
  std::string StartInspection(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->StartInspection(Staged(bytes))); });
  }
  // Where the floats of an array of the last look inside lie, until the next run; 0: there is no such array.
  uintptr_t InspectedArray(uint32_t index) const {
    return session_ ? reinterpret_cast<uintptr_t>(session_->InspectedArray(index).data()) : 0;
  }
  std::string Step() {
    return With(0, [&] {
      const Result<bool> more = session_->Step();
      return more.ok() ? Success("more", *more ? "true" : "false") : Failure(more.status());
    });
  }
  std::string Finish() {
    return With(0, [&] { return Reply("result", session_->Finish()); });
  }

  // A double, exact up to 2^53.
  double TokensRead() const { return session_ ? static_cast<double>(session_->tokens_read()) : 0; }

#if defined(PERUSE_WEBGPU)
  // The halves of step: between them the host replays the commands.
  std::string BeginStep() {
    const Result<bool> begun = session_->BeginStep();
    if (begun.ok() && *begun) gpu_->EndRecording();
    return begun.ok() ? Success("begun", *begun ? "true" : "false") : Failure(begun.status());
  }
  std::string EndStep() {
    const Result<bool> more = session_->EndStep();
    return more.ok() ? Success("more", *more ? "true" : "false") : Failure(more.status());
  }
  // Where the commands of the calls so far lie (web/src/gpu/stream.ts), and how many words they are. To be replayed,
  // and said so, before the next call.
  uintptr_t CommandAddress() const { return reinterpret_cast<uintptr_t>(gpu_->commands().data()); }
  uint32_t CommandWords() const { return static_cast<uint32_t>(gpu_->commands().size()); }
  void Replayed() {
    gpu_->ClearCommands();
    gpu_->Replayed();
  }
#endif

 private:
  std::string_view Staged(uint32_t bytes) const { return {reinterpret_cast<const char*>(staging_), bytes}; }

  template <typename Call>
  std::string With(uint32_t bytes, Call call) const {
    if (!session_) return Failure(failure_);
    if (bytes > capacity_) return Failure(InvalidArgument("more bytes were named than were reserved"));
    return call();
  }

  std::unique_ptr<Session> session_;
#if defined(PERUSE_WEBGPU)
  WebGpuBackend* gpu_ = nullptr;  // the session's
#endif
  Status failure_;
  uint8_t* staging_ = nullptr;
  uint32_t capacity_ = 0;
};

EMSCRIPTEN_BINDINGS(peruse) {
  emscripten::class_<SessionBinding>("Session")
      .constructor<int>()
#if defined(PERUSE_WEBGPU)
      .constructor<int, uint32_t, bool, bool>()
#endif
      .function("reserve", &SessionBinding::Reserve)
      .function("addFile", &SessionBinding::AddFile)
      .function("open", &SessionBinding::Open)
      .function("setShardIndex", &SessionBinding::SetShardIndex)
      .function("endShard", &SessionBinding::EndShard)
      .function("feedWeights", &SessionBinding::FeedWeights)
      .function("finishWeights", &SessionBinding::FinishWeights)
      .function("probe", &SessionBinding::Probe)
      .function("start", &SessionBinding::Start)
      .function("startInspection", &SessionBinding::StartInspection)
      .function("inspectedArray", &SessionBinding::InspectedArray)
      .function("step", &SessionBinding::Step)
#if defined(PERUSE_WEBGPU)
      .function("beginStep", &SessionBinding::BeginStep)
      .function("endStep", &SessionBinding::EndStep)
      .function("commandAddress", &SessionBinding::CommandAddress)
      .function("commandWords", &SessionBinding::CommandWords)
      .function("replayed", &SessionBinding::Replayed)
#endif
      .function("tokensRead", &SessionBinding::TokensRead)
      .function("finish", &SessionBinding::Finish);
}

}  // namespace
}  // namespace peruse
