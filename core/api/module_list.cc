#include "core/api/module_list.h"

#include <algorithm>
#include <utility>

namespace peruse {
namespace {

constexpr std::string_view kRouterConfig = "router_config.json";
constexpr std::string_view kPyLateDense = "pylate.models.Dense.Dense";  // equal to that of sentence-transformers
// The class of jinaai/jina-embeddings-v3: sentence-transformers' Transformer with a choice of the adapter.
constexpr std::string_view kJinaTransformer = "custom_st.Transformer";
constexpr std::string_view kQuery = "query", kDocument = "document";

// Whether all names of a path are plain: the folder becomes part of a URL or file path.
bool IsPlainFolder(std::string_view path) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    if (name.empty() || name.front() == '.' || name.find_first_of("\\:?#%") != std::string_view::npos) return false;
    begin = end + 1;
  }
  return true;
}

Status CheckModule(const ListedModule& module, std::string_view file) {
  if (!module.folder.empty() && !IsPlainFolder(module.folder)) {
    return Malformed(std::string(file), "has a module whose path is not a plain folder: \"" + module.folder + "\"");
  }
  if (module.type.starts_with("sentence_transformers.") || module.type == kPyLateDense ||
      module.type == kJinaTransformer)
    return OkStatus();
  return Unsupported(std::string(file) + ": the module " + module.type +
                     " is not one of sentence-transformers: code of its own is not supported.");
}

Result<std::vector<ListedModule>> ReadRoute(JsonValue ids, JsonValue types, const std::string& folder,
                                            const std::string& path) {
  std::vector<ListedModule> route;
  for (const JsonValue item : ids) {
    const std::optional<std::string_view> id = item.GetString();
    const std::optional<std::string_view> type = id ? types.FindMember(*id).GetString() : std::nullopt;
    if (!type) return Malformed(path, "has a route with a module without a type");
    route.push_back({std::string(*type), JoinPath(folder, *id), ""});
    PERUSE_RETURN_IF_ERROR(CheckModule(route.back(), path));
  }
  if (route.empty()) return Malformed(path, "has a route without modules");
  return route;
}

void Append(const std::vector<ListedModule>& more, std::vector<ListedModule>* modules) {
  modules->insert(modules->end(), more.begin(), more.end());
}

// Adds the modules of a Router's routes to those that precede it in `list`.
Status ReadRouter(const ReadModelFile& read, const std::string& folder, ModuleList* list) {
  const std::string path = JoinPath(folder, kRouterConfig);
  if (list->query) return Unsupported(path + ": a second Router is not supported");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  if (!document) return Malformed(std::string(kModules), "names a Router, and there is no " + path);
  const JsonValue root = document->root(), routes = root.FindMember("structure"), types = root.FindMember("types");
  const JsonValue parameters = root.FindMember("parameters");
  if (routes.size() != 2 || !routes.FindMember(kQuery).exists() || !routes.FindMember(kDocument).exists()) {
    return Unsupported(path + ": only the routes \"query\" and \"document\" are supported");
  }
  if (const JsonValue mappings = parameters.FindMember("route_mappings"); mappings.size() > 0) {
    return Unsupported(path + ": the route_mappings " + mappings.ToString() + " is not supported");
  }
  // Without a default route, the first route is the default, unless allow_empty_key is false.
  const JsonValue usual = parameters.FindMember("default_route");
  list->needs_role = !usual.GetString() && parameters.FindMember("allow_empty_key").GetBool() == false;
  list->queries_by_default = usual.GetString().value_or(routes.MemberName(0)) == kQuery;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<ListedModule> query,
                          ReadRoute(routes.FindMember(kQuery), types, folder, path));
  PERUSE_ASSIGN_OR_RETURN(const std::vector<ListedModule> documents,
                          ReadRoute(routes.FindMember(kDocument), types, folder, path));
  list->query = list->modules;
  Append(query, &*list->query);
  Append(documents, &list->modules);
  return OkStatus();
}

}  // namespace

std::string_view ListedModule::Class() const { return ClassName(type); }

Result<std::optional<JsonDocument>> ReadObject(const ReadModelFile& read, const std::string& path) {
  const std::optional<std::string_view> text = read(path);
  if (!text) return std::optional<JsonDocument>();
  PERUSE_ASSIGN_OR_RETURN(JsonDocument document, JsonDocument::Parse(*text, path));
  if (!document.root().IsObject()) return Malformed(path, "is not a JSON object");
  return std::optional(std::move(document));
}

Result<std::optional<ModuleList>> ReadModuleList(const ReadModelFile& read) {
  const std::string file(kModules);
  const std::optional<std::string_view> text = read(file);
  if (!text) return std::optional<ModuleList>();
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(*text, kModules));
  const JsonValue root = document.root();
  if (!root.IsArray() || root.size() == 0) return Malformed(file, "is not a list of modules");
  ModuleList list;
  for (const JsonValue entry : root) {
    const std::optional<std::string_view> type = entry.FindMember("type").GetString();
    if (!type) return Malformed(file, "has a module without a type");
    const ListedModule module = {std::string(*type), std::string(entry.FindMember("path").GetString().value_or("")),
                                 std::string(entry.FindMember("name").GetString().value_or(""))};
    PERUSE_RETURN_IF_ERROR(CheckModule(module, file));
    if (module.Class() == "Router") {
      PERUSE_RETURN_IF_ERROR(ReadRouter(read, module.folder, &list));
      continue;
    }
    list.modules.push_back(module);
    if (list.query) list.query->push_back(module);
  }
  if (list.query == list.modules) list.query.reset();
  return std::optional(std::move(list));
}

bool AppliesAdapters(const ReadModelFile& read) {
  const Result<std::optional<ModuleList>> list = ReadModuleList(read);
  if (!list.ok() || !*list) return false;
  const std::vector<ListedModule>& modules = (*list)->modules;
  return std::any_of(modules.begin(), modules.end(),
                     [](const ListedModule& one) { return one.type == kJinaTransformer; });
}

}  // namespace peruse
