// The class Tokenizer in its own module (peruse-tokenizer.wasm), which can open files.
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
