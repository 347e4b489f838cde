// Replaced-token detection: which tokens of a text were replaced, by the discriminator of ELECTRA or DeBERTa v3.
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
  float score;  // probability that it was replaced
  bool replaced;
  int32_t index;  // of the token
  TextSpan span;
};

// For each input its tokens, special ones left out.
class ReplacedTokenDetection : public TaskOf<ReplacedTokenRequest, std::vector<TokenReplacement>> {
 public:
  static constexpr Head kHead = Head::kReplacedTokenDetection;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;
};

}  // namespace peruse
