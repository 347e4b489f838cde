#include "core/text/models/word_level.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {

WordLevel::WordLevel(Vocabulary vocabulary, std::string unk_token)
    : vocabulary_(std::move(vocabulary)), unk_token_(std::move(unk_token)), unk_id_(vocabulary_.Find(unk_token_)) {}

Status WordLevel::Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const {
  int32_t id = vocabulary_.Find(word);
  if (id < 0) id = unk_id_;
  if (id < 0) {
    return MalformedFile("WordLevel: the vocabulary lacks the unknown token \"" + Excerpt(unk_token_) + "\"");
  }
  if (TryPushBack(tokens, {id, 0, static_cast<uint32_t>(word.size())})) return OkStatus();
  return OutOfMemory("no memory for the tokens of WordLevel");
}

}  // namespace peruse::text
