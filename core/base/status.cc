#include "core/base/status.h"

#include <cstdio>
#include <cstdlib>

#if defined(__EMSCRIPTEN__)
#include <emscripten/console.h>
#endif

namespace peruse {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid_argument";
    case StatusCode::kEmptyText:
      return "empty_text";
    case StatusCode::kTextTooLong:
      return "text_too_long";
    case StatusCode::kMalformedFile:
      return "malformed_file";
    case StatusCode::kTruncatedFile:
      return "truncated_file";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kMissingTensor:
      return "missing_tensor";
    case StatusCode::kShapeMismatch:
      return "shape_mismatch";
    case StatusCode::kMissingHead:
      return "missing_head";
    case StatusCode::kOutOfMemory:
      return "out_of_memory";
    case StatusCode::kNotFound:
      return "not_found";
    case StatusCode::kAborted:
      return "aborted";
    case StatusCode::kDisposed:
      return "disposed";
    case StatusCode::kInternal:
      return "internal";
  }
  return "internal";
}

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

void CheckFailed(uint32_t place) {
  const std::string message = "check " + std::to_string(place) + " failed";
#if defined(__EMSCRIPTEN__)
  emscripten_err(message.c_str());
#else
  std::fprintf(stderr, "%s\n", message.c_str());
#endif
  std::abort();
}

}  // namespace peruse
