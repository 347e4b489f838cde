// Tokenizer in a module of its own (peruse-tokenizer.wasm), where it is opened from files.
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
