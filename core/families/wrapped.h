// A family whose checkpoints hold the encoder of another one, and a head of their own on it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/families/family.h"

namespace peruse {

class WrappedEncoder : public Family {
 public:
  // `prefix`: stands before the encoder's names.
  WrappedEncoder(ConfiguredFamily encoder, std::string prefix)
      : encoder_(std::move(encoder)), prefix_(std::move(prefix)) {}

  void Read(ConfigReader&, ModelConfig&) override {}
  std::vector<std::string> prefixes() const override { return {prefix_}; }
  Value Encode(Build& b, const ModelConfig& config) const override { return encoder_.family->Encode(b, config); }
  // Of use to nobody: the head is another one.
  PooledHead SequenceClassifier(const ModelConfig& config) const override {
    return encoder_.family->SequenceClassifier(config);
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return encoder_.family->MaskedLm(config); }

 private:
  ConfiguredFamily encoder_;
  const std::string prefix_;
};

// What stands in a second encoder's configuration of the texts that it takes; `width`: of the vectors that are made of them.
inline LabelEncoder LimitsOf(const ModelConfig& config, int32_t width) {
  return {config.vocab_size, config.type_vocab_size, config.max_tokens, width};
}

// Refuses a field that asks for what Peruse does not have; `has`: whether it does.
inline void RefuseIf(ConfigReader& reader, bool has, std::string_view what) {
  if (has) reader.Fail(Unsupported("config.json: " + std::string(what) + " is not supported"));
}

}  // namespace peruse
