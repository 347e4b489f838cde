#include "core/weights/shard_index.h"

#include <set>

#include "core/base/json.h"

namespace peruse {
namespace {

// A shard's name becomes part of a URL or path, so it must be a plain file name.
bool IsPlainFileName(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find_first_of("/\\:?#%") == std::string_view::npos;
}

}  // namespace

Result<ShardIndex> ParseShardIndex(std::string_view json) {
  constexpr std::string_view kName = "the index of the weights";
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, kName));
  const JsonValue map = document.root().FindMember("weight_map");
  if (!map.IsObject()) return MalformedFile(std::string(kName) + " has no weight_map");
  ShardIndex index;
  std::set<std::string> files;
  for (size_t i = 0; i < map.size(); ++i) {
    const auto file = map.MemberValue(i).GetString();
    if (!file || !IsPlainFileName(*file)) {
      return MalformedFile(std::string(kName) + ": tensor \"" + std::string(map.MemberName(i)) +
                           "\" is not in a file with a plain name");
    }
    index.tensors.emplace_back(map.MemberName(i));
    files.emplace(*file);
  }
  index.files.assign(files.begin(), files.end());
  return index;
}

}  // namespace peruse
