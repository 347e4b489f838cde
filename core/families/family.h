// A family of models: its own config.json fields, its encoder as a program, and its checkpoints' names of heads. Each family has a file and
// a row of the table in families.cc; code outside this folder does not depend on the family.
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
  // Reads the fields that only this family has, and may correct common ones. The reader keeps errors.
  virtual void Read(ConfigReader& reader, ModelConfig& config) = 0;

  // Possible prefixes of encoder tensors, such as "convbert."; the first one that a checkpoint uses counts.
  virtual std::vector<std::string> prefixes() const = 0;
  // Embeddings and encoder: returns the last hidden state [tokens, hidden_size], and declares the layers' outputs (OutputKind).
  virtual Value Encode(Build& b, const ModelConfig& config) const = 0;
  // The same, with DeBERTa's enhanced mask decoder as the last layer.
  virtual Result<Value> EncodeForMaskDecoder(Build& b, ModelConfig& config) const {
    (void)b, (void)config;
    return InvalidArgument("the enhanced mask decoder belongs to DeBERTa's masked-LM head");
  }

  // Whether transformers' encoder contains the sequence classifier's pooler, under its prefix (BertModel).
  virtual bool PoolerIsOfEncoder() const { return false; }

  // Recipe to pre-train the family's discriminator with a generator (replaced-token detection).
  struct Pretraining {
    // Gradient-disentangled embedding sharing with the recipe of DeBERTa v3, otherwise ELECTRA's.
    bool disentangled = false;
    // A new generator has a quarter of the width, as in ELECTRA, otherwise half of the layers.
    bool narrow_generator = false;
    std::string_view discriminator_class = "Model";
  };
  virtual Pretraining pretraining() const { return {}; }

  // Whether the position table is not trained (DistilBERT's sine curves).
  virtual bool PositionsAreFixed() const { return false; }

  // ---- Heads, nullopt if the family lacks them --------------------------------------------------------------------------

  // The caller sets `labels`.
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
  // Replaces the sequence classifier.
  virtual std::optional<LabelHead> LabelScores() const { return std::nullopt; }
};

// A family and its parsed config.json.
struct ConfiguredFamily {
  std::unique_ptr<Family> family;
  ModelConfig config;
};

// Parses config.json. Errors: kMalformedFile (bad JSON, a field of the wrong type or out of range), kUnsupported (an architecture or option
// that Peruse lacks, by name).
Result<ConfiguredFamily> ReadFamily(std::string_view config_json);
// The same for a nested object.
Result<ConfiguredFamily> ReadFamily(JsonValue config, std::string_view default_model_type = "");

}  // namespace peruse
