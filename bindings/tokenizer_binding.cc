// The Embind class Tokenizer of peruse-tokenizer.wasm. Only this module can open tokenizer files.
#include "bindings/tokenizer_binding.h"

#include <emscripten/bind.h>

namespace peruse {
namespace {

EMSCRIPTEN_BINDINGS(peruse_tokenizer) {
  RegisterTokenizer()
      .constructor<>()
      .function("addFile", &TokenizerBinding::AddFile)
      .function("open", &TokenizerBinding::Open);
}

}  // namespace
}  // namespace peruse
