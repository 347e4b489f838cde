// A family whose checkpoints contain the encoder of another family, and a head of their own.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/families/family.h"

namespace peruse {

class WrappedEncoder : public Family {
 public:
  WrappedEncoder(ConfiguredFamily encoder, std::string prefix)
      : encoder_(std::move(encoder)), prefix_(std::move(prefix)) {}

  void Read(ConfigReader&, ModelConfig&) override {}
  std::vector<std::string> prefixes() const override { return {prefix_}; }
  Value Encode(Build& b, const ModelConfig& config) const override { return encoder_.family->Encode(b, config); }
  // Not used: these families have their own heads.
  PooledHead SequenceClassifier(const ModelConfig& config) const override {
    return encoder_.family->SequenceClassifier(config);
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return encoder_.family->MaskedLm(config); }

 private:
  ConfiguredFamily encoder_;
  const std::string prefix_;
};

// Returns the input limits of a second encoder. `width` is the size of its vectors.
inline LabelEncoder LimitsOf(const ModelConfig& config, int32_t width) {
  return {.vocab_size = config.vocab_size,
          .type_vocab_size = config.type_vocab_size,
          .max_tokens = config.max_tokens,
          .width = width};
}

inline void RefuseIf(ConfigReader& reader, bool has, std::string_view what) {
  if (has) reader.Fail(Unsupported("config.json: " + std::string(what) + " is not supported"));
}

}  // namespace peruse
