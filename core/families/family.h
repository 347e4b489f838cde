// A family of models: what its config.json says beyond the common fields, its encoder as a program, and how its checkpoints
// name heads. One file and one row of the table in families.cc each; nothing outside this folder asks which family it has.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/families/config.h"
#include "core/heads/entities.h"
#include "core/heads/heads.h"
#include "core/heads/label_scores.h"
#include "core/program/build.h"

namespace peruse {

class Family {
 public:
  virtual ~Family() = default;

  virtual ConfigDefaults defaults() const { return {}; }
  virtual ConfigFields fields() const { return {}; }
  // Reads the fields that only this family has, and may correct what the common ones say. Errors go to the reader.
  virtual void Read(ConfigReader& reader, ModelConfig& config) = 0;

  // What may stand before the names of encoder tensors, such as "convbert."; the first that a checkpoint uses.
  virtual std::vector<std::string> prefixes() const = 0;
  // Embeddings and encoder: returns the last hidden state [tokens, hidden_size], and declares the outputs of the layers (OutputKind).
  virtual Value Encode(Build& b, const ModelConfig& config) const = 0;
  // The same with the last layer as the decoder of pre-training (DeBERTa's enhanced mask decoder).
  virtual Result<Value> EncodeForMaskDecoder(Build& b, ModelConfig& config) const {
    (void)b, (void)config;
    return InvalidArgument("the enhanced mask decoder belongs to DeBERTa's masked-LM head");
  }

  // Whether transformers has the pooler of the sequence classifier within the encoder, under its prefix (BertModel).
  virtual bool PoolerIsOfEncoder() const { return false; }

  // How a discriminator of the family is pre-trained with a generator (replaced-token detection).
  struct Pretraining {
    // DeBERTa v3's gradient-disentangled sharing of embeddings, with the recipe of its paper; else ELECTRA's.
    bool disentangled = false;
    // A new generator has a quarter of the width, as ELECTRA's; else half of the layers.
    bool narrow_generator = false;
    // What transformers calls a class with the discriminator.
    std::string_view discriminator_class = "Model";
  };
  virtual Pretraining pretraining() const { return {}; }

  // Whether the table of positions stays as it is while the model is trained (DistilBERT's sine curves).
  virtual bool PositionsAreFixed() const { return false; }

  // ---- Heads. Not there: the family has none of the kind. -----------------------------------------------------------

  // `labels`: left to the caller.
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
  // In place of the sequence classifier.
  virtual std::optional<LabelHead> LabelScores() const { return std::nullopt; }
};

// A family with what its config.json says.
struct ConfiguredFamily {
  std::unique_ptr<Family> family;
  ModelConfig config;
};

// Reads config.json. Errors: kMalformedFile (bad JSON, a field of the wrong type or out of range), kUnsupported
// (an architecture or option that Peruse lacks, by name).
Result<ConfiguredFamily> ReadFamily(std::string_view config_json);
// The same of an object within it.
Result<ConfiguredFamily> ReadFamily(JsonValue config, std::string_view default_model_type = "");

}  // namespace peruse
