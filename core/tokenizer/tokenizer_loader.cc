#include "core/tokenizer/tokenizer_loader.h"

#include <algorithm>

#include "core/base/memory.h"
#include "core/tokenizer/byte_level_files.h"
#include "core/tokenizer/sentencepiece_files.h"
#include "core/tokenizer/special_tokens.h"
#include "core/tokenizer/tokenizer_config.h"
#include "core/tokenizer/tokenizer_json.h"
#include "core/tokenizer/tokenizer_parts.h"
#include "core/tokenizer/wordpiece_files.h"

namespace peruse {
namespace {

std::optional<std::string_view> FindFile(const TokenizerFiles& files, std::string_view name) {
  const auto file = files.find(name);
  return file == files.end() ? std::nullopt : std::optional<std::string_view>(file->second);
}

// Of the formats that are no JSON: an entry is a line, or begins with a line feed (its tag in a protobuf).
size_t EntryBytesBound(const TokenizerFiles& files) {
  size_t entries = 1, bytes = 0;
  for (const auto& [name, contents] : files) {
    entries += static_cast<size_t>(std::count(contents.begin(), contents.end(), '\n'));
    bytes += contents.size();
  }
  // Two lists that grow by copying, with a view and a number or two each; and a charsmap, twice.
  return SaturatingAdd(SaturatingMultiply(entries, 2 * 3 * 2 * sizeof(std::string_view)), 3 * bytes);
}

Status ReadFiles(const TokenizerFiles& files, const TokenizerConfig& config, Tokenizer::Parts* parts) {
  if (const auto json = FindFile(files, "tokenizer.json")) return ReadTokenizerJson(*json, config, parts);
  PERUSE_RETURN_IF_ERROR(EnsureMemory(EntryBytesBound(files), "a vocabulary"));
  if (const auto text = FindFile(files, "vocab.txt")) return ReadWordPieceFiles(*text, config, parts);
  if (const auto model = FindFile(files, "spm.model")) return ReadSentencePieceFiles(*model, config, parts);
  const auto vocabulary = FindFile(files, "vocab.json"), merges = FindFile(files, "merges.txt");
  if (vocabulary && merges) return ReadByteLevelFiles(*vocabulary, *merges, config, parts);
  return Status(StatusCode::kNotFound,
                "no tokenizer: tokenizer.json, vocab.txt, vocab.json with merges.txt, or spm.model is needed");
}

// Every special token that will be added must exist, so that no id leaves the vocabulary.
Status CheckTemplate(const std::vector<TemplatePart>& parts, const Tokenizer& tokenizer) {
  for (const TemplatePart& part : parts) {
    for (const int32_t id : part.ids) {
      if (tokenizer.IdToToken(id).ok()) continue;
      return MalformedFile("tokenizer: the post-processor adds id " + std::to_string(id) + ", which no token has");
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> TokenizerLoader::Load(const TokenizerFiles& files) {
  PERUSE_ASSIGN_OR_RETURN(const TokenizerConfig config, ReadTokenizerConfig(files));
  auto parts = std::make_unique<Tokenizer::Parts>();
  PERUSE_RETURN_IF_ERROR(ReadFiles(files, config, parts.get()));
  FindSpecialIds(config, parts.get());
  parts->model_max_length = config.model_max_length;
  parts->truncation_side = config.truncation_side;
  parts->clean_up_spaces = config.clean_up_spaces;
  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer(std::move(parts)));
  PERUSE_RETURN_IF_ERROR(CheckTemplate(tokenizer->parts_->post_processor.single, *tokenizer));
  PERUSE_RETURN_IF_ERROR(CheckTemplate(tokenizer->parts_->post_processor.pair, *tokenizer));
  return tokenizer;
}

}  // namespace peruse
