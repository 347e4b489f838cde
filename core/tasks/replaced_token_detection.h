#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

struct ReplacedTokenRequest {
  std::vector<std::string> inputs;
};

struct TokenReplacement {
  std::string word;
  float score;  // probability that the token was replaced
  bool replaced;
  int32_t index;
  TextSpan span;
};

// Finds replaced tokens with the discriminator of ELECTRA or DeBERTa v3. Returns the tokens of each input, without special tokens.
class ReplacedTokenDetection : public TaskOf<ReplacedTokenRequest, std::vector<TokenReplacement>> {
 public:
  static constexpr Head kHead = Head::kReplacedTokenDetection;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;
};

}  // namespace peruse
