// Every fallible function of the core returns a Status or a Result<T>. The core throws no exceptions and prints nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace peruse {

enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,  // The caller's request makes no sense (unknown option, empty question, bad range).
  kEmptyText,        // A text that must not be empty is empty.
  kTextTooLong,      // The text has more tokens than the model accepts, and truncation is off.
  kMalformedFile,    // A file's bytes contradict its format (bad JSON, overlapping tensors, ...).
  kTruncatedFile,    // A file ended before its own header says it should.
  kUnsupported,      // Well-formed, but names something Peruse does not implement.
  kMissingTensor,    // The checkpoint lacks tensors that its configuration requires.
  kShapeMismatch,    // A tensor's shape differs from what the configuration requires.
  kMissingHead,      // The checkpoint has no weights for the head that the task needs.
  kOutOfMemory,      // An allocation failed.
  kNotFound,         // A requested file does not exist.
  kAborted,          // The caller cancelled.
  kDisposed,         // The object was used after dispose().
  kInternal,         // A fault of Peruse itself; please report it.
};

// Returns the stable spelling of a code, for example "malformed_file".
std::string_view StatusCodeName(StatusCode code);

// Success, or a code and one clear sentence that names the faulty thing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return Status(); }
inline Status InvalidArgument(std::string message) { return Status(StatusCode::kInvalidArgument, std::move(message)); }
inline Status MalformedFile(std::string message) { return Status(StatusCode::kMalformedFile, std::move(message)); }
inline Status Unsupported(std::string message) { return Status(StatusCode::kUnsupported, std::move(message)); }
inline Status OutOfMemory(std::string message) { return Status(StatusCode::kOutOfMemory, std::move(message)); }
inline Status InternalError(std::string message) { return Status(StatusCode::kInternal, std::move(message)); }

// Both print where the check is, and stop the program. Only for bugs of Peruse, never for anything that input can cause.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
[[noreturn]] void CheckFailed(uint32_t place);

// The number of a line in a file: a hash of the file's name without its folder, then four digits of the line.
consteval uint32_t CheckPlace(std::string_view file, uint32_t line) {
  uint32_t hash = 0;
  for (const char letter : file) hash = hash * 31 + static_cast<unsigned char>(letter);
  return hash % 100000 * 10000 + line % 10000;
}

// A release keeps no texts of conditions and no paths of the machine that built it: every page would download them. It prints the number of
// the place, and tools/check_place.mjs names the line.
#ifdef NDEBUG
#define PERUSE_CHECK(condition) \
  ((condition) ? (void)0 : ::peruse::CheckFailed(::peruse::CheckPlace(__FILE_NAME__, __LINE__)))
#else
#define PERUSE_CHECK(condition) ((condition) ? (void)0 : ::peruse::CheckFailed(#condition, __FILE_NAME__, __LINE__))
#endif

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit by design
    PERUSE_CHECK(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & {
    PERUSE_CHECK(ok());
    return *value_;
  }
  const T& value() const& {
    PERUSE_CHECK(ok());
    return *value_;
  }
  T&& value() && {
    PERUSE_CHECK(ok());
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::optional<T> value_;
  Status status_;
};

#define PERUSE_CONCAT_INNER(a, b) a##b
#define PERUSE_CONCAT(a, b) PERUSE_CONCAT_INNER(a, b)

// Returns from the enclosing function if `expression` is not ok.
#define PERUSE_RETURN_IF_ERROR(expression)           \
  do {                                               \
    ::peruse::Status peruse_status_ = (expression);  \
    if (!peruse_status_.ok()) return peruse_status_; \
  } while (false)

// Example: PERUSE_ASSIGN_OR_RETURN(auto config, ParseConfig(text));
#define PERUSE_ASSIGN_OR_RETURN(declaration, expression) \
  PERUSE_ASSIGN_OR_RETURN_INNER(PERUSE_CONCAT(peruse_result_, __LINE__), declaration, expression)
#define PERUSE_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return result.status();                            \
  declaration = std::move(result).value()

}  // namespace peruse
