#include "core/api/multi_vector_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/api/module_list.h"

namespace peruse {
namespace {

constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";  // Python's string.punctuation
constexpr int32_t kUsualQueryLength = 32;
constexpr int32_t kUsualProjection = 128;

std::vector<std::string> Punctuation() {
  std::vector<std::string> words;
  for (const char sign : kPunctuation) words.emplace_back(1, sign);
  return words;
}

Result<std::vector<std::string>> ReadWords(const std::string& path, const char* name, JsonValue value) {
  std::vector<std::string> words;
  const auto malformed = [&] { return Malformed(path, std::string("has a ") + name + " that is not a list of words"); };
  if (value.exists() && !value.IsNull() && !value.IsArray()) return malformed();
  for (const JsonValue item : value) {
    const std::optional<std::string_view> word = item.GetString();
    if (!word) return malformed();
    words.emplace_back(*word);
  }
  return words;
}

// Reads the list of tasks to which a module applies: "query", "document".
Status ReadTasks(const std::string& path, JsonValue value, const char* name, bool* queries, bool* documents) {
  if (!value.exists() || value.IsNull()) return OkStatus();
  PERUSE_ASSIGN_OR_RETURN(const std::vector<std::string> tasks, ReadWords(path, name, value));
  const auto has = [&](const char* task) { return std::find(tasks.begin(), tasks.end(), task) != tasks.end(); };
  *queries = has("query");
  *documents = has("document");
  return OkStatus();
}

// PyLate's settings, which it saves without the expansion that it has by default.
Status ReadPyLate(JsonValue config, const std::string& path, MultiVector* vectors) {
  const JsonValue query = config.FindMember("query_length");
  PERUSE_RETURN_IF_ERROR(ReadCount(path, "query_length", query, &vectors->query_length));
  PERUSE_RETURN_IF_ERROR(
      ReadCount(path, "document_length", config.FindMember("document_length"), &vectors->document_length));
  if (const JsonValue own = config.FindMember("query_expansion"); own.exists()) {
    return own.IsNull() ? OkStatus() : ReadExpansion(path, own, &vectors->expansion);
  }
  bool is_marked = false;
  for (const char* name : {"query_length", "document_length", "do_query_expansion", "attend_to_expansion_tokens",
                           "attend_to_mask_tokens", "query_prefix", "document_prefix", "skiplist_words"}) {
    is_marked = is_marked || config.FindMember(name).exists();
  }
  if (!is_marked || config.FindMember("do_query_expansion").GetBool() == false) return OkStatus();
  const JsonValue attends = config.FindMember("attend_to_expansion_tokens");
  const JsonValue other = config.FindMember("attend_to_mask_tokens");
  vectors->expansion = QueryExpansion{.cuts = true,
                                      .attended = (attends.exists() ? attends : other).GetBool().value_or(false),
                                      .length = vectors->query_length.value_or(kUsualQueryLength)};
  vectors->query_length.reset();
  return OkStatus();
}

}  // namespace

Status ReadCount(const std::string& path, std::string_view name, JsonValue value, std::optional<int32_t>* count) {
  if (!value.exists() || value.IsNull()) return OkStatus();
  const std::optional<int64_t> number = value.GetInt64();
  if (!number || *number < 1 || *number > INT32_MAX) {
    return Malformed(path, "has the impossible " + std::string(name) + " " + value.ToString());
  }
  *count = static_cast<int32_t>(*number);
  return OkStatus();
}

Status ReadExpansion(const std::string& path, JsonValue value, std::optional<QueryExpansion>* expansion) {
  const auto unsupported = [&](std::string_view name, JsonValue found) {
    return Unsupported(path + ": query_expansion." + std::string(name) + " " + found.ToString() + " is not supported");
  };
  QueryExpansion read;
  std::optional<int32_t> length;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string_view name = value.MemberName(i);
    const JsonValue member = value.MemberValue(i);
    if (name == "strategy") {
      if (member.GetString() != "fixed" && member.GetString() != "min") return unsupported(name, member);
      read.cuts = member.GetString() == "fixed";
    } else if (name == "attend") {
      read.attended = member.GetBool().value_or(false);
    } else if (name == "token") {
      read.token = std::string(member.GetString().value_or(""));
    } else if (name == "length") {
      PERUSE_RETURN_IF_ERROR(ReadCount(path, "query_expansion.length", member, &length));
    } else {
      return unsupported(name, member);
    }
  }
  if (!length) return Malformed(path, "has a query_expansion without a length");
  read.length = *length;
  *expansion = std::move(read);
  return OkStatus();
}

Result<std::optional<MultiVector>> ReadMultiVector(JsonValue config, const std::string& path,
                                                   std::map<std::string, std::string>* prompts) {
  const std::optional<std::string_view> type = config.FindMember("model_type").GetString();
  if (type != "MultiVectorEncoder" && type != "ColBERT") return std::optional<MultiVector>();
  MultiVector vectors;
  for (const auto& [field, prompt] : {std::pair{"query_prefix", "query"}, {"document_prefix", "document"}}) {
    if (!config.FindMember(field).exists()) continue;
    const std::string prefix(config.FindMember(field).GetString().value_or(""));
    if (!prefix.empty()) vectors.markers.push_back(prefix);
    std::string& text = (*prompts)[prompt];
    if (!text.starts_with(prefix)) text = prefix + text;
  }
  PERUSE_RETURN_IF_ERROR(ReadPyLate(config, path, &vectors));
  if (type == "ColBERT") {
    const JsonValue words = config.FindMember("skiplist_words");
    vectors.normalizes = true;
    vectors.skipped_words = Punctuation();
    if (words.exists() && !words.IsNull()) {
      PERUSE_ASSIGN_OR_RETURN(vectors.skipped_words, ReadWords(path, "skiplist_words", words));
    }
  }
  return std::optional(std::move(vectors));
}

Status ReadMask(const ReadModelFile& read, const std::string& folder, MultiVector* vectors) {
  const std::string path = JoinPath(folder, "config.json");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  const JsonValue root = document ? document->root() : JsonValue();
  if (const JsonValue ids = root.FindMember("keep_only_token_ids"); ids.exists() && !ids.IsNull()) {
    return Unsupported(path + ": keep_only_token_ids " + ids.ToString() + " is not supported");
  }
  PERUSE_ASSIGN_OR_RETURN(vectors->skipped_words, ReadWords(path, "skiplist_words", root.FindMember("skiplist_words")));
  return ReadTasks(path, root.FindMember("skiplist_tasks"), "skiplist_tasks", &vectors->skips_queries,
                   &vectors->skips_documents);
}

Status ReadRowPooling(const ReadModelFile& read, const std::string& folder, MultiVector* vectors) {
  const std::string path = JoinPath(folder, "config.json");
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  const JsonValue root = document ? document->root() : JsonValue();
  RowPooling pooling;
  pooling.factor = root.FindMember("pool_factor").GetDouble().value_or(1);
  const int64_t kept = root.FindMember("num_protected_tokens").GetInt64().value_or(1);
  if (!(pooling.factor >= 1) || !std::isfinite(pooling.factor) || kept < 0 || kept > INT32_MAX) {
    return Malformed(path, "has an impossible pool_factor or num_protected_tokens");
  }
  pooling.protected_rows = static_cast<int32_t>(kept);
  pooling.normalizes = root.FindMember("normalize_embeddings").GetBool().value_or(false);
  PERUSE_RETURN_IF_ERROR(ReadTasks(path, root.FindMember("tasks"), "tasks", &pooling.queries, &pooling.documents));
  vectors->pooling = pooling;
  return OkStatus();
}

bool IsStanfordColbert(std::string_view config_json) {
  const Result<JsonDocument> config = JsonDocument::Parse(config_json, "config.json");
  return config.ok() && config->root().FindMember("architectures")[0].GetString() == "HF_ColBERT";
}

Result<SentenceModules> ReadStanfordModules(const ReadModelFile& read) {
  const std::string path = "artifact.metadata";
  PERUSE_ASSIGN_OR_RETURN(const std::optional<JsonDocument> document, ReadObject(read, path));
  const JsonValue root = document ? document->root() : JsonValue();
  SentenceModules modules;
  MultiVector vectors;
  for (const auto& [field, prompt, usual] :
       {std::tuple{"query_token_id", "query", "[unused0]"}, {"doc_token_id", "document", "[unused1]"}}) {
    vectors.markers.push_back(std::string(root.FindMember(field).GetString().value_or(usual)) + " ");
    modules.prompts[prompt] = vectors.markers.back();
  }
  PERUSE_RETURN_IF_ERROR(ReadCount(path, "doc_maxlen", root.FindMember("doc_maxlen"), &vectors.document_length));
  std::optional<int32_t> length = kUsualQueryLength, width = kUsualProjection;
  PERUSE_RETURN_IF_ERROR(ReadCount(path, "query_maxlen", root.FindMember("query_maxlen"), &length));
  PERUSE_RETURN_IF_ERROR(ReadCount(path, "dim", root.FindMember("dim"), &width));
  vectors.expansion = QueryExpansion{
      .cuts = true, .attended = root.FindMember("attend_to_mask_tokens").GetBool().value_or(false), .length = *length};
  if (root.FindMember("mask_punctuation").GetBool().value_or(true)) vectors.skipped_words = Punctuation();
  vectors.projection = *width;
  modules.multi_vector = std::move(vectors);
  modules.steps.push_back({});  // normalises each row
  modules.similarity = "maxsim";
  return modules;
}

}  // namespace peruse
