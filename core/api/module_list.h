// Reads modules.json of sentence-transformers, and router_config.json of its Router, which names modules for queries and for documents.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/tasks/model_files.h"

namespace peruse {

inline constexpr std::string_view kModules = "modules.json";

struct ListedModule {
  std::string type;    // the class with its package
  std::string folder;  // in the model's folder; empty means the model's folder itself
  std::string name;    // may be empty

  // The class without its package.
  std::string_view Class() const;
  bool operator==(const ListedModule&) const = default;
};

struct ModuleList {
  std::vector<ListedModule> modules;  // for documents, if a Router distinguishes them
  // The modules for queries; nullopt without a Router, or if it treats queries and documents alike.
  std::optional<std::vector<ListedModule>> query;
  bool queries_by_default = false;  // whether texts are queries unless the caller says what they are
  bool needs_role = false;          // whether the caller must say what they are
};

// Returns nullopt without modules.json. Errors: kMalformedFile; kUnsupported for modules of other packages, and for Routers with other routes
// than "query" and "document".
Result<std::optional<ModuleList>> ReadModuleList(const ReadModelFile& read);

// Whether the folder's Transformer is that of Jina's code, which applies an adapter for each task.
bool AppliesAdapters(const ReadModelFile& read);

// What the readers of sentence-transformers' JSON files share.

inline Status Malformed(const std::string& file, const std::string& what) { return MalformedFile(file + " " + what); }

// "a.b.C" -> "C", the name of a class without its package, which differs between releases.
inline std::string_view ClassName(std::string_view type) { return type.substr(type.rfind('.') + 1); }

inline std::string JoinPath(const std::string& folder, std::string_view file) {
  return folder.empty() ? std::string(file) : folder + "/" + std::string(file);
}

// Parses a file that contains an object; nullopt if the file does not exist.
Result<std::optional<JsonDocument>> ReadObject(const ReadModelFile& read, const std::string& path);

}  // namespace peruse
