#include "core/api/ranking_reader.h"

#include <utility>

#include "core/api/module_list.h"
#include "core/api/sentence_modules_reader.h"
#include "core/base/json.h"

namespace peruse {
namespace {

using Part = PairTemplate::Part;

constexpr std::pair<std::string_view, Part::Kind> kRoles[] = {
    {"system", Part::Kind::kPrompt}, {"query", Part::Kind::kQuery}, {"document", Part::Kind::kDocument}};

Result<std::vector<Part>> ReadParts(JsonValue list) {
  std::vector<Part> parts;
  for (const JsonValue entry : list) {
    Part& part = parts.emplace_back();
    if (const std::optional<std::string_view> text = entry.GetString()) part.text = *text;
    for (const auto& [role, kind] : kRoles) {
      if (entry.FindMember("role").GetString() == role) part.kind = kind;
    }
    if (part.kind == Part::Kind::kText && !entry.IsString()) {
      return MalformedFile(std::string(kPairTemplateFile) + ": a part is neither a text nor a role");
    }
  }
  return parts;
}

Result<std::optional<PairTemplate>> ReadTemplate(const ReadModelFile& read) {
  const std::optional<std::string_view> text = read(std::string(kPairTemplateFile));
  if (!text) return std::optional<PairTemplate>();
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(*text, kPairTemplateFile));
  PairTemplate result;
  PERUSE_ASSIGN_OR_RETURN(result.plain, ReadParts(document.root().FindMember("plain")));
  PERUSE_ASSIGN_OR_RETURN(result.prompted, ReadParts(document.root().FindMember("prompted")));
  return std::optional(std::move(result));
}

bool IsLanguageModel(std::string_view config_json) {
  const Result<JsonDocument> config = JsonDocument::Parse(config_json, "config.json");
  return config.ok() && config->root().FindMember("architectures")[0].GetString().value_or("").ends_with("ForCausalLM");
}

}  // namespace

Result<RankingSettings> ReadRankingFiles(const ReadModelFile& read, std::string_view config_json,
                                         const text::Tokenizer* tokenizer) {
  RankingSettings settings;
  PERUSE_ASSIGN_OR_RETURN(settings.modules, ReadRankingSettings(read));
  std::optional<LogitScore>& score = settings.modules.logit_score;
  if (!read(std::string(kModules)) && tokenizer != nullptr && IsLanguageModel(config_json)) {
    const std::optional<int32_t> yes = tokenizer->TokenToId("yes"), no = tokenizer->TokenToId("no");
    if (!yes || !no) {
      return Unsupported(
          "a causal language model ranks by a LogitScore module, which modules.json must name, or by its "
          "tokens \"yes\" and \"no\", which its tokenizer lacks");
    }
    score = LogitScore{*yes, no};
  }
  if (!score || settings.modules.reads_messages == false) return settings;
  PERUSE_ASSIGN_OR_RETURN(settings.pair_template, ReadTemplate(read));
  if (settings.modules.reads_messages && !settings.pair_template) {
    return Unsupported("the model reads pairs through a chat template, and the folder lacks chat_template.jinja");
  }
  return settings;
}

}  // namespace peruse
