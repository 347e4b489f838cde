// Helpers of the readers of sentence-transformers' JSON files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/tasks/model_file.h"

namespace peruse {

inline Status Malformed(const std::string& file, const std::string& what) { return MalformedFile(file + " " + what); }

// "a.b.C" -> "C", the name of a class without its package, which differs between releases.
inline std::string_view ClassName(std::string_view type) { return type.substr(type.rfind('.') + 1); }

inline std::string JoinPath(const std::string& folder, std::string_view file) {
  return folder.empty() ? std::string(file) : folder + "/" + std::string(file);
}

// Parses a file that contains an object; nullopt if the file does not exist.
Result<std::optional<JsonDocument>> ReadObject(const ReadModelFile& read, const std::string& path);

}  // namespace peruse
