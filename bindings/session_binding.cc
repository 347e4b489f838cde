// The Embind class Session. Replies are JSON text; incoming texts are staged UTF-8 (reply.h).
#include <emscripten/bind.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/reply.h"
#include "bindings/tokenizer_binding.h"
#include "core/api/session.h"
#if defined(PERUSE_WEBGPU)
#include "core/backend/webgpu/webgpu_backend.h"
#else
#include "core/backend/cpu/cpu_backend.h"
#endif

namespace peruse {
namespace {

class SessionBinding {
 public:
#if defined(PERUSE_WEBGPU)
  // Uses a GPU with these webgpu::Limits. The first argument is unused.
  SessionBinding(int, uint32_t binding_bytes, bool packed_dot, bool subgroups, const std::string& vendor) {
    std::unique_ptr<WebGpuBackend> backend = CreateWebGpuBackend({.binding_bytes = binding_bytes,
                                                                  .packed_dot = packed_dot,
                                                                  .subgroups = subgroups,
                                                                  .tuning = webgpu::TuningFor(vendor)});
    gpu_ = backend.get();
    session_ = std::make_unique<Session>(std::move(backend), WebGpuBackend::kUsualPrecision);
  }
#else
  explicit SessionBinding(int threads) {
    Result<std::unique_ptr<Backend> > backend = CreateCpuBackend(threads);
    if (backend.ok()) {
      session_ = std::make_unique<Session>(std::move(*backend));
    } else {
      failure_ = backend.status();
    }
  }
#endif
  // Creates a session for another task that shares the weights of `first`.
  explicit SessionBinding(const SessionBinding& first)
      : session_(first.session_ ? std::make_unique<Session>(*first.session_) : nullptr), failure_(first.failure_) {
#if defined(PERUSE_WEBGPU)
    gpu_ = first.gpu_;
#endif
  }
  std::unique_ptr<SessionBinding> Beside() const { return std::make_unique<SessionBinding>(*this); }
  bool NeedsWeights() const { return session_ == nullptr || session_->needs_weights(); }

  // Returns a double, because it is exact up to 2^53.
  double WeightBytes() const { return session_ ? static_cast<double>(session_->WeightBytes()) : 0; }
  bool HeaderRead() const { return session_ != nullptr && session_->header_read(); }

  uintptr_t Reserve(uint32_t bytes) { return staging_.Reserve(bytes); }

  std::string AddFile(const std::string& name, uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->AddFile(name, staging_.Text(bytes))); });
  }
  std::string Open(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->Open(staging_.Text(bytes))); });
  }
  std::string FeedAdapter(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->FeedAdapter(staging_.Bytes(bytes))); });
  }
  std::string FinishAdapter() {
    return With(0, [&] { return Reply(session_->FinishAdapter()); });
  }
  std::string SetShardIndex(uint32_t bytes) {
    return With(bytes, [&] { return Reply("files", session_->SetShardIndex(staging_.Text(bytes))); });
  }
  std::string EndShard() {
    return With(0, [&] { return Reply(session_->EndShard()); });
  }
  std::string FeedWeights(uint32_t bytes) {
    return With(bytes, [&] { return Reply(session_->FeedWeights(staging_.Bytes(bytes))); });
  }
  std::string FinishWeights() {
    return With(0, [&] { return Reply("report", session_->FinishWeights()); });
  }
#if !defined(PERUSE_WEBGPU)
  std::string PrintProgram() {
    return With(0, [&] {
      const Program* program = session_->program();
      if (program == nullptr) return Failure(InvalidArgument("no model is open"));
      std::string json;
      JsonWriter(&json).String(Print(*program));
      return Success("program", json);
    });
  }
#endif
  // See Session::Probe. A session on a GPU only records the commands.
  std::string Probe(int layers, const std::string& dtype) {
    return With(0, [&] {
      const Result<int32_t> ran = session_->Probe(layers, dtype);
#if defined(PERUSE_WEBGPU)
      if (gpu_ != nullptr && ran.ok()) gpu_->EndRecording();
#endif
      return ran.ok() ? Success("layers", std::to_string(*ran)) : Failure(ran.status());
    });
  }
  void Select(uint32_t request) {
    if (session_) session_->Select(request);
  }
  std::string Start(uint32_t bytes) {
    return With(bytes, [&] { return Started(session_->Start(staging_.Text(bytes))); });
  }
  std::unique_ptr<TokenizerBinding> Tokenizer() const {
    Result<TokenizerSession> session = session_ ? session_->Tokenize() : Result<TokenizerSession>(failure_);
    return session.ok() ? std::make_unique<TokenizerBinding>(std::move(*session)) : nullptr;
  }
  std::string StartInspection(uint32_t bytes) {
    return With(bytes, [&] { return Started(session_->StartInspection(staging_.Text(bytes))); });
  }
  std::string Step() {
    return With(0, [&] {
      const Result<bool> more = session_->Step();
      return more.ok() ? Success("more", *more ? "true" : "false") : Failure(more.status());
    });
  }
  std::string Take() {
    return With(0, [&] { return Reply("parts", session_->Take()); });
  }
  // Address of array `index` of the last results, valid until the next step or request; 0 for an unknown index or an empty
  // array.
  uintptr_t Array(uint32_t index) const {
    return session_ ? reinterpret_cast<uintptr_t>(session_->array(index).data()) : 0;
  }

  double TokensRead() const { return session_ ? static_cast<double>(session_->tokens_read()) : 0; }

#if defined(PERUSE_WEBGPU)
  // The halves of Step. The host replays the commands between them.
  std::string BeginStep() {
    const Result<bool> begun = session_->BeginStep();
    if (begun.ok() && *begun) gpu_->EndRecording();
    return begun.ok() ? Success("begun", *begun ? "true" : "false") : Failure(begun.status());
  }
  std::string EndStep() {
    const Result<bool> more = session_->EndStep();
    return more.ok() ? Success("more", *more ? "true" : "false") : Failure(more.status());
  }
  // Address and number of the recorded command words (web/src/gpu/stream.ts). Before the next call, the host must replay them and confirm
  // that.
  uintptr_t CommandAddress() const { return reinterpret_cast<uintptr_t>(gpu_->commands().data()); }
  uint32_t CommandWords() const { return static_cast<uint32_t>(gpu_->commands().size()); }
  void Replayed() {
    gpu_->ClearCommands();
    gpu_->Replayed();
  }
#endif

 private:
  // Frees the memory of a huge request after parsing it.
  std::string Started(const Status& status) {
    staging_.FreeAbove(uint32_t{4} << 20);
    return Reply(status);
  }

  template <typename Call>
  std::string With(uint32_t bytes, Call call) {
    if (!session_) return Failure(failure_);
    if (const Status status = staging_.Check(bytes); !status.ok()) return Failure(status);
    return call();
  }

  std::unique_ptr<Session> session_;
#if defined(PERUSE_WEBGPU)
  WebGpuBackend* gpu_ = nullptr;  // shared by sessions with the same weights
#endif
  Status failure_;
  Staging staging_;
};

EMSCRIPTEN_BINDINGS(peruse) {
  RegisterTokenizer();
  emscripten::class_<SessionBinding>("Session")
#if defined(PERUSE_WEBGPU)
      .constructor<int, uint32_t, bool, bool, const std::string&>()
#else
      .constructor<int>()
#endif
      .function("reserve", &SessionBinding::Reserve)
      .function("addFile", &SessionBinding::AddFile)
      .function("open", &SessionBinding::Open)
      .function("feedAdapter", &SessionBinding::FeedAdapter)
      .function("finishAdapter", &SessionBinding::FinishAdapter)
      .function("setShardIndex", &SessionBinding::SetShardIndex)
      .function("endShard", &SessionBinding::EndShard)
      .function("feedWeights", &SessionBinding::FeedWeights)
      .function("finishWeights", &SessionBinding::FinishWeights)
      .function("beside", &SessionBinding::Beside)
      .function("needsWeights", &SessionBinding::NeedsWeights)
      .function("weightBytes", &SessionBinding::WeightBytes)
      .function("headerRead", &SessionBinding::HeaderRead)
#if !defined(PERUSE_WEBGPU)
      .function("program", &SessionBinding::PrintProgram)
#endif
      .function("probe", &SessionBinding::Probe)
      .function("select", &SessionBinding::Select)
      .function("start", &SessionBinding::Start)
      .function("startInspection", &SessionBinding::StartInspection)
      .function("step", &SessionBinding::Step)
#if defined(PERUSE_WEBGPU)
      .function("beginStep", &SessionBinding::BeginStep)
      .function("endStep", &SessionBinding::EndStep)
      .function("commandAddress", &SessionBinding::CommandAddress)
      .function("commandWords", &SessionBinding::CommandWords)
      .function("replayed", &SessionBinding::Replayed)
#endif
      .function("tokenizer", &SessionBinding::Tokenizer)
      .function("tokensRead", &SessionBinding::TokensRead)
      .function("take", &SessionBinding::Take)
      .function("array", &SessionBinding::Array);
}

}  // namespace
}  // namespace peruse
