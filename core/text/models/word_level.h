#pragma once

#include <string>

#include "core/text/models/model.h"

namespace peruse::text {

class WordLevel final : public Model {
 public:
  WordLevel(Vocabulary vocabulary, std::string unk_token);

  Status Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const override;
  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
  std::string unk_token_;
  int32_t unk_id_;
};

}  // namespace peruse::text
