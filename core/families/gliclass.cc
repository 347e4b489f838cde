// GLiClass (Stepanov et al., 2025): labels for a text, all of them read at once. Reference class: GLiClassUniEncoder.
#include "core/families/wrapped.h"

namespace peruse {
namespace {

class GliClass : public WrappedEncoder {
 public:
  GliClass(ConfiguredFamily encoder, const LabelHead& head)
      : WrappedEncoder(std::move(encoder), "model.encoder_model."), head_(head) {}
  std::optional<LabelHead> LabelScores() const override { return head_; }

 private:
  const LabelHead head_;
};

// Variants of the reference that are other models.
void RefuseOthers(ConfigReader& reader) {
  const std::string architecture = reader.String("architecture_type", "uni-encoder");
  RefuseIf(reader, architecture != "uni-encoder", "architecture_type \"" + architecture + "\"");
  for (const std::string_view field :
       {"squeeze_layers", "layer_wise", "use_lstm", "use_segment_embeddings", "normalize_features", "use_calibrator"}) {
    RefuseIf(reader, reader.Bool(field, false), "a GLiClass with " + std::string(field));
  }
  for (const std::string_view field : {"pooling_strategy", "class_token_pooling"}) {
    const std::string pooling = reader.String(field, "first");
    RefuseIf(reader, pooling != "first", std::string(field) + " \"" + pooling + "\"");
  }
  RefuseIf(reader, reader.Int("encoder_layer_id", -1, -kMaxLayers, kMaxLayers) != -1,
           "an encoder_layer_id other than -1");
}

LabelHead ReadHead(ConfigReader& reader) {
  LabelHead head;
  const std::string scorer = reader.String("scorer_type", "simple");
  if (scorer == "weighted-dot")
    head.scorer = LabelHead::Scorer::kWeightedDot;
  else if (scorer == "mlp")
    head.scorer = LabelHead::Scorer::kMlp;
  else
    RefuseIf(reader, scorer != "simple", "scorer_type \"" + scorer + "\"");
  head.activation = reader.ActivationOf("projector_hidden_act", Activation::kGelu);
  return head;
}

}  // namespace

Result<ConfiguredFamily> ReadGliClass(ConfigReader& reader) {
  RefuseOthers(reader);
  LabelHead head = ReadHead(reader);
  LabelPrompt prompt;
  prompt.marker = "<<LABEL>>";
  prompt.separator = "<<SEP>>";
  prompt.embed_marker = reader.Bool("embed_class_token", true);
  prompt.labels_first = reader.Bool("prompt_first", false);
  prompt.from_separator = reader.Bool("extract_text_features", false);
  PERUSE_RETURN_IF_ERROR(reader.status());
  const JsonValue encoder_config = reader.Field("encoder_config");
  if (!encoder_config.IsObject()) return MalformedFile("config.json: a GLiClass without encoder_config");
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily encoder, ReadFamily(encoder_config, "deberta-v2"));
  ModelConfig config = encoder.config;
  config.architecture_class = "GLiClassModel";
  config.vocab_size = reader.Int("vocab_size", config.vocab_size, 1, kMaxVocabulary);
  head.inner = reader.Int("hidden_size", config.hidden_size, 1, kMaxHidden);
  prompt.marker_id = reader.Int("class_token_index", config.vocab_size, 0, kMaxVocabulary);
  prompt.separator_id = reader.Int("text_token_index", config.vocab_size + 1, 0, kMaxVocabulary);
  config.prompt = prompt;
  PERUSE_RETURN_IF_ERROR(reader.status());
  return ConfiguredFamily{std::make_unique<GliClass>(std::move(encoder), head), std::move(config)};
}

}  // namespace peruse
