#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/base/status.h"

namespace peruse {

// The small files that a host adds before it opens a session, and the order of its calls. `Stage` is an enumeration with kFiles, the first
// stage, and kFailed.
template <typename Stage>
class FileStages {
 public:
  Status AddFile(std::string_view name, std::string_view bytes) {
    PERUSE_RETURN_IF_ERROR(Expect(Stage::kFiles, "addFile"));
    PERUSE_RETURN_IF_ERROR(EnsureMemory(bytes.size(), name));
    files_[std::string(name)] = std::string(bytes);
    return OkStatus();
  }

 protected:
  // `failed` describes the session after a failure, in the error of a later call.
  explicit FileStages(std::string_view failed) : failed_(failed) {}

  Status Expect(Stage stage, std::string_view call) const {
    if (stage_ == stage) return HoldReserve();
    const bool failed = stage_ == Stage::kFailed;
    return InvalidArgument(std::string(call) + " was called " +
                           (failed ? "on " + std::string(failed_) : "out of order"));
  }
  Status Fail(Status status) {
    if (!status.ok()) stage_ = Stage::kFailed;
    return status;
  }
  // The reply to SetShardIndex: a JSON array of the files, in the order to feed them.
  static std::string ShardsJson(const std::vector<std::string>& files) {
    std::string json;
    JsonWriter(&json).Strings(files);
    return json;
  }

  Stage stage_ = Stage::kFiles;
  std::map<std::string, std::string, std::less<>> files_;

 private:
  std::string_view failed_;
};

}  // namespace peruse
