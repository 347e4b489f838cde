// A family of models: its fields of config.json, its encoder as a program, and the tensor names of its heads. Each family has a file and a
// row of the table in families.cc. Code outside this folder does not depend on the family.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/families/config.h"
#include "core/heads/entities.h"
#include "core/heads/extraction.h"
#include "core/heads/heads.h"
#include "core/heads/label_scores.h"
#include "core/program/build.h"

namespace peruse {

class Family {
 public:
  virtual ~Family() = default;

  virtual ConfigDefaults defaults() const { return {}; }
  virtual ConfigFields fields() const { return {}; }
  // Reads the fields that only this family has, and may correct common ones. Errors stay in the reader.
  virtual void Read(ConfigReader& reader, ModelConfig& config) = 0;

  // Possible prefixes of encoder tensors, such as "convbert."; the first prefix that a checkpoint uses counts.
  virtual std::vector<std::string> prefixes() const = 0;
  // Builds embeddings and encoder. Returns the last hidden state [tokens, hidden_size], and declares the layers' outputs (OutputKind).
  virtual Value Encode(Build& b, const ModelConfig& config) const = 0;
  // Encode with DeBERTa's enhanced mask decoder as the last layer.
  virtual Result<Value> EncodeForMaskDecoder(Build& b, ModelConfig& config) const {
    (void)b, (void)config;
    return InvalidArgument("the enhanced mask decoder belongs to DeBERTa's masked-LM head");
  }

  // Whether the family's models are causal language models, of which only those that were trained to embed or to classify are supported.
  virtual bool IsLanguageModel() const { return false; }
  // Full name of the output matrix of the family's language model; empty if there is no language model.
  virtual std::string LanguageHead(const ModelConfig&) const { return {}; }

  // Whether the sequence classifier's pooler is part of transformers' encoder, with its prefix (BertModel).
  virtual bool PoolerIsOfEncoder() const { return false; }

  // How to pre-train the family's discriminator with a generator (replaced-token detection).
  struct Pretraining {
    // Uses gradient-disentangled embedding sharing and DeBERTa v3's recipe, otherwise ELECTRA's.
    bool disentangled = false;
    // Whether a new generator has a quarter of the width, as in ELECTRA; otherwise it has half of the layers.
    bool narrow_generator = false;
    std::string_view discriminator_class = "Model";
  };
  virtual Pretraining pretraining() const { return {}; }

  // Whether the position table is not trained (DistilBERT's sine curves).
  virtual bool PositionsAreFixed() const { return false; }

  // Heads of the family; nullopt if it does not have the head.

  // The result's `labels` are set by the caller.
  virtual PooledHead SequenceClassifier(const ModelConfig& config) const = 0;
  virtual TokenHead TokenClassifier(const ModelConfig& config) const {
    return {"classifier", config.num_labels(), /*drops_rows=*/true};
  }
  virtual TokenHead SpanClassifier(const ModelConfig&) const { return {"qa_outputs", 2}; }
  virtual MaskedLmHead MaskedLm(const ModelConfig& config) const = 0;
  virtual Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig& config) const {
    return std::optional(SequenceClassifier(config));
  }
  virtual std::optional<DiscriminatorHead> Discriminator(const ModelConfig&) const { return std::nullopt; }
  virtual std::optional<EntityHead> Entities() const { return std::nullopt; }
  // If present, this head replaces those for entities and for sequence classification.
  virtual std::optional<ExtractionHead> Extraction() const { return std::nullopt; }
  // If present, this head replaces the sequence classifier.
  virtual std::optional<LabelHead> LabelScores() const { return std::nullopt; }
};

struct ConfiguredFamily {
  std::unique_ptr<Family> family;
  ModelConfig config;
};

// Parses config.json. Errors: kMalformedFile (bad JSON, wrong type, out of range), kUnsupported (names the architecture or option).
Result<ConfiguredFamily> ReadFamily(std::string_view config_json);
Result<ConfiguredFamily> ReadFamily(JsonValue config, std::string_view default_model_type = "");

}  // namespace peruse
