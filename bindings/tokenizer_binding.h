// The Embind class Tokenizer: TokenizerSession with JSON replies and staged requests, as in Session.
#pragma once

#include <emscripten/bind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/reply.h"
#include "core/api/tokenizer_session.h"

namespace peruse {

class TokenizerBinding {
 public:
  TokenizerBinding() = default;
  explicit TokenizerBinding(TokenizerSession session) : session_(std::move(session)) {}

  uintptr_t Reserve(uint32_t bytes) { return staging_.Reserve(bytes); }

  std::string AddFile(const std::string& name, uint32_t bytes) {
    return With(bytes, [&](std::string_view content) { return Reply(session_.AddFile(name, content)); });
  }
  std::string Open() { return Reply("about", session_.Open()); }
  std::string Encode(uint32_t bytes) {
    return With(bytes, [&](std::string_view request) { return Reply("windows", session_.Encode(request)); });
  }
  // Address of the last encoding, TokenizerSession::kCells numbers per token, valid until the next call.
  uintptr_t Cells() const { return reinterpret_cast<uintptr_t>(session_.cells().data()); }
  std::string Count(uint32_t bytes) {
    return With(bytes, [&](std::string_view request) {
      const Result<size_t> count = session_.Count(request);
      return count.ok() ? Success("count", std::to_string(*count)) : Failure(count.status());
    });
  }
  std::string Decode(uint32_t bytes) {
    return With(bytes, [&](std::string_view request) { return Reply("text", session_.Decode(request)); });
  }
  std::string IdsToTokens(uint32_t bytes) {
    return With(bytes, [&](std::string_view request) { return Reply("tokens", session_.IdsToTokens(request)); });
  }
  std::string TokensToIds(uint32_t bytes) {
    return With(bytes, [&](std::string_view request) { return Reply("ids", session_.TokensToIds(request)); });
  }

 private:
  template <typename Call>
  std::string With(uint32_t bytes, Call call) {
    if (const Status status = staging_.Check(bytes); !status.ok()) return Failure(status);
    std::string reply = call(staging_.Text(bytes));
    staging_.FreeAbove(uint32_t{4} << 20);
    return reply;
  }

  TokenizerSession session_;
  Staging staging_;
};

inline emscripten::class_<TokenizerBinding> RegisterTokenizer() {
  emscripten::class_<TokenizerBinding> binding("Tokenizer");
  binding.function("reserve", &TokenizerBinding::Reserve)
      .function("encode", &TokenizerBinding::Encode)
      .function("cells", &TokenizerBinding::Cells)
      .function("count", &TokenizerBinding::Count)
      .function("decode", &TokenizerBinding::Decode)
      .function("idsToTokens", &TokenizerBinding::IdsToTokens)
      .function("tokensToIds", &TokenizerBinding::TokensToIds);
  return binding;
}

}  // namespace peruse
